package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fsstattest"
	"github.com/tidestaff/tidestaff/probe"
)

// A bench is a broker on small jobs and archives, with the probes on it.
type bench struct {
	*Broker
	dir   string
	files *fsstat.Probe
	set   *probe.Set
}

func newBench(t *testing.T, variant string) *bench {
	t.Helper()
	dir := t.TempDir()
	seedJobs(t, dir)
	ops, files := new(probe.Ops), newFiles(dir)
	b, err := newBroker(OpenStore(dir, files, variant == after), ops)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{b, dir, files, probe.NewSet(ops, files)}
}

// at is where peers connect to.
func at(b *Broker) [2]string { return [2]string{b.listen.Addr().Network(), b.listen.Addr().String()} }

// peer connects one.
func (b *bench) peer(t *testing.T, name string) *client {
	t.Helper()
	c, err := connect(t.Context(), at(b.Broker), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.conn.Close() })
	return c
}

// work is what one operation did with files, by the probe's own reading.
type work struct {
	Files, Folders, Stats, Bytes int64 // files read, folders read, lstats, bytes read
	Calls                        int64 // reads within the operation, by probe.Ops
	Again, AgainBytes            int64 // files that were read again unchanged, bytes that had been read before
}

// of measures one operation.
func (b *bench) of(t *testing.T, op string, do func() error) work {
	t.Helper()
	w, err := b.set.Watch()
	if err != nil {
		t.Fatal(err)
	}
	err = do()
	r := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := fsstat.StatsOf(r)
	if !ok {
		s = fsstat.Stats{} // no role has used a file yet
	}
	got := work{Files: s.Opens - s.ReadDirs, Folders: s.ReadDirs, Stats: s.Stats, Bytes: s.BytesRead,
		Again: s.Passes.Unchanged, AgainBytes: s.Passes.Avoidable + s.Passes.AvoidableGrown}
	for m := range r.Find(metricOpReads, probe.Attr{Key: page.AttrOperation, Value: op}) {
		got.Calls += m.Dist.Sum()
	}
	return got
}

// sizeOf is the size of all files in a folder and below, or of a file.
func (b *bench) sizeOf(t *testing.T, name string) (bytes int64) {
	t.Helper()
	err := filepath.Walk(filepath.Join(b.dir, name), func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestReadsPerSend: before, every send reads the jobs and each archive; after,
// once they have been read, it asks whether they have changed.
func TestReadsPerSend(t *testing.T) {
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			b := newBench(t, variant)
			sender, sibling := b.peer(t, jobID(0)), b.peer(t, jobID(managerCount))
			const files = 1 + archiveCount
			cold := work{Files: files, Folders: 1, Stats: 1, Calls: 2 * files, Bytes: b.sizeOf(t, jobsName) + b.sizeOf(t, archiveName)}
			warm := cold
			warm.Again, warm.AgainBytes = files, cold.Bytes
			if variant == after {
				cold.Stats = 1 + files
				warm = work{Folders: 1, Stats: 1 + files}
			}
			for i, want := range []work{cold, warm, warm} {
				got := b.of(t, opSend, func() error {
					r, err := sender.ask(t.Context(), request{Op: opSend, Text: "hello"})
					if err == nil && r.Delivered != 1 {
						t.Errorf("delivered to %d, want 1", r.Delivered)
					}
					return err
				})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("send %d (-want +got):\n%s", i+1, diff)
				}
				var m reply
				if err := sibling.dec.Decode(&m); err != nil || m.Text != "hello" || m.From != jobID(0) {
					t.Errorf("got message %+v, %v, want hello", m, err)
				}
			}
		})
	}
}

// TestDashboardReads: before, every dashboard reads every log; after, once they
// have been read, those that have grown.
func TestDashboardReads(t *testing.T) {
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			b := newBench(t, variant)
			seedRuns(t, b.dir)
			dashboard := func(name string, want work) []Summary {
				t.Helper()
				var all []Summary
				got := b.of(t, opDashboard, func() (err error) {
					all, err = b.Dashboard(false)
					return err
				})
				if len(all) != runCount {
					t.Errorf("%s: got %d summaries, want %d", name, len(all), runCount)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				return all
			}
			whole := work{Files: runCount, Folders: runFolders, Stats: 1, Calls: 2 * runCount, Bytes: b.sizeOf(t, runsName)}
			first, same := whole, whole
			same.Again, same.AgainBytes = runCount, whole.Bytes
			if variant == after {
				first.Stats = 1 + runCount
				same = work{Folders: runFolders, Stats: 1 + runCount}
			}
			was := dashboard("first", first)
			if diff := cmp.Diff(was, dashboard("unchanged", same)); diff != "" {
				t.Errorf("an unchanged run's summary differs (-first +second):\n%s", diff)
			}

			path := filepath.Join(b.dir, runName(7))
			line := Line{At: epoch.UnixMilli(), State: stateDone, Done: 5, Total: 5}
			if err := appendLine(path, line); err != nil {
				t.Fatal(err)
			}
			one := same
			one.Bytes, one.Again = b.sizeOf(t, runsName), runCount-1
			if variant == after {
				grown := b.sizeOf(t, runName(7))
				appended := b.sizeOf(t, runsName) - whole.Bytes
				one = work{Files: 1, Folders: runFolders, Stats: 1 + runCount, Calls: 2, Bytes: grown, AgainBytes: grown - appended}
			}
			now := dashboard("after one append", one)
			for i := range now {
				if was[i].Run != runName(7) && now[i] != was[i] {
					t.Errorf("got %+v, want %+v", now[i], was[i])
				}
				if want := (Summary{Run: runName(7), State: stateDone, Lines: smoke.lines + 1, Started: was[i].Started, Updated: line.At, Done: 5, Total: 5}); was[i].Run == runName(7) && now[i] != want {
					t.Errorf("got %+v, want %+v", now[i], want)
				}
			}
			dashboard("unchanged again", func() work {
				if variant == before {
					same.Bytes = b.sizeOf(t, runsName)
					same.AgainBytes = same.Bytes
				}
				return same
			}())
		})
	}
}

