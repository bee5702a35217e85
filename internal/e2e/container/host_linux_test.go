package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// hostFiles reads the machine's own files of a container's cgroups, which it
// finds by its first process, without the code that is tested.
type hostFiles struct{ pid int }

// dir is the folder of the group of a version 1 controller.
func (h hostFiles) dir(t *testing.T, controller string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", h.pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for name := range strings.SplitSeq(f[1], ",") {
			if name == controller {
				return filepath.Join("/sys/fs/cgroup", controller, f[2])
			}
		}
	}
	t.Fatalf("no controller %q in %q", controller, b)
	return ""
}

// prefer gives the group that the containers' groups are in the largest share of
// the processors. On a busy machine it would have less than the quota, and never
// be throttled.
func (h hostFiles) prefer(t *testing.T) {
	t.Helper()
	name := filepath.Join(filepath.Dir(h.dir(t, "cpu")), "cpu.shares")
	if err := os.WriteFile(name, []byte("262144"), 0); err != nil {
		t.Fatal(err)
	}
}

// number reads a file that holds one number.
func (h hostFiles) number(t *testing.T, controller, file string) float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir(t, controller), file))
	if err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// table reads a file of lines that are a key and a number.
func (h hostFiles) table(t *testing.T, controller, file string) map[string]float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir(t, controller), file))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if rows[key], err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return rows
}
