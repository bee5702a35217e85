package probe

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A Set is a probe made of probes, so that a service wires one thing. A window
// over it is a window over all of them with one start and one end.
type Set struct{ members []Probe }

// NewSet makes a set of the given probes. Sets among them are flattened and
// repeats are dropped, so that each probe is measured once per window.
//
// It introduces the members to each other: every member that has a method
//
//	Meet(peers []probe.Probe)
//
// is given the others, for instance to ask those of them that have a method
// Overlapping (see [Core.Overlapping]) what ran during a stall. A probe that
// is in several sets meets the members of each.
func NewSet(probes ...Probe) *Set {
	s := new(Set)
	for _, p := range probes {
		if nested, ok := p.(*Set); ok {
			for _, m := range nested.members {
				s.add(m)
			}
			continue
		}
		s.add(p)
	}
	for i, m := range s.members {
		if meeter, ok := m.(interface{ Meet(peers []Probe) }); ok {
			meeter.Meet(slices.Concat(s.members[:i], s.members[i+1:]))
		}
	}
	return s
}

func (s *Set) add(p Probe) {
	// A probe of a type that cannot be compared is taken as it is.
	if p == nil || reflect.TypeOf(p).Comparable() && slices.Contains(s.members, p) {
		return
	}
	s.members = append(s.members, p)
}

// Members are the probes that the set is made of, none of which is a Set.
func (s *Set) Members() []Probe { return slices.Clone(s.members) }

// Describe implements [Probe]: the members' descriptions, one for each name.
func (s *Set) Describe() []*Desc {
	var all []*Desc
	for _, m := range s.members {
		for _, d := range m.Describe() {
			if !slices.ContainsFunc(all, func(k *Desc) bool { return k.Name == d.Name }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// Watch implements [Probe]. A member whose Watch says ErrUnsupported is absent,
// with its reason; any other error closes what was opened and is returned. Two
// members of one kind need different names.
func (s *Set) Watch() (*Window, error) {
	w := new(Window)
	for _, m := range s.members {
		opened, err := m.Watch()
		switch {
		case errors.Is(err, ErrUnsupported):
			w.absent = append(w.absent, Absent{memberName(m), err.Error()})
		case err != nil:
			w.abandon()
			return nil, fmt.Errorf("probe: watch %s: %w", memberName(m), err)
		default:
			w.adopt(opened)
		}
	}
	if err := checkNames(w.parts); err != nil {
		w.abandon()
		return nil, err
	}
	w.begin()
	return w, nil
}

// memberName is what an absent member is called: its package, or its Core's
// name.
func memberName(p Probe) string {
	if c, ok := p.(*Core); ok && c.Name != "" {
		return c.Name
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", p), "*"), ".")
	return name
}

// adopt takes over the parts of a member's window. A Core that two members
// share is kept once.
func (w *Window) adopt(o *Window) {
	w.absent = append(w.absent, o.absent...)
	for _, p := range o.parts {
		if slices.ContainsFunc(w.parts, func(q *part) bool { return q.core == p.core }) {
			p.detach()
			p.core.release()
			continue
		}
		w.parts = append(w.parts, p)
	}
}

// abandon closes what was opened for a Watch that failed.
func (w *Window) abandon() {
	for _, p := range w.parts {
		p.detach()
		p.core.release()
	}
}

// begin gives all parts one base: all settle first, then all are read, so that
// the time one takes to settle does not fall between another's base and its own.
func (w *Window) begin() {
	w.settle()
	w.sample()
	w.start = time.Now()
	for _, p := range w.parts {
		p.core.mu.Lock()
		p.core.takeMaxima()
		p.rebase()
		p.core.mu.Unlock()
	}
}

// Clash says which metrics no reader could tell apart that has both windows, nil if
// there are none: those of two probes of one kind without different names, or of one
// probe twice. Unlike a Set it introduces nobody to anybody.
func (w *Window) Clash(o *Window) error { return checkNames(slices.Concat(w.parts, o.parts)) }

// checkNames refuses two parts that would yield the same metrics under the same
// name, which no reader could tell apart.
func checkNames(parts []*part) error {
	type identity struct{ metric, name string }
	seen := make(map[identity]bool)
	for _, p := range parts {
		for _, d := range p.core.Describe() {
			id := identity{d.Name, p.core.Name}
			if seen[id] {
				return fmt.Errorf("probe: two members of the set describe %s under the name %q; give one of them an Options.Name", d.Name, p.core.Name)
			}
			seen[id] = true
		}
	}
	return nil
}
