package lag

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// late is a probe whose every wake-up is late by 700 µs.
func late(cpu func() (time.Duration, error)) *Probe {
	p := blind(Options{})
	p.group.wait = func(t *ticker, due int64) bool {
		ok := t.sleep(due)
		time.Sleep(700 * time.Microsecond)
		return ok
	}
	p.group.floor.cpu = cpu
	return p
}

// The floor is the lateness of an idle process, is known after 16 idle slots,
// and nothing is subtracted for it.
func TestFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used time.Duration
		p := late(func() (time.Duration, error) { return used, nil })
		w := watch(t, p)
		time.Sleep(10*50*ms + 20*ms)
		var r probe.Reading
		w.Read(&r)
		if len(r.Absent) != 1 || r.Absent[0].Name != idleFloor.Name || !strings.Contains(r.Absent[0].Reason, "16 slots") {
			t.Errorf("got absent %+v after 10 slots, want the floor", r.Absent)
		}
		time.Sleep(time.Second)
		w.Read(&r)
		if s := wantStats(t, &r); s.Floor != 700*time.Microsecond || s.Timer.P50 < s.Floor || len(r.Absent) != 0 {
			t.Errorf("got floor %v, timer p50 %v, absent %+v, want 700µs in both", s.Floor, s.Timer.P50, r.Absent)
		}
		w.Close()
	})
}

// A busy process does not tell its machine's idle lateness, and neither does
// one of which nobody knows whether it is.
func TestFloorUnknown(t *testing.T) {
	used := time.Duration(0)
	for reason, cpu := range map[string]func() (time.Duration, error){
		"not been idle":     func() (time.Duration, error) { used += 5 * ms; return used, nil },
		"not supported yet": func() (time.Duration, error) { return 0, errors.New("not supported yet") },
	} {
		synctest.Test(t, func(t *testing.T) {
			w := watch(t, late(cpu))
			time.Sleep(10 * time.Second)
			r := w.Close()
			if s := wantStats(t, r); s.Floor != 0 || len(r.Absent) != 1 || !strings.Contains(r.Absent[0].Reason, reason) {
				t.Errorf("got floor %v, absent %+v, want none, %q", s.Floor, r.Absent, reason)
			}
		})
	}
}

// The floor is that of the ticker that runs, whatever group its probe is in by now.
func TestFloorSurvivesMeeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := blind(Options{Name: "a"}), blind(Options{Name: "b"})
		a.group.floor.cpu = func() (time.Duration, error) { return 0, nil }
		w := watch(t, a)
		time.Sleep(2 * time.Second)
		for _, when := range []string{"before", "after"} {
			r := new(probe.Reading)
			w.Read(r)
			if slices.ContainsFunc(r.Absent, func(m probe.Absent) bool { return m.Name == idleFloor.Name }) {
				t.Errorf("%s: absent: %+v", when, r.Absent)
			}
			probe.NewSet(b, a)
		}
	})
}
