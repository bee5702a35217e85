package probe

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOverlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Core{Activity: "statement"}
		w, err := c.Watch()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		run := func(method string, d time.Duration) {
			s := c.Begin(intern(method, "request"))
			time.Sleep(d)
			c.End(s)
		}
		run("Old", 400*time.Millisecond)
		time.Sleep(time.Second)
		run("Long", 20*time.Millisecond)
		run("Short", time.Millisecond)
		open := c.Begin(intern("Running", "background:x"))
		time.Sleep(100 * time.Millisecond)
		got := c.Overlapping(nil, 300*time.Millisecond)
		if len(got) != 2 {
			t.Fatalf("%d operations, want the long one that ended and the one that runs: %+v", len(got), got)
		}
		if o := got[0]; o.Name != "Long" || o.Running || o.Duration != 20*time.Millisecond || o.Activity != "statement" || o.Role != "request" {
			t.Errorf("first = %+v", o)
		}
		if o := got[1]; o.Name != "Running" || !o.Running || o.Duration != 100*time.Millisecond || o.Role != "background:x" {
			t.Errorf("second = %+v", o)
		}
		c.End(open)
		if got := c.Overlapping(nil, time.Hour); len(got) != 3 {
			t.Errorf("%d operations in an hour, want 3", len(got))
		}
	})
}

// TestFlightOverflow: operations beyond the slots are still timed and carried.
func TestFlightOverflow(t *testing.T) {
	var c Core
	watch(t, &c)
	l := intern("m", "r")
	var spans []Span
	for range 3 * flightSlots {
		spans = append(spans, c.Begin(l))
	}
	if got := c.running(); got != 3*flightSlots {
		t.Errorf("%d running, want %d", got, 3*flightSlots)
	}
	for _, s := range spans {
		if _, ok := c.End(s); !ok {
			t.Fatal("an operation without a slot was not counted")
		}
	}
	if got := c.running(); got != 0 {
		t.Errorf("%d running after all ended", got)
	}
}

func TestFlightRaces(t *testing.T) {
	var c Core
	watch(t, &c)
	var wg sync.WaitGroup
	for _, m := range []string{"a", "b", "c"} {
		wg.Go(func() {
			for range 5000 {
				c.End(c.Begin(intern(m, m)))
			}
		})
	}
	wg.Go(func() {
		for range 500 {
			for _, o := range c.Overlapping(nil, time.Second) {
				if o.Name != o.Role || o.Duration < 0 {
					t.Errorf("torn operation %+v", o)
				}
			}
		}
	})
	wg.Wait()
	if got := testing.AllocsPerRun(100, func() { c.End(c.Begin(intern("a", "a"))) }); got != 0 {
		t.Errorf("Begin and End allocate %v times", got)
	}
}

// TestOverlapOnce: an operation that is ending is listed once.
func TestOverlapOnce(t *testing.T) {
	var c Core
	watch(t, &c)
	l := intern("m", "r")
	s := c.Begin(l)
	c.flight.Load().remember(&lateOperation{l, s.start, int64(time.Second)}) // as End does first
	if got := c.Overlapping(nil, time.Hour); len(got) != 1 || got[0].Running {
		t.Errorf("%d operations, want one, ended: %+v", len(got), got)
	}
	c.End(s)
}
