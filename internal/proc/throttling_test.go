package proc

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

func TestParseThrottling(t *testing.T) {
	v1 := func(b []byte) (Throttling, error) { return ParseThrottling(b, 1) }
	v2 := func(b []byte) (Throttling, error) { return ParseThrottling(b, 2) }
	check(t, v1, "nr_periods 7\nnr_throttled 2\nthrottled_time 5000\n", Throttling{7, 2, 5 * time.Microsecond}, "")
	check(t, v2, "usage_usec 1\nnr_periods 7\nnr_throttled 2\nthrottled_usec 5000\n", Throttling{7, 2, 5 * time.Millisecond}, "")
	check(t, v2, "nr_periods 7\nnr_throttled 0\nthrottled_usec 0\n", Throttling{Periods: 7}, "")
	check(t, v2, "nr_periods 7\nnr_throttled 2\nthrottled_usec 18446744073709551615\n", Throttling{7, 2, math.MaxInt64}, "")
	check(t, v2, "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n", Throttling{}, ErrNoQuota.Error())
	check(t, v2, "nr_periods 7\nnr_throttled 2\nthrottled_time 5\n", Throttling{}, "counts no periods")
	check(t, v2, "usage_usec 1\n", Throttling{}, "counts no periods")
	check(t, v1, "nr_periods x\n", Throttling{}, `"nr_periods x"`)
}

func TestThrottlingFile(t *testing.T) {
	g := Group{Version: 2, Dir: t.TempDir()}
	if _, err := OpenThrottling(g); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	name := filepath.Join(g.Dir, "cpu.stat")
	write(t, name, "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n")
	f, err := OpenThrottling(g)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := f.Read(); !errors.Is(err, ErrNoQuota) {
			t.Errorf("got %v, want %v", err, ErrNoQuota)
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations a read, want 0", allocs)
	}
	if err := os.Remove(name); err != nil {
		t.Skipf("needs to remove an open file: %v", err)
	}
	write(t, name, "nr_periods 3\nnr_throttled 1\nthrottled_usec 2\n")
	if err := f.Reopen(); err != nil {
		t.Error(err)
	}
	if got, err := f.Read(); err != nil || got != (Throttling{3, 1, 2 * time.Microsecond}) {
		t.Errorf("got %+v, %v, want those of the new file", got, err)
	}
	f.Close()
	if _, err := f.Read(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v, want fs.ErrClosed", err)
	}
}

// TestLookupOwn: a group that is the whole machine is refused, any other is
// given.
func TestLookupOwn(t *testing.T) {
	for name, want := range map[string]error{"v2_host_root": ErrHostRoot, "v2_container": nil, "unmounted": ErrHidden} {
		root := t.TempDir()
		archive, err := os.ReadFile("testdata/detect/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		if err := proctest.Write(root, string(archive)); err != nil {
			t.Fatal(err)
		}
		c, err := Detect(root)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := c.LookupOwn("memory"); !errors.Is(err, want) || want == nil && g.Dir == "" {
			t.Errorf("%s: got %+v, %v, want error %v", name, g, err, want)
		}
	}
}
