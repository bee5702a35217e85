package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

// quotas is a container without a quota of its own in a pod that has one, below a
// level that has none.
const quotas = `
-- 2/cpu.stat --
nr_periods 0
nr_throttled 0
throttled_usec 0
-- 2/kubepods/cpu.max --
max 100000
-- 2/kubepods/cpu.stat --
nr_periods 0
nr_throttled 0
throttled_usec 0
-- 2/kubepods/pod/cpu.max --
50000 100000
-- 2/kubepods/pod/leaf/cpu.max --
max 100000
-- 1/kubepods/cpu.cfs_quota_us --
-1
-- 1/kubepods/cpu.cfs_period_us --
100000
-- 1/kubepods/cpu.stat --
nr_periods 0
nr_throttled 0
throttled_time 0
-- 1/kubepods/pod/cpu.cfs_quota_us --
50000
-- 1/kubepods/pod/cpu.cfs_period_us --
100000
-- 1/kubepods/pod/leaf/cpu.cfs_quota_us --
-1
-- 1/kubepods/pod/leaf/cpu.cfs_period_us --
100000
`

// What a level above takes away is found, and of two levels that which takes more.
func TestThrottlings(t *testing.T) {
	for version, key := range map[int]string{1: "throttled_time", 2: "throttled_usec"} {
		root := t.TempDir()
		if err := proctest.Write(root, quotas); err != nil {
			t.Fatal(err)
		}
		mount := filepath.Join(root, fmt.Sprint(version))
		g := Group{Controller: "cpu", Version: version, Mount: mount, Dir: filepath.Join(mount, "kubepods/pod/leaf")}
		if _, err := OpenThrottlings(g); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("version %d: got error %v without cpu.stat, want fs.ErrNotExist", version, err)
		}
		set := func(dir string, periods, throttled int, d time.Duration) {
			if version == 2 {
				d /= time.Microsecond
			}
			write(t, filepath.Join(mount, dir, "cpu.stat"), fmt.Sprintf("nr_periods %d\nnr_throttled %d\n%s %d\n", periods, throttled, key, d))
		}
		set("kubepods/pod/leaf", 0, 0, 0)
		set("kubepods/pod", 0, 0, 0)
		q, err := OpenThrottlings(g)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		if len(q.levels) != 2 {
			t.Fatalf("version %d: got %d levels, want the leaf and the pod", version, len(q.levels))
		}
		if _, err := q.Read(); !errors.Is(err, ErrNoQuota) {
			t.Errorf("version %d: got error %v, want %v", version, err, ErrNoQuota)
		}
		want := Taken{}
		for _, step := range []struct {
			dir                string
			periods, throttled int
			d                  time.Duration
			above              bool
		}{
			{"kubepods/pod", 10, 4, 300 * time.Millisecond, true},
			{"kubepods/pod/leaf", 5, 2, 100 * time.Millisecond, false}, // gets one later
		} {
			set(step.dir, step.periods, step.throttled, step.d)
			want.Periods += uint64(step.periods)
			want.Throttled += uint64(step.throttled)
			want.Time += step.d
			if step.above {
				want.Above += step.d
			}
			if got, err := q.Read(); err != nil || got != want {
				t.Errorf("version %d, %s: got %+v, %v, want %+v", version, step.dir, got, err, want)
			}
		}
		set("kubepods/pod", 12, 6, 500*time.Millisecond) // both: the larger one
		set("kubepods/pod/leaf", 7, 3, 150*time.Millisecond)
		want.Periods, want.Throttled, want.Time, want.Above = want.Periods+2, want.Throttled+2, want.Time+200*time.Millisecond, want.Above+200*time.Millisecond
		if got, err := q.Read(); err != nil || got != want {
			t.Errorf("version %d: got %+v, %v, want %+v", version, got, err, want)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = q.Read() }); n != 0 {
			t.Errorf("version %d: got %v allocations a reading, want 0", version, n)
		}
	}
}
