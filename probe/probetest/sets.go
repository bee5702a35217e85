package probetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	ruleSet = `a probe works as the member of a set as it does alone, beside others, and is measured once even if it was
added twice. A service wires all its probes as one set.`
	ruleTwoOfAKind = `two probes of one kind in a set are told apart by an Options.Name, or Watch refuses them. Otherwise a reader
would add up or mix what belongs to two databases. The set knows by the names that are described before there is data.`
	ruleUnsupported = `a probe that cannot work here says so always: every Watch returns an error that wraps ErrUnsupported, and no
window. An answer that changes would be a gap in the data that nobody sees.`
	ruleUnsupportedSet = `a set lists a member that cannot work here as absent with a reason that a person can read, and goes on with
the others. Absent is never zero.`
	ruleRefusal = `a Watch that cannot open a window leaves no goroutine and no descriptor behind. A service that runs where
nothing can be measured asks as often as any other.`
)

// unsupportedChecks are for a probe that cannot work on this machine.
var unsupportedChecks = []check{
	{"descriptions", ruleDescriptions, checkDescriptions},
	{"unsupported always", ruleUnsupported, checkUnsupported},
	{"absent from a set", ruleUnsupportedSet, checkAbsent},
	{"nothing left of a refusal", ruleRefusal, checkRefusal},
}

// A neighbour is another member of the set, with a counter.
type neighbour struct {
	core  probe.Core
	calls *probe.Counter
}

const neighbourName = "probetest.neighbour.calls"

func newNeighbour() *neighbour {
	n := new(neighbour)
	n.calls = n.core.Counter(&probe.Desc{Name: neighbourName, Unit: "{call}", Help: "Calls of the probe beside the tested one."})
	return n
}

// wants is nil if r has the neighbour's counter once, at n.
func (*neighbour) wants(r *probe.Reading, n float64) error {
	found := slices.Collect(r.Find(neighbourName))
	if len(found) != 1 || found[0].Value != n {
		return fmt.Errorf("another member's counter was added %v to; it is there %d times: %v", n, len(found), found)
	}
	return nil
}

func checkSet(s *subject) error {
	p, outer, err := s.open()
	if err != nil {
		return err
	}
	defer outer.Close()
	beside := newNeighbour()
	set := probe.NewSet(p.member(), &beside.core, probe.NewSet(p.member()))
	w, err := real{set}.watch()
	if err != nil {
		return err
	}
	defer w.Close()
	inner, err := p.watch()
	if err != nil {
		return err
	}
	beside.calls.Add(3)
	s.exercise(p)
	within := tallyOf(inner.Close())
	r := w.Close()
	around := tallyOf(outer.Close())
	around[neighbourName] = count{value: 3}
	return errors.Join(
		beside.wants(r, 3),
		validReading(r),
		within.within(tallyOf(r), "a window over the probe alone", "one over the set around it"),
		tallyOf(r).within(around, "a window over the set", "one over the probe alone around it"),
	)
}

func checkTwoOfAKind(s *subject) error {
	first, second := s.new(), s.new()
	w, err := real{probe.NewSet(first.member(), second.member())}.watch()
	if err != nil {
		return nil // refused, as it should be
	}
	s.exercise(first)
	s.exercise(second)
	return validReading(w.Close())
}

func checkUnsupported(s *subject) error {
	p := s.new()
	for range 3 {
		if err := refused(p); err != nil {
			return err
		}
		s.exercise(p) // still works for the host, unmeasured
	}
	return together(churners, func(int) error { return refused(p) })
}

// refused is nil if a Watch of p says that it cannot work here.
func refused(p target) error {
	w, err := p.watch()
	switch {
	case err == nil:
		w.Close()
		return errors.New("a Watch opened a window, an earlier one said that the probe cannot work here")
	case !errors.Is(err, probe.ErrUnsupported):
		return fmt.Errorf("a Watch returned %w, an earlier one said that the probe cannot work here", err)
	}
	return nil
}

func checkRefusal(s *subject) error {
	p := s.new()
	if err := refused(p); err != nil {
		return err
	}
	goroutines, files := running(), descriptors()
	for range windowsPerRound {
		if err := refused(p); err != nil {
			return err
		}
	}
	return errors.Join(leakedGoroutines(goroutines), leakedFiles(files))
}

func checkAbsent(s *subject) error {
	p, beside := s.new(), newNeighbour()
	w, err := real{probe.NewSet(p.member(), &beside.core)}.watch()
	if err != nil {
		return err
	}
	beside.calls.Add(1)
	r := w.Close()
	if len(r.Absent) != 1 {
		return fmt.Errorf("absent are %v, want the one probe", r.Absent)
	}
	return errors.Join(beside.wants(r, 1), validReading(r))
}
