package fsstat

import (
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
