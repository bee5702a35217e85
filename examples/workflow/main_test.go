package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/page/pagetest"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// TestMain makes the test binary be the command too: the tests start it as a user
// does, and the stage starts it as a server.
func TestMain(m *testing.M) {
	if stagetest.IsCommand() || stage.Role() != "" {
		profiles = append(profiles, profile{name: "two sizes", jobs: []int{50, 200}, children: 20},
			profile{name: "long", jobs: []int{2000, 20_000}, children: 20}) // to be interrupted
		main()
		return
	}
	// Under -race a process sleeps for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// TestNineRows plays the small run and wants all numbers of all benchmarks, in the
// report and in the tables.
func TestNineRows(t *testing.T) {
	table, whole := pagetest.Play(t, command(), "smoke")
	for _, variant := range []string{reread, index} {
		server := whole.Part(variant).Part(page.PartServer)
		for _, r := range rows {
			for _, d := range []*probe.Desc{descWall, descRate, descOperations} {
				if v := page.Sum(server, d.Name, probe.Attr{Key: attrRow, Value: r.name}); v <= 0 {
					t.Errorf("%s, %s: got %s %v, want more than 0", variant, r.name, d.Name, v)
				}
			}
			if !strings.Contains(table, r.name) || !strings.Contains(table, r.noun) {
				t.Errorf("no %s in %s in the table", r.name, r.noun)
			}
		}
		for _, d := range []*probe.Desc{descHeap, descAlloc, descGap} {
			if v := page.Sum(server, d.Name); v <= 0 {
				t.Errorf("%s: got %s %v, want more than 0", variant, d.Name, v)
			}
		}
		load := whole.Part(variant).Part(page.PartLoad)
		if done, failed := page.Sum(load, page.MetricDone), page.Sum(load, page.MetricFailures); done != float64(len(rows)) || failed != 0 {
			t.Errorf("%s: got %v done and %v failed, want %d and 0", variant, done, failed, len(rows))
		}
	}
}

// TestTwoSizes wants the ratio of two sizes, and what is said of it.
func TestTwoSizes(t *testing.T) {
	c := stagetest.New(t, "-profile", "two sizes", "-variant", index, "-md")
	c.Start(t)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 50 jobs", "| 200 jobs", "× ", "Benchmarks, 50 jobs", "Benchmarks, 200 jobs", "times the wall time for 200 as for 50 jobs: "} {
		if !strings.Contains(c.Stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, c.Stdout.String())
		}
	}
}

// TestOpsPerJob wants each benchmark's file operations to be as many for each job
// with 500 jobs as with 2,000. The folders between are listed besides.
func TestOpsPerJob(t *testing.T) {
	const small, large = 500, 2000
	for variant, want := range map[string]map[string]float64{
		reread: {
			"streamed submission":      6, // payload and marker opened and written, the marker renamed, a line of the journal
			"cold scheduling tick":     5, // its folder opened and listed, its payload opened and read to its end
			"warm scheduling tick":     5,
			"time to first claim":      5,
			"memory per active marker": 5,
			"heartbeat under scan":     7, // and a heartbeat
			"harvest throughput":       5,
			"fsck":                     8,
		},
		index: {"cold scheduling tick": 5, "warm scheduling tick": 2},
	} {
		few, many := operations(t, variant, small, want), operations(t, variant, large, want)
		for name, want := range want {
			if got := (many[name] - few[name]) / (large - small); got != want {
				t.Errorf("%s, %s: got %v file operations for each further job, want %v", variant, name, got, want)
			}
		}
	}
}

