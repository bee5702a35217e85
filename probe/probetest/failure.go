package probetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of series of files; those with a path are details.
const (
	attrPath          = "tidestaff.file.path"
	attrFileOperation = "tidestaff.file.operation"
	attrDirection     = "disk.io.direction"
)

const (
	maxRows  = 20 // of a list in a failure's text
	maxWidth = 72 // of a statement in it
)

// message is the text of a verdict, "" if no finding has it. It holds everything
// that was measured, since a test that fails is often not run again with other
// eyes; its order does not depend on times, so that two of them can be compared.
func (t *trial) message(found []finding, verdicts ...verdict) string {
	var b strings.Builder
	n, about := 0, map[string]bool{}
	for _, f := range found {
		if slices.Contains(verdicts, f.verdict) {
			n++
			about[f.about] = true
			fmt.Fprintf(&b, "  %s\n", f.text)
		}
	}
	if n == 0 {
		return ""
	}
	if about["sql"] {
		t.writeStatements(&b)
	}
	if about["file"] {
		t.writeFiles(&b)
	}
	t.writeFigures(&b)
	if t.shared {
		b.WriteString("  another test's window was open too: what has no role is of both\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// writeStatements lists the statements by text and place, or if their texts are
// not known the methods.
func (t *trial) writeStatements(b *strings.Builder) {
	all := statementsOf(t.reading, t.n, nil)
	var rows [][]string
	for _, s := range all.list {
		rows = append(rows, []string{fmt.Sprintf("%dx", s.n), short(s.text), s.method, s.site, s.role, duration(s.busy), s.marks(t.n)})
	}
	if all.lack != "" && len(rows) == 0 {
		rows = methods(t.reading)
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "  statements of %s:\n", operations(t.n))
	writeRows(b, rows)
	if all.lack != "" && !strings.Contains(b.String(), all.lack) {
		fmt.Fprintf(b, "    %s\n", all.lack)
	}
}

// marks are what is wrong with a statement at first sight.
func (s *statement) marks(ops int) string {
	var marks []string
	if n, known := s.repeats(ops); known && n > 0 {
		marks = append(marks, fmt.Sprintf("%d identical", n))
	}
	if s.scan {
		marks = append(marks, "FULL SCAN")
	}
	switch {
	case s.n > nPlusOne*ops && len(s.arguments) > nPlusOne:
		marks = append(marks, fmt.Sprintf("N+1? %d different arguments", len(s.arguments)))
	case s.n > nPlusOne*ops && s.arguments == nil && strings.ContainsAny(s.text, "?:@$"):
		marks = append(marks, "N+1?")
	}
	return strings.Join(marks, ", ")
}

// methods lists the queries of a reading by method and role.
func methods(r *probe.Reading) [][]string {
	type key struct{ method, role string }
	counts := map[key]float64{}
	for m := range r.Find(metricQueries) {
		counts[key{m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole)}] += m.Value
	}
	var keys []key
	for k, n := range counts {
		if n > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.method, b.method), cmp.Compare(a.role, b.role))
	})
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{number(counts[k]) + "x", k.method, k.role})
	}
	return rows
}

// writeFiles lists the files, if a probe tells them apart, the most read first.
func (t *trial) writeFiles(b *strings.Builder) {
	reads, details := map[string]float64{}, map[string][]string{}
	for i := range t.reading.Metrics {
		m := &t.reading.Metrics[i]
		path := m.Attr(attrPath)
		if path == "" || m.Kind != probe.KindCounter || m.Value == 0 {
			continue
		}
		what := cmp.Or(m.Attr(attrFileOperation), m.Attr(attrDirection))
		if what == "read" && m.Unit != "By" {
			reads[path] += m.Value
		}
		details[path] = append(details[path], detail(m, what))
	}
	if len(details) == 0 {
		return
	}
	var rows [][]string
	for _, path := range slices.SortedFunc(maps.Keys(details), func(a, b string) int {
		return cmp.Or(cmp.Compare(reads[b], reads[a]), cmp.Compare(a, b))
	}) {
		slices.Sort(details[path])
		rows = append(rows, []string{number(reads[path]) + "x", path, strings.Join(details[path], ", ")})
	}
	fmt.Fprintf(b, "  reads of files in %s:\n", operations(t.n))
	writeRows(b, rows)
}

// detail is a series of a file in words: "open 2", "read 70,000 B", "unchanged
// passes 3".
func detail(m *probe.Metric, what string) string {
	if what == "" {
		what = strings.ReplaceAll(m.Name[strings.LastIndexByte(m.Name, '.')+1:], "_", " ")
	}
	text := what + " " + number(m.Value)
	if m.Unit == "By" {
		text += " B"
	}
	return text
}

// writeFigures lists all units that have a value, but for those of the empty rest.
func (t *trial) writeFigures(b *strings.Builder) {
	var all []string
	for i := range t.units {
		if f, err := t.units[i].of(t.reading, t.n); err == nil {
			all = append(all, number(f.value)+" "+t.units[i].name)
		}
	}
	if len(all) == 0 {
		return
	}
	b.WriteString("  measured:")
	width := len("  measured:")
	for i, s := range all {
		if i < len(all)-1 {
			s += ","
		}
		if width+1+len(s) > 110 {
			b.WriteString("\n   ")
			width = 3
		}
		b.WriteString(" " + s)
		width += 1 + len(s)
	}
	b.WriteString("\n")
}

// writeRows writes rows as aligned columns, those that are empty in all rows left
// out, and says how many there was no room for.
func writeRows(b *strings.Builder, rows [][]string) {
	more := max(len(rows)-maxRows, 0)
	rows = rows[:len(rows)-more]
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		line.WriteString("   ")
		for i, cell := range row {
			switch pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)); {
			case widths[i] == 0:
			case i == 0: // a count stands on the right
				line.WriteString(" " + pad + cell)
			default:
				line.WriteString("  " + cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if more > 0 {
		fmt.Fprintf(b, "    and %d more\n", more)
	}
}

// short is a statement's text in one piece that fits into a line.
func short(text string) string {
	if utf8.RuneCountInString(text) <= maxWidth {
		return text
	}
	return string([]rune(text)[:maxWidth-1]) + "…"
}

func duration(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

func operations(n int) string {
	if n == 1 {
		return "1 operation"
	}
	return number(float64(n)) + " operations"
}
