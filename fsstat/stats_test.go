package fsstat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

func TestStatsOfNothing(t *testing.T) {
	if s, ok := StatsOf(&probe.Reading{}); ok {
		t.Errorf("got %+v from an empty reading, want false", s)
	}
}

// Of several file probes in a Set, the counts of one are not mixed with
// another's.
func TestStatsOfSeveral(t *testing.T) {
	a, b := New(Options{Name: "a"}), New(Options{Name: "b"})
	w, err := probe.NewSet(a, b).Watch()
	if err != nil {
		t.Fatal(err)
	}
	path := tempFile(t, 10)
	must[[]byte](t)(a.As("x").ReadFile(path))
	must[[]byte](t)(b.As("x").ReadFile(path))
	must[[]byte](t)(b.As("y").ReadFile(path))
	s := statsOf(t, w.Close())
	want := Counts{Opens: 1, Reads: 2, BytesRead: 10}
	if diff := cmp.Diff(Stats{
		Counts: want, Roles: map[string]Counts{"x": want}, Kernel: seesKernel,
		Passes: Passes{First: 1}, ReadSizes: map[string]int64{"0": 1, "1-511": 1}, SmallReads: 1,
		Paths:    []PathCounts{{Path: path, Counts: want, SmallReads: 1, Size: 10}},
		Coverage: s.Coverage,
	}, s); diff != "" {
		t.Errorf("first of two probes (-want +got):\n%s", diff)
	}
}

// Where the kernel's copies cannot be told from others, that is said.
func TestKernelKnownOrAbsent(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	_, _ = p.Stat("")
	r := w.Close()
	absent := false
	for _, a := range r.Absent {
		absent = absent || a.Name == descKernelIO.Name && a.Reason != ""
	}
	if s := statsOf(t, r); s.Kernel == absent || s.Kernel != seesKernel {
		t.Errorf("got kernel's copies known %v, absent %v, want the one or the other", s.Kernel, absent)
	}
}

// A probe past which everything went has counted nothing, and says so: what the
// process has read, and what it knows of the opens.
func TestStatsOfAllAround(t *testing.T) {
	path := tempFile(t, 1<<20)
	for _, o := range []Options{{}, {Name: "x"}, {WatchDirs: []string{filepath.Dir(path)}}, {Name: "x", WatchDirs: []string{filepath.Dir(path)}}} {
		p := New(o)
		w := watch(t, p)
		must[[]byte](t)(os.ReadFile(path))
		s := statsOf(t, w.Close())
		if c := s.Coverage; c.Reason == "" && (c.Seen != 0 || c.Process < 1<<20 || c.Share() != 0) {
			t.Errorf("%+v: got coverage %+v, want nothing seen of 1 MiB or more", o, c)
		}
		if _, err := os.Stat("/proc/self/io"); err == nil && s.Coverage.Reason != "" {
			t.Errorf("%+v: got coverage %v", o, s.Coverage)
		}
		if (s.Around != nil) != (o.WatchDirs != nil) || s.Around != nil && s.Around.Opens != 1 && s.Around.Reason == "" {
			t.Errorf("%+v: got around %+v, want one open if they are looked for", o, s.Around)
		}
	}
}

// Of a probe of which nothing could be measured, the reasons are left.
func TestStatsOfAbsent(t *testing.T) {
	p := New(Options{WatchDirs: []string{t.TempDir()}})
	p.io.path = filepath.Join(t.TempDir(), "gone")
	r := watch(t, p).Close()
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m probe.Metric) bool { return m.Name == descAround.Name })
	r.Absent = append(r.Absent, probe.Absent{Name: descAround.Name, Reason: "why"})
	s := statsOf(t, r)
	if s.Coverage.Reason == "" || s.Around == nil || !strings.Contains(s.Around.Reason, "why") || s.Around.String() == (Gap{}).String() {
		t.Errorf("got %+v, want why nothing is known", s)
	}
	if _, ok := StatsOf(&probe.Reading{Absent: []probe.Absent{{Name: "tidestaff.lag", Reason: "x"}}}); ok {
		t.Error("another probe's absence is taken for a file probe's")
	}
}

// A reading's metrics may come in any order, as those of a merged or edited report
// do.
func TestStatsOfOrder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, content(10), 0o600)
	p := New(Options{Name: "x", WatchDirs: []string{dir}})
	w := watch(t, p)
	must[[]byte](t)(p.As("r").ReadFile(path))
	must[[]byte](t)(p.As("r").ReadFile(path))
	must[[]byte](t)(os.ReadFile(path))
	r := w.Close()
	want := statsOf(t, r)
	for i := range r.Metrics {
		r.Metrics = append(r.Metrics[1:], r.Metrics[0])
		if diff := cmp.Diff(want, statsOf(t, r)); diff != "" {
			t.Fatalf("turned by %d (-want +got):\n%s", i+1, diff)
		}
	}
	slices.Reverse(r.Metrics)
	if diff := cmp.Diff(want, statsOf(t, r)); diff != "" {
		t.Errorf("in reverse (-want +got):\n%s", diff)
	}
}
