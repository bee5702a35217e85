package probetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Conform runs a subtest per rule of the contract over the probes that new
// makes, and says on failure which rule was broken and why it is one.
//
// exercise gives the probe something to measure: one operation, or a few
// milliseconds of work for a probe that samples. It is called at least a hundred
// times in all, also when no window is open, and from several goroutines at once;
// it must move at least one of the probe's counters or distributions if a window
// is open. If it needs the probe's own type it may assert it. A nil exercise is
// for a probe whose numbers move by themselves, or not at all.
func Conform(t *testing.T, new func() probe.Probe, exercise func(probe.Probe)) {
	t.Helper()
	s := &subject{
		new:      func() target { return real{new()} },
		exercise: func(target) {},
	}
	if exercise != nil {
		s.exercise = func(p target) { exercise(p.member()) }
		s.active = true
	}
	run := checks
	if why := s.unsupported(); why != nil {
		t.Logf("the probe cannot work here (%v): only the rules for that case are checked", why)
		run = unsupportedChecks
	}
	for _, c := range run {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			if err := c.over(s); err != nil {
				t.Errorf("%v\n\nThe rule: %s", err, c.rule)
			}
		})
	}
}

// A check is one rule of the contract. It returns errors and knows nothing of
// testing.T, so that the kit's own tests can watch it fail.
type check struct {
	name string
	rule string // what is required, and why
	run  func(*subject) error
}

// checks are for a probe that works on this machine. Those of the first lines
// explain best what is wrong, if several fail.
var checks = []check{
	{"descriptions", ruleDescriptions, checkDescriptions},
	{"described before data", ruleDescribedFirst, checkDescribedFirst},
	{"values", ruleValues, checkValues},
	{"watch twice", ruleWatchTwice, checkWatchTwice},
	{"watch again", ruleWatchAgain, checkWatchAgain},
	{"close twice", ruleCloseTwice, checkCloseTwice},
	{"closed stays closed", ruleClosedStays, checkClosedStays},
	{"close while collecting", ruleCloseCollecting, checkCloseCollecting},
	{"read twice", ruleReadTwice, checkReadTwice},
	{"nested windows", ruleNested, checkNested},
	{"later window", ruleLater, checkLater},
	{"tiles", ruleTiles, checkTiles},
	{"nothing left", ruleNothingLeft, checkNothingLeft},
	{"in a set", ruleSet, checkSet},
	{"two of a kind", ruleTwoOfAKind, checkTwoOfAKind},
}

// patience is how long one check may take. A probe that holds a lock in Sample
// which its Stop needs would otherwise take the whole test binary with it. The
// thousands of windows of a probe that waits for each are half a minute with the
// race detector, and several on a busy machine; `go test` itself gives up after ten.
const patience = 8 * time.Minute

// over runs the check. A panic is an error, and so is taking forever.
func (c check) over(s *subject) error {
	s.gaveUp.Store(false)
	done := make(chan error, 1)
	go func() { done <- safely(func() error { return c.run(s) }) }()
	select {
	case err := <-done:
		return err
	case <-time.After(s.limit()):
		s.gaveUp.Store(true)
		return fmt.Errorf("not done after %v; the goroutines:\n%s", s.limit(), stacks())
	}
}

// safely is f, with a panic as an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, ownStack())
		}
	}()
	return f()
}

// A subject is what is tested: how to make one, how to make it measure.
type subject struct {
	new      func() target
	exercise func(target)
	active   bool          // exercise does something
	patience time.Duration // of one check; 0 means patience
	gaveUp   atomic.Bool   // the check is not waited for any more
}

func (s *subject) limit() time.Duration {
	if s.patience > 0 {
		return s.patience
	}
	return patience
}

// unsupported is why the probe cannot work here, or nil.
func (s *subject) unsupported() error {
	w, err := s.new().watch()
	if err != nil {
		if errors.Is(err, probe.ErrUnsupported) {
			return err
		}
		return nil // the checks will meet it
	}
	w.Close()
	return nil
}

// open makes a probe and watches it.
func (s *subject) open() (target, window, error) {
	p := s.new()
	w, err := p.watch()
	return p, w, err
}

// A target is a probe as the checks need it. It is an interface because the
// windows of package probe keep most of the rules by construction: only a false
// target can show that a check notices.
type target interface {
	watch() (window, error)
	Describe() []*probe.Desc
	member() probe.Probe // for a Set
}

// A window is what the checks need of a [probe.Window].
type window interface {
	Read(*probe.Reading)
	Next(*probe.Reading)
	Close() *probe.Reading
}

// real is a target that is a probe.
type real struct{ probe.Probe }

func (r real) member() probe.Probe { return r.Probe }

func (r real) watch() (window, error) {
	w, err := r.Watch()
	switch {
	case err != nil && w != nil:
		w.Close()
		return nil, fmt.Errorf("watch: a window and an error: %w", err)
	case err != nil:
		return nil, fmt.Errorf("watch: %w", err)
	case w == nil:
		return nil, errors.New("watch: neither a window nor an error")
	}
	return w, nil
}
