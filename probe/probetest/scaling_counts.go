package probetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/internal/growth"
	"github.com/tidestaff/tidestaff/probe"
)

// A counted is an exact count of one operation at each size.
type counted struct {
	unit   string
	bound  Growth
	values []float64
	wrong  string // what is, "" if nothing
}

// count has the probes count one operation at each size. It is not ok if the test
// has failed over it.
func (s Scaling) count(each *scope, prepare func(t testing.TB, n int) func(), sizes []int) (counts []counted, trials []*trial, ok bool) {
	if len(s.Probes) == 0 && len(s.Counts) == 0 {
		return nil, nil, true
	}
	each.Helper()
	for _, n := range sizes {
		tr, ok := s.countAt(each, prepare, n)
		if !ok {
			return nil, nil, false
		}
		trials = append(trials, tr)
	}
	units := unitsOf(describe(s.Probes))
	names := slices.Sorted(maps.Keys(s.Counts))
	for _, u := range units {
		if _, named := s.Counts[u.name]; !named && u.exact && u.sources[0].bench.PerOp {
			names = append(names, u.name)
		}
	}
	for _, name := range names {
		bound, named := s.Counts[name]
		if !named {
			bound = s.Bound
		}
		c := countOf(units, name, bound, sizes, trials)
		if named || slices.ContainsFunc(c.values, func(v float64) bool { return v > 0 }) {
			counts = append(counts, c)
		}
	}
	return counts, trials, true
}

func (s Scaling) countAt(each *scope, prepare func(t testing.TB, n int) func(), n int) (*trial, bool) {
	each.Helper()
	defer each.end()
	return try(each.TB, probe.NewSet(s.Probes...), 1, prepare(each, n))
}

// countOf is one unit at all sizes, without values if it has none at one of them.
func countOf(units []unit, name string, bound Growth, sizes []int, trials []*trial) counted {
	c := counted{unit: name, bound: bound}
	lacking := func(format string, args ...any) counted {
		return counted{unit: name, bound: bound, wrong: name + fmt.Sprintf(format, args...)}
	}
	u, err := find(units, name)
	switch {
	case err != nil:
		return lacking(": no data: %v", err)
	case !u.exact:
		return lacking(" is not a count that repeats exactly")
	}
	for i, tr := range trials {
		f, err := u.of(tr.reading, tr.n)
		if err != nil {
			return lacking(" at %s: no data: %v", number(float64(sizes[i])), err)
		}
		c.values = append(c.values, f.value)
	}
	if len(trials) == 0 {
		return lacking(": no data: no size is left")
	}
	if growth.Order(bound).Outgrows(sizes, c.values) {
		c.wrong = c.outgrown(sizes)
	}
	return c
}

// outgrown says how a count breaks its bound.
func (c *counted) outgrown(sizes []int) string {
	var each []string
	for i, v := range c.values {
		each = append(each, number(v)+" at "+number(float64(sizes[i])))
	}
	what := "grows faster than " + c.bound.String()
	if c.bound == Constant {
		what = "depends on the size"
	}
	return fmt.Sprintf("%s %s: %s", c.unit, what, strings.Join(each, ", "))
}
