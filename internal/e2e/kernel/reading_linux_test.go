package kernel

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

const mib = 1 << 20

// room is how far a peak may be from the sum of what was there and what was
// added. Go's runtime allocates and frees by itself, and the kernel charges
// memory in batches of 64 pages for each CPU.
const room = 5 * mib

// watch opens a window over a probe of this process.
func watch(t *testing.T, o cgroup.Options) *probe.Window {
	t.Helper()
	w, err := cgroup.New(o).Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// one returns the series of a metric that has all of the given values among
// those of its attributes.
func one(t *testing.T, r *probe.Reading, name string, values ...string) probe.Metric {
	t.Helper()
	for m := range r.Find(name) {
		if hasValues(m, values) {
			return *m
		}
	}
	t.Errorf("no %s %v in the reading; it is absent because %q", name, values, absent(r, name))
	return probe.Metric{Value: math.NaN()}
}

func hasValues(m *probe.Metric, values []string) bool {
	for _, v := range values {
		if !slices.ContainsFunc(m.Attrs, func(a probe.Attr) bool { return a.Value == v }) {
			return false
		}
	}
	return true
}

// absent is the reason for which a metric is absent, "" if it is not.
func absent(r *probe.Reading, name string) string {
	for _, a := range r.Absent {
		if a.Name == name {
			return a.Reason
		}
	}
	return ""
}

// wantAbsent wants metrics to have no value, for a reason that contains text.
func wantAbsent(t *testing.T, r *probe.Reading, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		for m := range r.Find(name) {
			t.Errorf("%s: got %v, want it absent", name, m.Value)
		}
		if got := absent(r, name); !strings.Contains(got, text) {
			t.Errorf("%s: got reason %q, want one with %q", name, got, text)
		}
	}
}

// near wants a value within some room.
func near(t *testing.T, what string, got, want, room float64) {
	t.Helper()
	if !(math.Abs(got-want) <= room) { // a NaN is near nothing
		t.Errorf("%s: got %.2f MiB, want %.2f", what, got/mib, want/mib)
	}
}

// ownDir is the folder of this process's version 2 group, found without the
// code that is tested.
func ownDir(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	_, path, ok := strings.Cut(string(b), "0::")
	if !ok {
		t.Fatalf("no version 2 group in %q", b)
	}
	path, _, _ = strings.Cut(path, "\n")
	return filepath.Join(unified, path)
}

// number reads a file that holds one number.
func number(t *testing.T, name string) float64 {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// table reads a file of lines that are a key and a number.
func table(t *testing.T, name string) map[string]float64 {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if rows[key], err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return rows
}

// hold makes n bytes resident until release is called, out of the Go runtime's
// sight, which would keep them.
func hold(t *testing.T, n int) (release func()) {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		m[i] = 1
	}
	return func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	}
}

// spike makes n bytes resident for a moment.
func spike(t *testing.T, n int) {
	t.Helper()
	hold(t, n)()
}

// format writes a number as the kernel does.
func format(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
