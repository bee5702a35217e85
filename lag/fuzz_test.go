package lag

import (
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// FuzzStallsOf reads events as a file may hold them: whatever their attributes are,
// the view has no more than they say.
func FuzzStallsOf(f *testing.F) {
	f.Add("slots=7\nmissed=6\nupper_bound=0.35\ncause.1=CPU quota\ncause.1.weight=0.71\noverlap.1=(*Store).Archive\noverlap.1.duration=0.398")
	f.Add("cause.1=x\ncause.1.weight=NaN\nupper_bound=1e300\ntimer=-Inf\nslots=-1\ncause.3=y\noverlap.1=z\ncapture.trace=f\ncapture.trace.bytes=9e9")
	f.Fuzz(func(t *testing.T, text string) {
		e := probe.Event{ID: 1, Name: eventStall, Start: time.Unix(1, 0), Duration: time.Second}
		for line := range strings.SplitSeq(text, "\n") {
			key, value, _ := strings.Cut(line, "=")
			e.Attrs = append(e.Attrs, probe.Attr{Key: attrPrefix + key, Value: value})
		}
		stalls := StallsOf(&probe.Reading{Events: []probe.Event{e, e}})
		if len(stalls) != 1 {
			t.Fatalf("got %d stalls of one event that is there twice", len(stalls))
		}
		s := stalls[0]
		if n := len(s.Causes) + len(s.Overlaps) + len(s.Captures); n > len(e.Attrs) {
			t.Errorf("got %d things of %d attributes", n, len(e.Attrs))
		}
		if s.UpperBound < 0 || s.Timer < 0 || s.Queue < 0 || s.LoopWait < 0 {
			t.Errorf("got %+v, want no times below 0", s)
		}
		for _, c := range s.Causes {
			if !(c.Weight >= 0 && c.Weight <= 1) {
				t.Errorf("got a weight of %v, want 0 to 1", c.Weight)
			}
		}
	})
}
