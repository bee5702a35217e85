package probetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// What the readings of a database probe hold of single statements: a detail
// counter by statement, or else an event for each.
const (
	metricStatements = "tidestaff.db.statements"
	eventSlow        = "tidestaff.db.slow"
	other            = "(other)" // the text of statements that are not kept apart
	metricQueries    = "tidestaff.db.queries"

	attrText      = "db.query.text" // without literals
	attrOperation = "tidestaff.db.operation"
	attrPlan      = "tidestaff.sqlite.plan"
	attrTable     = "tidestaff.sqlite.table"
	attrArguments = "tidestaff.db.arguments" // a hash of their values
	attrSite      = "tidestaff.db.call_site" // "fleet.go:88"
)

// scanning are the classes of plans that read a table from end to end.
var scanning = []string{"scan", "scan+sort", "automatic index"}

// A statement is a statement's text as one place in the program executes it.
type statement struct {
	text, method, role, site string

	n    int
	busy time.Duration // 0 if it is not known
	scan bool
	// arguments counts executions by the hash of their arguments; nil if these
	// are not known.
	arguments map[string]int
}

// place is who executes the statement.
func (s *statement) place() string {
	return strings.Join(slices.DeleteFunc([]string{s.method, s.site}, func(w string) bool { return w == "" }), " ")
}

// repeats is how many executions in ops operations asked what an earlier one of the
// same operation had asked. known is false if the arguments are not known and could
// have differed.
func (s *statement) repeats(ops int) (n int, known bool) {
	switch {
	case s.n <= ops:
		return 0, true
	case s.arguments == nil && strings.ContainsAny(s.text, "?:@$"):
		return 0, false // a parameter, or a literal that is not shown
	case s.arguments == nil:
		return s.n - ops, true
	}
	for _, times := range s.arguments {
		n += max(times-ops, 0)
	}
	return n, true
}

// statements are all statements of the readings of one window.
type statements struct {
	list []*statement
	// lack says why they are not all known, "" if they are.
	lack string
}

// statementsOf finds the statements in a reading over ops operations, those of the
// roles if there are any.
func statementsOf(r *probe.Reading, ops int, roles []string) statements {
	var all statements
	for m := range r.Find(metricStatements) {
		switch n := int(m.Value); {
		case n > 0 && m.Attr(attrText) == other:
			all.lack = fmt.Sprintf("%d statements are beyond what is kept apart: with sqlitetrace, Options.Statements", n)
		case n > 0 && isOf(m, roles):
			all.add(m.Attr, n, 0)
		}
	}
	if len(all.list) == 0 && all.lack == "" {
		all.fromEvents(r, roles)
	}
	all.scans(r)
	slices.SortFunc(all.list, func(a, b *statement) int {
		ra, _ := a.repeats(ops)
		rb, _ := b.repeats(ops)
		return cmp.Or(cmp.Compare(rb, ra), cmp.Compare(b.n, a.n), cmp.Compare(a.text, b.text), cmp.Compare(a.place(), b.place()), cmp.Compare(a.role, b.role))
	})
	return all
}

// fromEvents takes the statements from the events of slow ones, which are all
// that there were if nothing is too fast for them.
func (all *statements) fromEvents(r *probe.Reading, roles []string) {
	known := 0
	for i := range r.Events {
		e := &r.Events[i]
		attr := func(key string) string {
			j := slices.IndexFunc(e.Attrs, func(a probe.Attr) bool { return a.Key == key })
			if j < 0 {
				return ""
			}
			return e.Attrs[j].Value
		}
		if e.Name != eventSlow || attr(attrOperation) == "tx" || !in(attr(probe.AttrRole), roles) {
			continue
		}
		known++
		all.add(attr, 1, e.Duration)
	}
	total := 0
	for m := range r.Find(metricQueries) {
		if isOf(m, roles) {
			total += int(m.Value)
		}
	}
	if known < total {
		all.lack = fmt.Sprintf("the texts of %d of %d statements are known: with sqlitetrace, Options.Statements tells of them", known, total)
	}
}

// add counts n executions of the statement that the attributes tell of.
func (all *statements) add(attr func(string) string, n int, busy time.Duration) {
	text := strings.Join(strings.Fields(attr(attrText)), " ")
	s := statement{text: text, method: attr(probe.AttrMethod), role: attr(probe.AttrRole), site: attr(attrSite)}
	i := slices.IndexFunc(all.list, func(o *statement) bool {
		return o.text == s.text && o.method == s.method && o.role == s.role && o.site == s.site
	})
	if i < 0 {
		i = len(all.list)
		all.list = append(all.list, &s)
	}
	o := all.list[i]
	o.n += n
	o.busy += busy
	o.scan = o.scan || slices.Contains(scanning, attr(attrPlan))
	if hash := attr(attrArguments); hash != "" {
		if o.arguments == nil {
			o.arguments = map[string]int{}
		}
		o.arguments[hash] += n
	}
}

// joined puts together what a method executes at several lines: to ask again for
// the same is one fault, wherever it is asked.
func joined(list []*statement) (all []*statement) {
	for _, s := range list {
		i := slices.IndexFunc(all, func(o *statement) bool { return o.text == s.text && o.method == s.method && o.role == s.role })
		if i < 0 {
			first := *s
			first.arguments = maps.Clone(s.arguments)
			all = append(all, &first)
			continue
		}
		o := all[i]
		o.n += s.n
		o.site, o.scan = o.site+", "+s.site, o.scan || s.scan
		for hash, n := range s.arguments {
			if o.arguments != nil {
				o.arguments[hash] += n
			}
		}
		if s.arguments == nil {
			o.arguments = nil
		}
	}
	return all
}

// scans marks the statements that scan, where their own record does not say so:
// those of a method that scans a table whose name is in the text.
func (all *statements) scans(r *probe.Reading) {
	for m := range r.Find(metricScans) {
		if m.Value == 0 {
			continue
		}
		for _, s := range all.list {
			if s.method == m.Attr(probe.AttrMethod) && s.role == m.Attr(probe.AttrRole) && hasWord(s.text, m.Attr(attrTable)) {
				s.scan = true
			}
		}
	}
}

// hasWord reports whether word stands in the text as a whole word, in any case.
func hasWord(text, word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" ,;()\"`[]=.", r)
	}), func(w string) bool { return strings.EqualFold(w, word) })
}

// isOf reports whether the series is one of the roles; no roles are all.
func isOf(m *probe.Metric, roles []string) bool { return in(m.Attr(probe.AttrRole), roles) }

func in(role string, roles []string) bool { return len(roles) == 0 || slices.Contains(roles, role) }
