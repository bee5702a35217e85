package probetest

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	ruleWatchTwice = `any number of windows are open at the same time, and none can steal from, reset or stop another.
A benchmark, a report and an exporter read one probe at once.`
	ruleWatchAgain = `a probe can be watched again after its last window was closed, and measures then as it did before.
A probe has no life of its own: only its windows have.`
	ruleCloseTwice = `Close may be called any number of times, from any goroutine, and always returns the same reading.
A deferred Close beside an explicit one is the normal case.`
	ruleClosedStays = `a closed window keeps its last reading: later activity does not change it, Next gives an empty interval,
and what one caller does to the reading it got is not seen by another.`
	ruleCloseCollecting = `a window may be closed while others read it and while the probe measures: nobody panics, waits for ever,
or gets a reading that ends before it starts. An exporter collects on its own clock.`
	ruleReadTwice = `a second Read holds at least what the first one held, from the same start. A reading that is read into again
is overwritten, not added to.`
)

// counts reports whether the probe has anything that exercise could move.
func (s *subject) counts(p target) bool {
	if !s.active {
		return false
	}
	for _, d := range p.Describe() {
		if d.Kind == probe.KindCounter || d.Kind == probe.KindDistribution {
			return true
		}
	}
	return false
}

// tallyNow is the tally of what w has so far.
func tallyNow(w window) tally {
	var r probe.Reading
	w.Read(&r)
	return tallyOf(&r)
}

func checkWatchTwice(s *subject) error {
	p, first, err := s.open()
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := p.watch()
	if err != nil {
		return fmt.Errorf("the second window: %w", err)
	}
	defer second.Close()
	s.exercise(p)
	before := tallyNow(second)
	first.Next(new(probe.Reading))
	if err := before.within(tallyNow(second), "before the other window's Next, this one", "after it"); err != nil {
		return err
	}
	first.Close()
	s.exercise(p)
	after := tallyOf(second.Close())
	if err := before.within(after, "before the other window's Close, this one", "after it"); err != nil {
		return err
	}
	if s.counts(p) && after.activity() <= before.activity() {
		return errors.New("closing one window stopped the other: it saw nothing of an exercise afterwards")
	}
	return nil
}

func checkWatchAgain(s *subject) error {
	p := s.new()
	for i := range 3 {
		s.exercise(p) // unwatched: must do no harm
		w, err := p.watch()
		if err != nil {
			return fmt.Errorf("window %d: %w", i+1, err)
		}
		s.exercise(p)
		if got := tallyOf(w.Close()).activity(); s.counts(p) && got == 0 {
			return fmt.Errorf("window %d: exercise moved no counter, no distribution and no event", i+1)
		}
	}
	return nil
}

func checkCloseTwice(s *subject) error {
	p, w, err := s.open()
	if err != nil {
		return err
	}
	s.exercise(p)
	readings := make([]*probe.Reading, 4)
	err = together(len(readings), func(i int) error {
		readings[i] = w.Close()
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range append(readings, w.Close()) {
		if r == nil {
			return errors.New("a Close returned no reading")
		}
		if err := difference(readings[0], r); err != nil {
			return fmt.Errorf("two Closes of one window: %w", err)
		}
	}
	return nil
}

func checkClosedStays(s *subject) error {
	p, w, err := s.open()
	if err != nil {
		return err
	}
	s.exercise(p)
	last := w.Close()
	other, err := p.watch() // so that the probe goes on measuring
	if err != nil {
		return err
	}
	defer other.Close()
	s.exercise(p)
	var r probe.Reading
	w.Read(&r)
	if err := difference(last, &r); err != nil {
		return fmt.Errorf("a Read after Close gives another reading: %w", err)
	}
	for i := range r.Metrics {
		r.Metrics[i].Value = math.NaN() // ours: nobody else may see it
	}
	if err := difference(last, w.Close()); err != nil {
		return fmt.Errorf("a caller changed its own reading and another saw it: %w", err)
	}
	w.Next(&r)
	if len(r.Metrics) > 0 || len(r.Events) > 0 || !r.Start.Equal(last.End) || !r.End.Equal(last.End) {
		return fmt.Errorf("a Next after Close has %d metrics and %d events from %v to %v, want nothing from and to %v",
			len(r.Metrics), len(r.Events), r.Start, r.End, last.End)
	}
	return nil
}

func checkCloseCollecting(s *subject) error {
	const rounds = 10
	p := s.new()
	for range rounds {
		w, err := p.watch()
		if err != nil {
			return err
		}
		if err := s.closeCollecting(p, w); err != nil {
			return err
		}
	}
	return nil
}

// closeCollecting closes w in two goroutines while one reads it, one tiles it, and
// one exercises the probe.
func (s *subject) closeCollecting(p target, w window) error {
	const readers = 2
	var reading, closed atomic.Int32
	begun := make(chan struct{}) // all readers are at it, or one has given up
	begin := sync.OnceFunc(func() { close(begun) })
	collect := func(read func(*probe.Reading)) error {
		defer begin()
		var r probe.Reading
		for first := true; closed.Load() == 0 && !s.gaveUp.Load(); first = false {
			read(&r)
			if r.End.Before(r.Start) {
				return fmt.Errorf("a reading from %v to %v ends before it starts", r.Start, r.End)
			}
			if first && reading.Add(1) == readers {
				begin()
			}
			runtime.Gosched() // spinning readers would be measured, not the probe
		}
		w.Read(&r)
		return difference(w.Close(), &r)
	}
	return together(readers+3, func(i int) error {
		switch i {
		case 0:
			return collect(w.Read)
		case 1:
			return collect(w.Next)
		case 2:
			<-begun
			s.exercise(p)
		default:
			<-begun
			w.Close()
			closed.Add(1)
		}
		return nil
	})
}

func checkReadTwice(s *subject) error {
	p, w, err := s.open()
	if err != nil {
		return err
	}
	defer w.Close()
	s.exercise(p)
	var first, used, fresh probe.Reading
	w.Read(&first)
	w.Read(&used)
	w.Read(&used)
	w.Read(&fresh)
	if !first.Start.Equal(used.Start) || !first.Start.Equal(fresh.Start) {
		return fmt.Errorf("readings of one window start at %v, %v and %v", first.Start, used.Start, fresh.Start)
	}
	if used.End.Before(first.End) || fresh.End.Before(used.End) {
		return fmt.Errorf("later readings end earlier: %v, %v and %v", first.End, used.End, fresh.End)
	}
	return errors.Join(
		tallyOf(&first).within(tallyOf(&used), "the first reading", "the second"),
		tallyOf(&used).within(tallyOf(&fresh), "a reading that was read into twice", "a fresh one after it"),
	)
}
