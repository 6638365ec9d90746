package sim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"onedoor/sim"
	"onedoor/sim/core"
)

// Requests that come together overlap in virtual time; writes into one network
// take turns, and the provider waits for its turn (A016).
func TestRequestsOverlapInVirtualTime(t *testing.T) {
	t.Parallel()
	e := open(t, sim.WithQuiet(200*time.Millisecond))
	e.mustCreate(groupToken, "group", groupIn)
	e.mustCreate(vnetToken, "vnet", vnetIn)
	start := e.cloud.State().Now
	var all sync.WaitGroup
	together := func(token, name string, in m) {
		all.Go(func() {
			if _, err := e.create(token, name, props(in), false); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 3 {
		together(subnetToken, fmt.Sprint("s", i), m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": fmt.Sprint("s", i), "addressPrefix": fmt.Sprintf("10.0.%d.0/24", i)})
	}
	together(natToken, "nat", with(natIn, m{"publicIpAddresses": nil}))
	together(zoneToken, "zone", zoneIn)
	all.Wait()
	var subnets []sim.LogEntry
	for _, entry := range e.cloud.Log() {
		switch {
		case strings.Contains(entry.ID, "/subnets/"):
			subnets = append(subnets, entry)
		case strings.Contains(entry.ID, "natGateways"), strings.Contains(entry.ID, "privateDnsZones"):
			if entry.Start != start {
				t.Errorf("%s began at %s, want %s like the others", entry.ID, entry.Start, start)
			}
		}
	}
	if len(subnets) != 3 {
		t.Fatalf("log has %d subnets, want 3", len(subnets))
	}
	for i, s := range subnets[1:] {
		if s.Start < subnets[i].End {
			t.Errorf("%s began at %s, before %s ended at %s", s.ID, s.Start, subnets[i].ID, subnets[i].End)
		}
	}
	// The gateway ends at +20 s, the zone at +30 s; the subnets fit in before.
	if now := e.cloud.State().Now; now != start+30*time.Second {
		t.Errorf("the clock is at %s, want %s", now, start+30*time.Second)
	}
}

// What a Cloud has stored is there in the next one, an hour later and settled (A015).
func TestStateSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "azure.json")
	reopen := func() *sim.Cloud {
		t.Helper()
		cloud, err := sim.Open(path, sim.WithQuiet(0))
		if err != nil {
			t.Fatal(err)
		}
		return cloud
	}
	first := reopen()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an unchanged Cloud wrote a file")
	}
	e := over(t, first)
	all := e.up()
	before := e.cloud.State()
	for name, r := range all {
		all[name] = e.read(r)
	}
	// The process ends here without Close.
	second := over(t, reopen())
	after := second.cloud.State()
	if len(after.Resources) != len(before.Resources) || len(after.Operations) != 0 || after.Now < before.Now+time.Hour {
		t.Errorf("%d resources, %d operations at %s; want %d, none, an hour after %s", len(after.Resources), len(after.Operations), after.Now, len(before.Resources), before.Now)
	}
	for name, r := range all {
		if diff := r.outputs.Diff(second.read(r).outputs); diff != nil {
			t.Errorf("%s: outputs differ after reopening: %v", name, diff.ChangedKeys())
		}
	}
	if err := second.delete(all["rule"]); err != nil {
		t.Error(err)
	}
}

// A damaged file, or one of another format, is refused by its name.
func TestDamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"cut":     {`{"format":1,"now":`, "no state"},
		"empty":   {``, "no state"},
		"other":   {`{"hello":1}`, "no state"},
		"newer":   {`{"format":2}`, "format 2, want 1"},
		"nothing": {`{}`, "format 0, want 1"},
	} {
		path := filepath.Join(t.TempDir(), "azure.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Open(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q and the path", name, err, c.want)
		}
	}
}

