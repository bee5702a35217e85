package probetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// SameAt wants counts not to grow with the data: it calls prepare for each size,
// executes the operation that it returns once in a window over p, and fails the
// test unless each unit has the same value at every size. Without units it is
// "queries/op". A count that is the same at 1, 10 and 100 rows is neither brittle,
// as a number is, nor a matter of the machine.
//
//	probetest.SameAt(t, sqlp, []int{1, 10, 100}, func(n int) (op func()) {
//		store := seeded(t, n)
//		return func() { store.List(ctx) }
//	})
func SameAt(t testing.TB, p probe.Probe, sizes []int, prepare func(n int) (op func()), units ...string) {
	t.Helper()
	if len(units) == 0 {
		units = []string{"queries/op"}
	}
	var trials []*trial
	for _, size := range sizes {
		tr, ok := try(t, p, 1, prepare(size))
		if !ok {
			return
		}
		trials = append(trials, tr)
	}
	for _, name := range units {
		if text := grows(trials, sizes, name); text != "" {
			t.Errorf("%s", text)
		}
	}
}

// grows says what is wrong with a unit over the sizes, "" if it is the same.
func grows(trials []*trial, sizes []int, name string) string {
	var values []float64
	var texts []string
	for i, tr := range trials {
		u, err := find(tr.units, name)
		if err != nil {
			return err.Error()
		}
		f, err := u.of(tr.reading, tr.n)
		switch {
		case err != nil:
			return fmt.Sprintf("%s at %d: no data: %v", name, sizes[i], err)
		case !u.exact:
			return name + " is not a count that repeats exactly"
		}
		values = append(values, f.value)
		texts = append(texts, number(f.value)+" at "+number(float64(sizes[i])))
	}
	if len(values) == 0 || slices.Min(values) == slices.Max(values) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s depends on the size: %s\n", name, strings.Join(texts, ", "))
	if aboutOf(name) == "sql" {
		if rows := growing(trials); len(rows) > 0 {
			b.WriteString("  statements whose count differs:\n")
			writeRows(&b, rows)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// growing lists the statements that were not executed equally often in all trials,
// with their count in each, those first that grew most.
func growing(trials []*trial) [][]string {
	type key struct{ text, method, site, role string }
	counts := map[key][]int{}
	for i, tr := range trials {
		for _, s := range statementsOf(tr.reading, tr.n, nil).list {
			k := key{s.text, s.method, s.site, s.role}
			if counts[k] == nil {
				counts[k] = make([]int, len(trials))
			}
			counts[k][i] += s.n
		}
	}
	var keys []key
	for k, n := range counts {
		if slices.Min(n) != slices.Max(n) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(slices.Max(counts[b]), slices.Max(counts[a])), cmp.Compare(a.text, b.text),
			cmp.Compare(a.method, b.method), cmp.Compare(a.site, b.site), cmp.Compare(a.role, b.role))
	})
	var rows [][]string
	for _, k := range keys {
		var each []string
		for _, n := range counts[k] {
			each = append(each, fmt.Sprint(n))
		}
		rows = append(rows, []string{strings.Join(each, ", ") + "x", short(k.text), k.method, k.site, k.role})
	}
	return rows
}
