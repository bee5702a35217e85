package probe

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestGaugeAbsent(t *testing.T) {
	var c Core
	g := c.Gauge(testGauge)
	c.GaugeFunc(&Desc{Name: "test.bad", Unit: "1", Help: "Panics."}, func() float64 { panic("boom") })
	calls := 0
	c.GaugeFunc(&Desc{Name: "test.fn", Unit: "1", Help: "Counts its calls."}, func() float64 { calls++; return float64(calls) })
	w := watch(t, &c)
	var r Reading
	w.Read(&r)
	for range r.Find("test.gauge") {
		t.Error("a gauge that was never set is in the reading")
	}
	for range r.Find("test.bad") {
		t.Error("a gauge whose function panics is in the reading")
	}
	if len(r.Absent) != 1 || r.Absent[0].Name != "test.bad" || !strings.Contains(r.Absent[0].Reason, "boom") {
		t.Errorf("absent = %v, want test.bad with its panic", r.Absent)
	}
	if got := value(t, &r, "test.fn"); got != 2 { // at Watch and at Read
		t.Errorf("gauge function = %v, want 2", got)
	}
	c.GaugeFunc(&Desc{Name: "test.bad", Unit: "1", Help: "Panics."}, func() float64 { return 7 }) // mended
	w.Read(&r)
	if got := value(t, &r, "test.bad"); got != 7 || len(r.Absent) != 0 {
		t.Errorf("a gauge whose function works again = %v, absent %v", got, r.Absent)
	}
	g.Set(0)
	w.Read(&r)
	if got := value(t, &r, "test.gauge"); got != 0 {
		t.Errorf("gauge = %v, want a measured 0", got)
	}
	g.Set(math.NaN())
	w.Read(&r)
	for range r.Find("test.gauge") {
		t.Error("a gauge set to NaN is in the reading")
	}
}

func TestAbsent(t *testing.T) {
	var c Core
	w := watch(t, &c)
	c.Absent("b", "no such file")
	c.Absent("a", "denied")
	var r Reading
	w.Read(&r)
	if got := fmt.Sprint(r.Absent); got != "[{a denied} {b no such file}]" {
		t.Errorf("absent = %s", got)
	}
	c.Absent("b", "")
	w.Read(&r)
	if len(r.Absent) != 1 {
		t.Errorf("absent = %v, want b taken back", r.Absent)
	}
}

// TestAbsentHidesTheValue: what is absent has no stale value beside the reason,
// and goes on where it was when it can be measured again.
func TestAbsentHidesTheValue(t *testing.T) {
	var c Core
	n := c.Counter(testCount)
	w := watch(t, &c)
	n.Add(3)
	c.Absent("test.count", "malformed file")
	var r Reading
	w.Next(&r)
	for range r.Find("test.count") {
		t.Error("a counter that is absent is in the reading")
	}
	c.Absent("test.count", "")
	w.Next(&r)
	if got := value(t, &r, "test.count"); got != 3 {
		t.Errorf("count = %v, want what was added while it was absent", got)
	}
}

func TestEvents(t *testing.T) {
	var c Core
	early := watch(t, &c)
	for i := range 300 {
		c.Emit(Event{Name: "test.event", Duration: time.Duration(i)})
	}
	late := watch(t, &c)
	id := c.Emit(Event{Name: "test.stall", Ongoing: true})
	var r Reading
	late.Next(&r)
	if len(r.Events) != 1 || r.Dropped != 0 || !r.Events[0].Ongoing || r.Events[0].ID != id {
		t.Errorf("late window: %d events, %d dropped, %+v", len(r.Events), r.Dropped, r.Events)
	}
	if got := c.Emit(Event{ID: id, Name: "test.stall"}); got != id {
		t.Errorf("the completed event has number %d, want %d", got, id)
	}
	r = *late.Close()
	if len(r.Events) != 1 || r.Events[0].ID != id || r.Events[0].Ongoing {
		t.Errorf("after Next: %+v, want only the completed event", r.Events)
	}
	r = *early.Close()
	if len(r.Events) != 256 || r.Dropped != 302-256 {
		t.Errorf("early window: %d events, %d dropped, want 256, 46", len(r.Events), r.Dropped)
	}
	if got := r.Events[len(r.Events)-1].ID; got != id {
		t.Errorf("last event has number %d, want %d", got, id)
	}
}

// An event that is emitted again and again while it goes on, as by short windows over
// one stall, pushes out only its own older states, and that is no drop.
func TestEventEmittedAgain(t *testing.T) {
	var c Core
	early := watch(t, &c)
	for range 100 {
		c.Emit(Event{Name: "test.event"})
	}
	for i := range 1000 {
		short := watch(t, &c)
		c.Emit(Event{ID: 7777, Name: "test.stall", Ongoing: true, Duration: time.Duration(i)})
		r := short.Close()
		if len(r.Events) != 1 || r.Events[0].Duration != time.Duration(i) || r.Dropped != 0 {
			t.Fatalf("short window %d: got %+v, %d dropped, want its own state of the stall", i, r.Events, r.Dropped)
		}
		if i%10 == 9 {
			c.Emit(Event{Name: "test.event"})
		}
	}
	var r Reading
	early.Read(&r)
	if len(r.Events) != 208 || r.Dropped != 0 {
		t.Fatalf("got %d events, %d dropped, want 200 and 8 states, none", len(r.Events), r.Dropped)
	}
	c.Emit(Event{ID: 7777, Name: "test.stall"})
	for range 100 {
		c.Emit(Event{Name: "test.event"})
	}
	r = *early.Close()
	if len(r.Events) != 256 || r.Dropped != 308-256 { // the completed stall took the place of a state of it
		t.Errorf("got %d events, %d dropped, want the last 256 of 308", len(r.Events), r.Dropped)
	}
	last := r.Events[len(r.Events)-101]
	if last.ID != 7777 || last.Ongoing {
		t.Errorf("got %+v before the last hundred, want the stall, completed", last)
	}
}