// TestNothingAround: the counts of files are worth what they cover. Nothing that
// the broker opens goes around the probe.
func TestNothingAround(t *testing.T) {
	for _, variant := range []string{before, after} {
		b := newBench(t, variant)
		seedRuns(t, b.dir)
		c := b.peer(t, jobID(0))
		gap, err := fsstattest.Around(b.files, func() {
			for _, req := range []request{
				{Op: opSend},
				{Op: opProgress, Progress: []Progress{{Job: jobID(3), Done: 1, Total: 9}}},
			} {
				if _, err := c.ask(t.Context(), req); err != nil {
					t.Error(err)
				}
			}
			if _, err := b.Dashboard(false); err != nil {
				t.Error(err)
			}
		})
		if errors.Is(err, probe.ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil || gap.Opens > 0 {
			t.Errorf("%s: %v, %v", variant, gap, err)
		}
	}
}

// TestMalformedArchive: what is wrong with a file is said with each send until
// it is repaired, whether or not the file is read for that, and its neighbours
// are not affected.
func TestMalformedArchive(t *testing.T) {
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			b := newBench(t, variant)
			sender := b.peer(t, jobID(0))
			path := filepath.Join(b.dir, archived(jobCount))
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			send := func(to string) (r reply, w work) {
				t.Helper()
				w = b.of(t, opSend, func() (err error) {
					r, err = sender.ask(t.Context(), request{Op: opSend, To: to})
					return err
				})
				return r, w
			}
			if r, _ := send(jobID(jobCount)); len(r.Malformed) > 0 {
				t.Fatalf("got %+v, want the archived job known", r)
			}
			if err := os.WriteFile(path, good[:len(good)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			want := []string{"parse " + archived(jobCount) + ": unexpected end of JSON input"}
			for i := range 2 {
				r, w := send(jobID(jobCount + 1)) // its neighbour
				if diff := cmp.Diff(want, r.Malformed); diff != "" {
					t.Errorf("send %d: got %+v (-want +got):\n%s", i+1, r, diff)
				}
				if again := int64(1 - i); variant == after && w.Files != again {
					t.Errorf("send %d: got %d files read, want %d", i+1, w.Files, again)
				}
			}
			if r, err := sender.ask(t.Context(), request{Op: opSend, To: jobID(jobCount)}); err == nil {
				t.Errorf("got %+v, want an error: nobody knows of that job", r)
			}
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if r, _ := send(jobID(jobCount)); len(r.Malformed) > 0 {
				t.Errorf("repaired: got %+v, want the archived job known", r)
			}
		})
	}
}

// TestProgressSaved: what was saved is in the file, and after does not read
// back what it wrote.
func TestProgressSaved(t *testing.T) {
	for _, variant := range []string{before, after} {
		b := newBench(t, variant)
		c := b.peer(t, groupOf(0))
		save := func(done int) work {
			t.Helper()
			w := b.of(t, opProgress, func() error {
				_, err := c.ask(t.Context(), request{Op: opProgress, Progress: []Progress{{Job: jobID(3), Done: done, Total: 9}}})
				return err
			})
			return w
		}
		save(1)
		if got, want := save(2).Calls, map[string]int64{before: 2, after: 0}[variant]; got != want {
			t.Errorf("%s: the second save read %d times, want %d", variant, got, want)
		}
		all, malformed, err := OpenStore(b.dir, nil, false).Jobs(context.Background())
		if err != nil || len(malformed) > 0 {
			t.Fatal(err, malformed)
		}
		if j := all[jobID(3)]; j.Done != 2 || j.Total != 9 || len(all) != jobCount+archiveCount {
			t.Errorf("%s: got %d of %d and %d jobs, want 2 of 9 and all", variant, j.Done, j.Total, len(all))
		}
		if left, err := filepath.Glob(filepath.Join(b.dir, "jobs.*")); err != nil || len(left) != 1 {
			t.Errorf("%s: got %v, %v, want jobs.json alone", variant, left, err)
		}
	}
}

// TestRefused: what a peer may not do is an error in its answer.
func TestRefused(t *testing.T) {
	b := newBench(t, after)
	c := b.peer(t, jobID(0))
	for name, req := range map[string]request{
		"unknown operation": {Op: "elect"},
		"unknown job":       {Op: opSend, To: "nobody"},
		"progress":          {Op: opProgress, Progress: []Progress{{Job: "nobody"}}},
		"second hello":      {Op: opHello, Name: "other"},
	} {
		if r, err := c.ask(t.Context(), req); err == nil || r.Error == "" {
			t.Errorf("%s: got %+v, %v, want an error", name, r, err)
		}
	}
	if r, err := c.ask(t.Context(), request{Op: opPeers}); err != nil || len(r.Peers) != 1 {
		t.Errorf("got %+v, %v, want one peer", r, err)
	}
	if _, err := connect(t.Context(), at(b.Broker), jobID(0)); err == nil {
		t.Error("two peers have one name")
	}
}

// TestSlowPeer: a peer that does not read is cut off, and nobody waits for it.
func TestSlowPeer(t *testing.T) {
	near, far := net.Pipe()
	p := &peer{conn: near, out: make(chan reply, 2)}
	for range 2 {
		p.tell(reply{})
	}
	p.tell(reply{}) // nobody takes them
	if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end of the connection", err)
	}
}
