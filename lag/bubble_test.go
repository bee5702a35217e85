package lag

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Under testing/synctest nothing can be late, and a zero would say that nothing
// was: there is no data, with the reason, and nobody watches.
func TestBubble(t *testing.T) {
	if !realClock(t) {
		t.Skip("this system does not tell that time is fake")
	}
	for name, p := range map[string]*Probe{"scheduler": New(Options{}), "loop": New(Options{Through: func(beat func()) { beat() }})} {
		synctest.Test(t, func(t *testing.T) {
			w := watch(t, p)
			time.Sleep(time.Second)
			if age, watched := p.Pending(); age != 0 || watched {
				t.Errorf("%s: got pending %v, watched %v, want 0, false", name, age, watched)
			}
			r := w.Close()
			if len(r.Metrics) != 0 || len(r.Absent) != len(p.Describe()) || r.Absent[0].Reason != noData {
				t.Errorf("%s: got %d metrics, absent %+v, want none, and the reason", name, len(r.Metrics), r.Absent)
			}
		})
		w := watch(t, p) // outside, the same probe measures
		var r probe.Reading
		w.Read(&r)
		if len(r.Metrics) == 0 {
			t.Errorf("%s: got no metrics after the bubble, absent %+v", name, r.Absent)
		}
		w.Close()
	}
}

func realClock(t *testing.T) (known bool) {
	synctest.Test(t, func(*testing.T) { known = inBubble() })
	return known
}
