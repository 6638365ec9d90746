package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"onedoor/sim/core"
)

// format is the version of the file; a file of another one is refused.
const format = 1

// file is one state on disk.
type file struct {
	path string

	mu    sync.Mutex
	saved int // the generation on disk
	// encoded keeps the line of each *core.Resource and *core.Object, because
	// they never change.
	encoded map[any][]byte
	buffer  bytes.Buffer // used again for each write
}

// header is everything but the resources; its fields come first in the file.
type header struct {
	Format     int                        `json:"format"`
	Now        time.Duration              `json:"now"`
	Seq        int                        `json:"seq"`
	Events     []core.Event               `json:"events,omitempty"`
	Operations map[string]*core.Operation `json:"operations,omitempty"`
	Births     map[string]int             `json:"births,omitempty"`
}

type contents struct {
	header
	Resources   map[string]*core.Resource `json:"resources"`
	SoftDeleted map[string]*core.Resource `json:"softDeleted"`
	Objects     map[string]*core.Object   `json:"objects"`
}

// load reads the file; found is false if there is none. What a process that was
// killed while it wrote has left behind is removed: one process at a time works
// on a stack, the engine's own lock sees to that.
func (f *file) load() (state core.State, found bool, err error) {
	if stale, err := filepath.Glob(f.path + ".*.tmp"); err == nil {
		for _, temp := range stale {
			_ = os.Remove(temp)
		}
	}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, false, nil
	}
	if err != nil {
		return state, false, fmt.Errorf("simulator state: %w", err)
	}
	var in contents
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return state, false, fmt.Errorf("simulator state %q: got a file that is no state (%w), want what the simulator wrote; fix: restore it, or delete it to begin with an empty cloud", f.path, err)
	}
	if in.Format != format {
		return state, false, fmt.Errorf("simulator state %q: got format %d, want %d; fix: use the program that wrote it, or delete it to begin with an empty cloud", f.path, in.Format, format)
	}
	state = core.New()
	state.Now, state.Seq, state.Events = in.Now, in.Seq, in.Events
	maps.Copy(state.Resources, in.Resources)
	maps.Copy(state.SoftDeleted, in.SoftDeleted)
	maps.Copy(state.Operations, in.Operations)
	maps.Copy(state.Births, in.Births)
	maps.Copy(state.Objects, in.Objects)
	return state, true, nil
}

// store writes the state so that a reader, or a process started after this one
// was killed, finds the old or the new one whole: a temporary file in the same
// folder, synced, then renamed over the old one.
func (f *file) store(state core.State) error {
	if f.path == "" {
		return nil
	}
	data, err := f.encode(state)
	if err != nil {
		return fmt.Errorf("simulator state: %w", err)
	}
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("simulator state: %w", err)
	}
	temp, err := os.CreateTemp(folder, filepath.Base(f.path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("simulator state: %w", err)
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return fmt.Errorf("simulator state: %w", err)
	}
	return nil
}

// encode writes one line for each resource and object, sorted by key, so that
// equal states are equal bytes and a change is a small diff.
func (f *file) encode(state core.State) ([]byte, error) {
	head, err := json.Marshal(header{format, state.Now, state.Seq, state.Events, state.Operations, state.Births})
	if err != nil {
		return nil, err
	}
	f.buffer.Reset()
	f.buffer.Write(head[:len(head)-1])
	fresh := make(map[any][]byte, len(state.Resources))
	if err := encodePart(f, fresh, "resources", state.Resources); err != nil {
		return nil, err
	}
	if err := encodePart(f, fresh, "softDeleted", state.SoftDeleted); err != nil {
		return nil, err
	}
	if err := encodePart(f, fresh, "objects", state.Objects); err != nil {
		return nil, err
	}
	f.buffer.WriteString("}\n")
	f.encoded = fresh
	return f.buffer.Bytes(), nil
}

func encodePart[V any](f *file, fresh map[any][]byte, name string, part map[string]*V) error {
	fmt.Fprintf(&f.buffer, ",\n%q:{", name)
	for i, key := range slices.Sorted(maps.Keys(part)) {
		v := part[key]
		line, ok := f.encoded[v]
		if !ok {
			var err error
			if line, err = encodeOne(key, v); err != nil {
				return err
			}
		}
		fresh[v] = line
		if i > 0 {
			f.buffer.WriteByte(',')
		}
		f.buffer.Write(line)
	}
	f.buffer.WriteByte('}')
	return nil
}

func encodeOne(key string, v any) ([]byte, error) {
	name, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(v)
	return slices.Concat([]byte("\n"), name, []byte(":"), body), err
}
