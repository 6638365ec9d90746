package enqueue

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// types are the content types of files by the end of their names.
// docs/contracts/messages.md says what workers do with each.
var types = map[string]string{
	".json": typeJSON, ".jsonl": typeLines, ".txt": "text/plain", ".md": "text/markdown", ".pdf": "application/pdf",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4",
}

// Types of files that are requests themselves.
const typeJSON, typeLines = "application/json", "application/jsonl"

// item is a file to post.
type item struct {
	name string // the same on every run
	path string
	kind string
	size int64
}

// itemsOf are the items of files and folders, sorted by path. What begins with a dot
// is left out of folders.
func itemsOf(paths []string, instructed bool) ([]item, error) {
	var out []item
	var found []error
	bad := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	seen := map[string]string{}
	add := func(path, inside string, size int64) {
		kind, ok := types[strings.ToLower(filepath.Ext(path))]
		i := item{name: nameOf(filepath.ToSlash(inside)), path: path, kind: kind, size: size}
		switch other, twice := seen[i.name]; {
		case !ok:
			bad("%s: want a file that ends in %s", path, strings.Join(ends(), ", "))
		case twice:
			bad("%s: has the same name as %s; post one of them as another job", path, other)
		case size == 0:
			bad("%s: the file is empty", path)
		case instructed && (kind == typeJSON || kind == typeLines):
			bad("%s: is a request itself; put the instructions into it, or leave them out", path)
		}
		seen[i.name] = path
		out = append(out, i)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			bad("%w", err)
		case !info.IsDir():
			add(path, filepath.Base(path), info.Size())
		default:
			err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
				hidden := at != path && strings.HasPrefix(entry.Name(), ".")
				switch {
				case err == nil && hidden && entry.IsDir():
					return fs.SkipDir
				case err != nil || hidden || entry.IsDir():
					return err
				}
				info, err := entry.Info()
				if err != nil {
					return err
				}
				inside, err := filepath.Rel(path, at)
				if err == nil && info.Mode().IsRegular() {
					add(at, inside, info.Size())
				}
				return err
			})
			if err != nil {
				bad("%w", err)
			}
		}
	}
	if len(out) == 0 && len(found) == 0 {
		bad("%s: no file to post", strings.Join(paths, ", "))
	}
	slices.SortFunc(out, func(a, b item) int { return compare(a.path, b.path) })
	return out, errors.Join(found...)
}

func compare(a, b string) int { return cmp.Compare(a, b) }

func ends() []string {
	var out []string
	for end := range types {
		out = append(out, end)
	}
	slices.Sort(out)
	return out
}

// baseOf is the last part of a path, without its end.
func baseOf(path string) string {
	if at, err := filepath.Abs(path); err == nil {
		path = at
	}
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// What jobs and items may be called, and what is not a part of that.
var (
	legal   = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$`)
	illegal = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// nameOf is a legal name for a text: itself, or what is legal of it with a hash of
// the whole.
func nameOf(text string) string {
	if legal.MatchString(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	plain := strings.Trim(illegal.ReplaceAllString(text, "-"), "-_")
	return strings.TrimLeft(plain[:min(len(plain), 100)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// sum is a hash of all that is posted for the item.
func (i item) sum(o Options) (string, error) {
	file, err := os.Open(i.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", o.Modality, o.Alias, i.kind, o.Instructions)
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// open opens what is posted for the item: the file, or a form of instructions and the
// file.
func (i item) open(instructions string) (body io.ReadCloser, kind string, size int64, err error) {
	file, err := os.Open(i.path)
	if err != nil {
		return nil, "", 0, err
	}
	if instructions == "" {
		return file, i.kind, i.size, nil
	}
	head, tail, kind, err := form(instructions, i.kind)
	if err != nil {
		file.Close()
		return nil, "", 0, err
	}
	body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), file, bytes.NewReader(tail)), file}
	return body, kind, i.size + int64(len(head)+len(tail)), nil
}

// form is what comes before and after a file in a form. Its boundary follows from the
// instructions, so that the same is posted each time.
func form(instructions, fileKind string) (head, tail []byte, kind string, err error) {
	request, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "system", "content": instructions}}})
	if err != nil {
		return nil, nil, "", err
	}
	sum := sha256.Sum256(request)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary("onedoor-" + hex.EncodeToString(sum[:])[:40]); err != nil {
		return nil, nil, "", err
	}
	part := func(name, kind string) (io.Writer, error) {
		return w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, name, name)}, "Content-Type": {kind}})
	}
	first, err := part("request", typeJSON)
	if err != nil {
		return nil, nil, "", err
	}
	if _, err := first.Write(request); err != nil {
		return nil, nil, "", err
	}
	if _, err := part("file", fileKind); err != nil {
		return nil, nil, "", err
	}
	before := b.Len()
	if err := w.Close(); err != nil {
		return nil, nil, "", err
	}
	return b.Bytes()[:before], b.Bytes()[before:], w.FormDataContentType(), nil
}