// Equal states are equal bytes.
func TestFileIsDeterministic(t *testing.T) {
	t.Parallel()
	read := func() string {
		path := filepath.Join(t.TempDir(), "azure.json")
		cloud, err := sim.Open(path, sim.WithQuiet(0))
		if err != nil {
			t.Fatal(err)
		}
		over(t, cloud).up()
		if err := cloud.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if a, b := read(), read(); a != b {
		t.Error("two runs of the same program wrote different files")
	}
}

const victimPath = "ONEDOOR_SIM_TEST_VICTIM"

// TestVictim is no test: it is the process that TestKillLeavesOldOrNew kills.
func TestVictim(t *testing.T) { //nolint:paralleltest // runs alone, in a process of its own
	path := os.Getenv(victimPath)
	if path == "" {
		t.Skip("runs as a child only")
	}
	cloud, err := sim.Open(path, sim.WithQuiet(0))
	if err != nil {
		t.Fatal(err)
	}
	e := over(t, cloud)
	n := len(cloud.State().Resources)
	if n == 0 {
		e.mustCreate(groupToken, "group", groupIn)
		n = 1
	}
	for i := n; ; i++ { // the i-th zone
		e.mustCreate(zoneToken, "zone", with(zoneIn, m{"privateZoneName": fmt.Sprintf("z%d.internal", i)}))
		fmt.Println(i) // told only once it is on the disk
	}
}

// A process that is killed while it writes leaves the old or the new state: all
// that it had confirmed, at most one write more, and no litter for the next.
func TestKillLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "azure.json")
	last := 0
	for round := range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestVictim$")
		child.Env = append(os.Environ(), victimPath+"="+path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		confirmed := make(chan int)
		go func() {
			n := 0
			for {
				if _, err := fmt.Fscan(out, &n); err != nil {
					break
				}
				confirmed <- n
			}
			close(confirmed)
		}()
		told := 0
		for n := range confirmed {
			told = n
			if n >= last+20+round*7 {
				break
			}
		}
		time.Sleep(time.Duration(round) * 700 * time.Microsecond) // another point of the write each time
		_ = child.Process.Kill()
		for n := range confirmed {
			told = n
		}
		_ = child.Wait()
		cloud, err := sim.Open(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		zones := len(cloud.State().Resources) - 1
		if zones < told || zones > told+1 {
			t.Errorf("round %d: %d zones on the disk, %d were confirmed", round, zones, told)
		}
		last = told
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, want the state alone", files)
	}
}

// Who reads the file while it is written sees the old or the new one, never a part.
func TestReaderSeesWholeFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "azure.json")
	cloud, err := sim.Open(path, sim.WithQuiet(0))
	if err != nil {
		t.Fatal(err)
	}
	e := over(t, cloud)
	e.up()
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
				t.Errorf("read %d bytes that are no state (%v)", len(text), err)
				return
			}
		}
	})
	for i := range 100 {
		e.mustCreate(nsgToken, "n", with(nsgIn, m{"networkSecurityGroupName": fmt.Sprintf("nsg-%d", i)}))
	}
	close(done)
	reader.Wait()
}

// BenchmarkUp300 makes 300 resources one after another, each written to disk.
func BenchmarkUp300(b *testing.B) {
	for b.Loop() {
		cloud, err := sim.Open(filepath.Join(b.TempDir(), "azure.json"), sim.WithQuiet(0))
		if err != nil {
			b.Fatal(err)
		}
		e := over(b, cloud)
		e.mustCreate(groupToken, "group", groupIn)
		e.mustCreate(vnetToken, "vnet", vnetIn)
		for i := range 298 {
			e.mustCreate(nsgToken, "n", with(nsgIn, m{"networkSecurityGroupName": fmt.Sprintf("nsg-%d", i)}))
		}
		if err := cloud.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// A seed is there for all, and is not written to the file.
func TestSeed(t *testing.T) {
	t.Parallel()
	hub := "/subscriptions/" + subscription + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub"
	e := open(t, sim.WithSeed(core.Resource{ID: hub, Body: m{"location": "swedencentral", "properties": m{"addressSpace": m{"addressPrefixes": []any{"10.0.0.0/8"}}}}}))
	e.mustCreate(groupToken, "group", groupIn)
	e.mustCreate(vnetToken, "vnet", vnetIn)
	if _, err := e.create(peerToken, "peer", props(with(peerIn, m{"remoteVirtualNetwork": id(hub)})), false); err == nil || !strings.Contains(err.Error(), "VnetAddressSpacesOverlap") {
		t.Errorf("peering with a seeded network of the same space: %v", err)
	}
}
