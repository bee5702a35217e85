package proc

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

// limited is a tree of groups of both versions: in each a leaf below a pod
// below a root that has no limits.
const limited = `
-- v2/pod/memory.max --
536870912
-- v2/pod/cpu.max --
max 100000
-- v2/pod/leaf/memory.max --
max
-- v2/pod/leaf/cpu.max --
150000 100000
-- v2/pod/memory.high --
400000
-- v2/pod/leaf/memory.high --
500000
-- v2/pod/pids.max --
max
-- v2/pod/leaf/pids.max --
64
-- v2/free/memory.max --
max
-- v2/free/cpu.max --
max 100000
-- v2/bad/memory.max --
lots
-- v2/bad/cpu.max --
max
-- v2/bad/leaf/memory.max --
4096
-- v2/bad/leaf/cpu.max --
50000 100000
-- v1/pod/cpu.cfs_quota_us --
50000
-- v1/pod/cpu.cfs_period_us --
100000
-- v1/pod/memory.stat --
hierarchical_memory_limit 9223372036854710272
-- v1/pod/leaf/cpu.cfs_quota_us --
-1
-- v1/pod/leaf/cpu.cfs_period_us --
100000
-- v1/pod/leaf/memory.stat --
cache 1
hierarchical_memory_limit 268435456
-- v1/half/cpu.cfs_quota_us --
50000
-- v1/half/memory.stat --
cache 1
-- v1/bad/cpu.cfs_quota_us --
50000
-- v1/bad/cpu.cfs_period_us --
soon
-- v1/bad/memory.stat --
hierarchical_memory_limit -1
`

func TestLimit(t *testing.T) {
	root := t.TempDir()
	if err := proctest.Write(root, limited); err != nil {
		t.Fatal(err)
	}
	none := math.Inf(1)
	for _, tt := range []struct {
		dir       string
		memory    float64
		memoryErr string
		cpu       float64
		cpuErr    string
	}{
		{"v2/pod/leaf", 512 << 20, "", 1.5, ""},
		{"v2/pod", 512 << 20, "", none, ""},
		{"v2/free", none, "", none, ""},
		{"v2/bad/leaf", 0, `"lots"`, 0, `"max\n"`}, // one level's limit is not known
		{"v2", 0, "memory.max", 0, "cpu.max"},      // the root has no such file
		{"v1/pod/leaf", 256 << 20, "", 0.5, ""},
		{"v1/pod", none, "", 0.5, ""},
		{"v1/half", none, "", 0, "cpu.cfs_period_us"},
		{"v1/bad", 0, "hierarchical_memory_limit -1", 0, `"soon"`},
	} {
		g := Group{Version: 2, Mount: filepath.Join(root, "v2"), Dir: filepath.Join(root, filepath.FromSlash(tt.dir))}
		if strings.HasPrefix(tt.dir, "v1") {
			g.Version, g.Mount = 1, filepath.Join(root, "v1")
		}
		checkLimit(t, tt.dir+" memory", OpenMemoryLimit, g, tt.memory, tt.memoryErr)
		checkLimit(t, tt.dir+" cpu", OpenCPULimit, g, tt.cpu, tt.cpuErr)
	}
}

// TestLimitKinds: a limit of each kind is the smallest over the levels.
func TestLimitKinds(t *testing.T) {
	root := t.TempDir()
	if err := proctest.Write(root, limited); err != nil {
		t.Fatal(err)
	}
	v2 := Group{Version: 2, Mount: filepath.Join(root, "v2"), Dir: filepath.Join(root, "v2/pod/leaf")}
	checkLimit(t, "high", OpenMemoryHigh, v2, 400000, "")
	checkLimit(t, "pids", OpenPidsLimit, v2, 64, "")
	if _, err := OpenMemoryHigh(Group{Version: 1}); !errors.Is(err, ErrNotInVersion1) {
		t.Errorf("got %v, want ErrNotInVersion1", err)
	}
}

func checkLimit(t *testing.T, what string, open func(Group) (*Limit, error), g Group, want float64, text string) {
	t.Helper()
	var got float64
	l, err := open(g)
	if err == nil {
		defer l.Close()
		got, err = l.Read()
	}
	if text != "" {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v and error %v, want one with %s", what, got, err, text)
		}
		return
	}
	if err != nil || got != want {
		t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
		return
	}
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := l.Read(); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%s: got %v allocations a read, want 0", what, allocs)
	}
}

// TestLimitReopen: a level's file that was replaced is seen after Reopen.
func TestLimitReopen(t *testing.T) {
	root := t.TempDir()
	if err := proctest.Write(root, limited); err != nil {
		t.Fatal(err)
	}
	l, err := OpenMemoryLimit(Group{Version: 2, Mount: root, Dir: filepath.Join(root, "v2/pod/leaf")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	name := filepath.Join(root, "v2/pod/memory.max")
	if err := os.Rename(name, name+".away"); err != nil {
		t.Skipf("needs to rename an open file: %v", err)
	}
	if err := l.Reopen(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	write(t, name, "4096\n")
	if err := l.Reopen(); err != nil {
		t.Error(err)
	}
	if v, err := l.Read(); err != nil || v != 4096 {
		t.Errorf("got %v, %v, want 4096", v, err)
	}
}
