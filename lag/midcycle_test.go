package lag

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stall's event waits for the end of the GC cycle that was going on when the stall
// ended, but not for long.
func TestStallWaitsForCycle(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ends  time.Duration // after the start; 0 for never
		event time.Duration // when it is there, at the latest
		want  Cause
	}{{"ends", 1200 * ms, 1300 * ms, CauseGC}, {"goes on", 0, 2 * time.Second, CauseNonPreemptible}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := scriptedStall(Options{}, map[int]time.Duration{10: 300 * ms}) // 500 to 800 ms
				s.change(func(now *snapshot) { now.has = hasCPU | hasGC })
				w := watch(t, p)
				time.Sleep(600 * ms)
				s.change(func(now *snapshot) { now.marking, now.cpu = true, 600*ms })
				if tt.ends > 0 {
					time.Sleep(tt.ends - 600*ms)
					s.change(func(now *snapshot) { now.marking, now.cycles, now.gcCPU = false, 1, 1400*ms })
					time.Sleep(tt.event - tt.ends)
				} else {
					time.Sleep(tt.event - 600*ms)
				}
				got := onlyStall(t, w.Close())
				if got.Causes[0].Cause != tt.want || strings.Contains(got.Text, midCycle) != (tt.ends == 0) {
					t.Errorf("got %q, want %s", got.Text, tt.want)
				}
			})
		})
	}
}