// operations are the file operations of some benchmarks and of those that must come
// before them, without the two for each folder of folders.
func operations(t *testing.T, variant string, jobs int, of map[string]float64) map[string]float64 {
	t.Helper()
	b := newBench(tempDir(t), variant == reread, 10)
	b.every = -1 // or it depends on how long a tick takes
	defer b.close()
	w, err := b.core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if _, counted := of[r.name]; i > 0 && !counted {
			continue
		}
		if r.name == "memory per active marker" {
			r.run = (*bench).index // to measure the memory takes a second more
		}
		err := b.do(func() error {
			if i == 0 {
				if err := b.begin(jobs); err != nil {
					return err
				}
			}
			b.row, b.number = r, i+1
			return r.run(b)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	folders := map[string]bool{jobsName: true}
	for i := range jobs {
		for dir := placement(i); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	counted := map[string]float64{}
	for m := range w.Close().Find(descOperations.Name) {
		name := m.Attr(attrRow)
		counted[name] = m.Value*float64(jobs) - 2*float64(len(folders))
		if name == "streamed submission" || name == "heartbeat under scan" {
			counted[name] = m.Value * float64(jobs) // they list none, and as many
		}
	}
	return counted
}

// TestMemoryPerItem wants the memory of a marker to be of its order, and to repeat.
func TestMemoryPerItem(t *testing.T) {
	const jobs = 2000
	ws := filled(t, jobs)
	var got []float64
	for range 2 {
		r := testing.Benchmark(func(b *testing.B) {
			probetest.PerItem(b, jobs, func() any {
				m := NewManager(ws, "a")
				if _, err := m.Tick(); err != nil {
					b.Error(err)
				}
				return m
			})
		})
		got = append(got, r.Extra["heap-bytes/item"])
	}
	if a, b := got[0], got[1]; a < 64 || a > 1024 || b < 0.95*a || b > 1.05*a {
		t.Errorf("got %v bytes for each marker, want 64 to 1024, 5 %% apart at most", got)
	}
}

// TestAsked asks a manager between benchmarks.
func TestAsked(t *testing.T) {
	b := newBench(tempDir(t), false, 2)
	defer b.close()
	s := httptest.NewServer(handler(b))
	defer s.Close()
	ask := func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/readyz", "", 200, `"ready"`},
		{"GET", "/status", "", 200, `{}`},
		{"POST", "/jobs", `{"id":"x"}`, 500, "no workspace"},
		{"POST", "/workspaces/5/benchmarks/none", "", 500, "no such benchmark"},
		{"POST", "/workspaces/5/benchmarks/fsck", "", 500, "has 0 jobs"},
		{"POST", "/workspaces/5/benchmarks/streamed%20submission", "", 200, `"done"`},
		{"POST", "/workspaces/5/benchmarks/cold%20scheduling%20tick", "", 200, `"done"`},
		{"GET", "/status", "", 200, `{"ready":5}`},
		{"POST", "/jobs", `{"id":"x"}`, 200, `"x"`},
		{"POST", "/jobs", `{"id":"../x"}`, 500, "not the name of a folder"},
		{"POST", "/jobs", `{`, 500, "unexpected EOF"},
		{"POST", "/workspaces/5/benchmarks/warm%20scheduling%20tick", "", 500, "got 6, want 5"},
		{"GET", "/status", "", 200, `{"ready":6}`},
	} {
		if status, got := ask(tt.method, tt.path, tt.body); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: got %d %q, want %d %q", tt.method, tt.path, status, got, tt.status, tt.want)
		}
	}
}

// TestInterrupt interrupts the command in the middle: it still prints what it
// measured, and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	stagetest.Interrupt(t, "workflow", []string{"-profile", "long", "-variant", index}, []string{"2000 jobs", "streamed submission"})
}

// BenchmarkTick is a warm tick, with the lag of the scheduler beside it.
func BenchmarkTick(b *testing.B) {
	files := fsstat.New(fsstat.Options{})
	ws, err := OpenWorkspace(b.TempDir(), files, new(probe.Counter))
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	if err := submit(b.Context(), ws, 500, placement); err != nil {
		b.Fatal(err)
	}
	m := NewManager(ws, "a")
	tick := func() {
		if n, err := m.Tick(); n != 500 || err != nil {
			b.Fatalf("got %d ready, error %v", n, err)
		}
	}
	tick()
	probetest.Loop(b, tick, files, lag.New(lag.Options{Interval: 5 * time.Millisecond}))
}

// BenchmarkGrowth says how the cold tick grows from 625 to 10,000 jobs: its counts
// of file operations, and the share of its CPU time that grows faster than n log n.
//
//	go test -run '^$' -bench Growth ./examples/workflow
func BenchmarkGrowth(b *testing.B) {
	files := fsstat.New(fsstat.Options{})
	workspaces := map[int]*Workspace{} // a tick changes nothing in them
	probetest.Scaling{Probes: []probe.Probe{files}, Limit: time.Minute}.Check(b, func(t testing.TB, n int) (op func()) {
		ws := workspaces[n]
		if ws == nil {
			var err error
			if ws, err = OpenWorkspace(tempDir(b), files, new(probe.Counter)); err != nil {
				t.Fatal(err)
			}
			b.Cleanup(func() { _ = ws.Close() })
			if err := submit(b.Context(), ws, n, placement); err != nil {
				t.Fatal(err)
			}
			workspaces[n] = ws
		}
		m := NewManager(ws, "a")
		m.Beat = -1 // or how many there are depends on the machine
		return func() {
			if got, err := m.Tick(); got != n || err != nil {
				t.Errorf("got %d ready of %d, error %v", got, n, err)
			}
		}
	})
}
