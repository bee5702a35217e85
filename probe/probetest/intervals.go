package probetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	ruleNested = `a window that is opened within another sees what happens while it is open, all of it and nothing else:
no less than the outer one gained meanwhile, no more than it gained from just before to just after.`
	ruleLater = `a window does not see what was before it was opened.`
	ruleTiles = `Next ends an interval and begins the following one with the same snapshot, so the intervals of each reader,
added up, are the whole: every count in exactly one of them, whatever the readers' rates.`
)

func checkNested(s *subject) error {
	p, outer, err := s.open()
	if err != nil {
		return err
	}
	defer outer.Close()
	s.exercise(p)
	before := tallyNow(outer)
	inner, err := p.watch()
	if err != nil {
		return err
	}
	opened := tallyNow(outer)
	s.exercise(p)
	closing := tallyNow(outer)
	in := inner.Close()
	out := outer.Close()
	got := tallyOf(in)
	return errors.Join(
		closing.within(opened.plus(got), "the outer window at the inner one's end", "its start and the inner window"),
		before.plus(got).within(tallyOf(out), "what was before and the inner window", "the outer window"),
		peaksWithin(in, out),
	)
}

func checkLater(s *subject) error {
	p, outer, err := s.open()
	if err != nil {
		return err
	}
	defer outer.Close()
	for range 3 {
		s.exercise(p)
	}
	before := tallyNow(outer)
	later, err := p.watch()
	if err != nil {
		return err
	}
	got := tallyOf(later.Close())
	return before.plus(got).within(tallyNow(outer), "what was before and the later window", "the window over both")
}

// peaksWithin wants the exact peaks and maxima of a window within those of the
// window around it. What is sampled, or known as a bound only, proves nothing.
func peaksWithin(inner, outer *probe.Reading) error {
	around := exactPeaks(outer)
	var errs []error
	for key, v := range exactPeaks(inner) {
		if most, ok := around[key]; ok && v > most {
			errs = append(errs, fmt.Errorf("%s: the inner window has an exact maximum of %v, the one around it of %v", key, v, most))
		}
	}
	return errors.Join(capped(errs)...)
}

// exactPeaks are the exact maxima of r's peaks and distributions.
func exactPeaks(r *probe.Reading) map[string]float64 {
	peaks := map[string]float64{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		switch {
		case m.Desc == nil || m.Prov.How != probe.Exact:
		case strings.HasSuffix(m.Name, ".growth"): // over the window's own start, which may be lower
		case m.Dist != nil:
			peaks[seriesKey(m)] = float64(m.Dist.Max())
		case m.Kind == probe.KindPeak:
			peaks[seriesKey(m)] = m.Value
		}
	}
	return peaks
}

// checkTiles lets three readers tile a stretch at different rates. Each opens
// after the outer window and closes after the inner one, so that its sum lies
// between the two; where nothing moves by itself, the two are equal.
func checkTiles(s *subject) error {
	p, outer, err := s.open()
	if err != nil {
		return err
	}
	defer outer.Close()
	readers := make([]*tiler, 3)
	for i := range readers {
		w, err := p.watch()
		if err != nil {
			return err
		}
		defer w.Close()
		readers[i] = &tiler{window: w, every: time.Duration(1+3*i) * time.Millisecond}
	}
	inner, err := p.watch()
	if err != nil {
		return err
	}
	defer inner.Close()
	if err := s.whileTiled(p, readers); err != nil {
		return err
	}
	within := inner.Close()
	for _, t := range readers {
		t.add(t.window.Close())
	}
	return compareTiles(within, readers, outer.Close())
}

// whileTiled exercises p from two goroutines while the readers run: some times,
// for long enough that each reader has several intervals, and for a second at
// most.
func (s *subject) whileTiled(p target, readers []*tiler) error {
	const exercises, least, most = 25, 30 * time.Millisecond, time.Second
	done := make(chan struct{})
	var tiling sync.WaitGroup
	errs := make([]error, len(readers))
	for i, t := range readers {
		tiling.Go(func() { errs[i] = safely(func() error { return t.run(done) }) })
	}
	start := time.Now()
	err := together(2, func(int) error {
		for i := 0; ; i++ {
			if d := time.Since(start); d > most || d > least && i >= exercises {
				break
			}
			s.exercise(p)
		}
		return nil
	})
	close(done)
	tiling.Wait()
	return errors.Join(append(errs, err)...)
}

// compareTiles wants each reader's sum between the inner and the outer window.
func compareTiles(inner *probe.Reading, readers []*tiler, outer *probe.Reading) error {
	var errs []error
	for _, t := range readers {
		what := fmt.Sprintf("the sum of %d intervals of %v", t.n, t.every)
		errs = append(errs,
			t.gap,
			tallyOf(inner).within(t.sum, "the window inside", what),
			t.sum.within(tallyOf(outer), what, "the window around them"))
	}
	return errors.Join(errs...)
}

// A tiler is a reader that tiles its window, and adds the intervals up.
type tiler struct {
	window window
	every  time.Duration
	sum    tally
	n      int
	end    time.Time // of the last interval
	gap    error     // the first one between two intervals
}

func (t *tiler) run(done <-chan struct{}) error {
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	var r probe.Reading
	for {
		t.window.Next(&r)
		t.add(&r)
		select {
		case <-done:
			// One more, behind the last exercise: the machine may not have let this
			// goroutine run since before the first.
			t.window.Next(&r)
			t.add(&r)
			return nil
		case <-tick.C:
		}
	}
}

func (t *tiler) add(r *probe.Reading) {
	if t.n > 0 && t.gap == nil && !r.Start.Equal(t.end) {
		t.gap = fmt.Errorf("interval %d starts at %v, the one before ended at %v", t.n+1, r.Start, t.end)
	}
	t.n++
	t.end = r.End
	t.sum = t.sum.plus(tallyOf(r))
}
