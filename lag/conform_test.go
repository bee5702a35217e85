package lag

import (
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

func TestConform(t *testing.T) {
	const interval = 2 * ms
	for name, through := range map[string]func(beat func()){"scheduler": nil, "loop": func(beat func()) { beat() }} {
		t.Run(name, func(t *testing.T) {
			probetest.Conform(t, func() probe.Probe {
				// The probe keeps the events of stalls, which a busy machine makes at any
				// time: the kit would take that for memory that windows leave.
				p := New(Options{Interval: interval, Through: through, Threshold: time.Hour})
				// A clock of whole milliseconds, so that the thousands of windows are
				// over a few different values and not over as many as there are slots:
				// reading those is slow under the race detector.
				p.now = func() int64 { return probe.Now() / int64(ms) * int64(ms) }
				p.group.now = p.now
				return p
			}, func(probe.Probe) {
				time.Sleep(2 * interval) // time is what the probe measures
			})
		})
	}
}
