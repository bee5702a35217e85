package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// drawn is sample with a curve that has something of everything.
func drawn(t testing.TB) *Report {
	r := sample(t)
	n := 30
	c := &Curve{}
	series := func(name, unit, stat string, attrs []probe.Attr, f func(i int) float64) {
		s := Series{Name: name, Unit: unit, Stat: stat, Attrs: attrs}
		for i := range n {
			s.Values = append(s.Values, f(i))
		}
		c.Series = append(c.Series, s)
	}
	for i := range n {
		c.At, c.For = append(c.At, time.Duration(i)*time.Second), append(c.For, time.Second)
	}
	total := []probe.Attr{{Key: "component", Value: "total"}}
	lag := func(i int) float64 {
		if i%10 == 3 {
			return math.NaN()
		}
		return 0.001 * float64(1+i%7)
	}
	series("tidestaff.lag.total", "s", "p95", total, lag)
	series("tidestaff.lag.total", "s", "max", total, func(i int) float64 { return 2 * lag(i) })
	series("process.memory.usage", "By", "value", nil, func(i int) float64 { return float64(i+1) * (8 << 20) })
	series("process.memory.peak", "By", "value", nil, func(i int) float64 { return float64(i+2) * (8 << 20) })
	series("process.cpu.time", "s", "value", nil, func(i int) float64 { return 0.25 })
	series("db.wait", "s", "max", total, func(i int) float64 { return math.NaN() })
	r.Curve = c
	return r
}

func TestHTMLGolden(t *testing.T) {
	r := Join("team", drawn(t))
	r.AtMost(Row{Label: "rows", Part: "after", Metric: "tidestaff.rows"}, 19_000)
	golden(t, "report.html", r.WriteHTML)
	before, after := repeats(t)
	for _, run := range before.Runs {
		run.Parts[0].Name = "after"
		run.Parts[0].Conditions = nil
	}
	golden(t, "repeats.html", after.WriteHTML)
	c := Compare(before, after, CompareOptions{Better: map[string]string{"tidestaff.rows": "lower"}})
	golden(t, "compare.html", c.WriteHTML)
}

// walk reads a page as XML, strictly, and calls f for every element: what the
// template leaves unbalanced or unquoted is an error.
func walk(t *testing.T, page string, f func(xml.StartElement)) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		if e, ok := token.(xml.StartElement); ok {
			f(e)
		}
	}
}

// hostile are texts that a page, a table or a terminal could take for its own.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'; url(http://x/)`, "</style></svg>", "{{.}}", "a\x00b\x1b[31m\u2028", "\xff\xfe", "]]>", "--><!--",
	"SELECT a|b\nFROM t -- | x\r\n\n| y |", "**b** _i_ `c` [l](http://x/) ~~s~~ \\| \\",
}

// A written is a report or a comparison.
type written interface {
	WriteTerminal(io.Writer) error
	WriteMarkdown(io.Writer) error
	WriteHTML(io.Writer) error
}

// named are a report with parts, its repeats and a comparison, whose every name and
// text is evil.
func named(t *testing.T, evil string) []written {
	r := drawn(t)
	r.Name = evil
	r.Deviations = []string{evil}
	r.Conditions.Set(evil, evil)
	r.Provenance.CPUModel = evil
	r.Unmeasured(evil, evil)
	r.reading.Absent = append(r.reading.Absent, probe.Absent{Name: evil, Reason: evil})
	r.reading.Events[0].Text, r.reading.Events[0].Cause, r.reading.Events[0].Name = evil, evil, evil
	attrs := []probe.Attr{{Key: probe.AttrMethod, Value: evil}, {Key: evil, Value: evil}}
	for i := range r.reading.Metrics {
		r.reading.Metrics[i].Attrs = slices.Concat(r.reading.Metrics[i].Attrs, attrs)
	}
	for i := range r.Curve.Series {
		r.Curve.Series[i].Attrs = attrs
	}
	excluded := sample(t)
	excluded.Excluded = evil
	whole := Join(evil, r)
	runs := Repeat(evil, whole, excluded)
	return []written{whole, runs, Compare(whole, runs, CompareOptions{Metrics: []string{"tidestaff.rows"}, All: true})}
}

// Names from outside are text, whatever is in them, and a page asks for nothing
// beyond itself.
func TestHTMLHostileNames(t *testing.T) {
	for _, evil := range hostile {
		for _, n := range named(t, evil) {
			var b strings.Builder
			if err := n.WriteHTML(&b); err != nil {
				t.Fatal(err)
			}
			elements := 0
			walk(t, b.String(), func(e xml.StartElement) {
				elements++
				if !slices.Contains(strings.Fields("html head meta title style body h1 h2 p div table thead tbody tr th td small b span figure figcaption svg line path rect text"), e.Name.Local) {
					t.Errorf("%q: element <%s>", evil, e.Name.Local)
				}
				for _, a := range e.Attr {
					if !slices.Contains(strings.Fields("lang charset name content class viewBox role aria-label x y x1 x2 y1 y2 dy d width height"), a.Name.Local) {
						t.Errorf("%q: attribute %s of <%s>", evil, a.Name.Local, e.Name.Local)
					}
				}
			})
			if elements < 50 || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "ZgotmplZ") {
				t.Errorf("%q: %d elements, or a NaN, or something that the template refused:\n%s", evil, elements, b.String())
			}
		}
	}
}

// TestTextHostileNames: in Markdown no text ends a cell, a row or a table, or begins a
// line of its own, and none commands a terminal.
func TestTextHostileNames(t *testing.T) {
	for _, evil := range hostile {
		for _, n := range named(t, evil) {
			var b strings.Builder
			if err := n.WriteMarkdown(&b); err != nil {
				t.Fatal(err)
			}
			columns, rows := 0, 0 // of the table that goes on
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				switch {
				case strings.HasPrefix(line, "| "):
					if columns == 0 {
						columns = cellEnds(line)
					}
					if rows++; cellEnds(line) != columns {
						t.Errorf("%q: %d cells where the table has %d:\n%s", evil, cellEnds(line), columns, line)
					}
				case line == "", strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**"),
					strings.HasPrefix(line, "<sub>") && strings.HasSuffix(line, "</sub>"):
					columns = 0
				default:
					t.Errorf("%q: got the line %q", evil, line)
				}
			}
			if rows < 3 {
				t.Errorf("%q: got %d rows of tables, want some:\n%s", evil, rows, b.String())
			}
			if err := n.WriteTerminal(&b); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u2028' }) {
				t.Errorf("%q: got control characters in %q", evil, b.String())
			}
		}
	}
}

// cellEnds counts the ends of cells in a line of a table, as GitHub does.
func cellEnds(line string) (n int) {
	escaped := false
	for _, r := range line {
		if r == '|' && !escaped {
			n++
		}
		escaped = r == '\\' && !escaped
	}
	return n
}

// Whatever the values, no coordinate is outside the frame.
func TestFigureStaysInItsFrame(t *testing.T) {
	nan := math.NaN()
	for _, vs := range [][]float64{{0, 1}, {1e-9, 3600}, {nan, 1}, {1, nan, 1, nan}, {nan}, {0, 0}, {5}, {math.Inf(1), 1}, {1e300, 1e-300}, {-1, 1}, nil} {
		var pts []point
		for i, v := range vs {
			pts = append(pts, point{float64(i), v})
		}
		for _, unit := range []string{"s", "By", "1", "{x}"} {
			p := plot{unit: unit, lines: []plotLine{{"a", "a", pts}, {"b", "b", nil}}}
			f := p.figure()
			if f == nil {
				continue
			}
			for _, l := range f.Lines {
				for _, at := range strings.FieldsFunc(l.Path, func(r rune) bool { return r == 'M' || r == 'L' }) {
					var x, y float64
					if _, err := fmt.Sscanf(at, "%f,%f", &x, &y); err != nil || x < plotLeft || x > plotRight || !(y >= plotTop && y <= plotBottom) {
						t.Errorf("%v in %s: %s is outside (%v)", vs, unit, at, err)
					}
				}
			}
			if len(f.YTicks) > 60 || len(f.XTicks) > 20 {
				t.Errorf("%v in %s: %d and %d ticks", vs, unit, len(f.XTicks), len(f.YTicks))
			}
		}
	}
}

// What stands side by side is drawn in one chart.
func TestVariants(t *testing.T) {
	part := func(name string) *Report { r := drawn(t); r.Name = name; return r }
	excluded := Join("x", part("server"))
	excluded.Excluded = "a backup was running"
	before, after := Join("before", part("server"), part("load")), Join("after", part("server"))
	for _, tt := range []struct {
		name string
		r    *Report
		want []string
	}{
		{"one", part("server"), []string{""}},
		{"a server and its load", Join("run", part("server"), part("load")), []string{""}},
		{"two variants", Join("team", before, after), []string{"before", "after"}},
		{"two variants of several runs", Join("team", Repeat("before", excluded, before), Repeat("after", after)), []string{"before", "after"}},
		{"no run that counts", Join("team", Repeat("before", excluded), Repeat("after", after)), []string{"after"}},
		{"runs", Repeat("after", after, excluded, after), []string{"run 1", "run 2"}},
		{"many runs", Repeat("after", after, after, after, after, after), []string{"run 1", "run 2", "run 3", "run 4"}},
	} {
		var got []string
		for _, v := range tt.r.variants() {
			got = append(got, v.name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, f := range figures(Join("team", before, after).variants()) {
		if strings.HasPrefix(f.Title, "server: tidestaff.lag.total by") && len(f.Keys) != 2 {
			t.Errorf("%s has %d lines with keys, want before and after", f.Title, len(f.Keys))
		}
	}
}

// A chart with little room keeps the highest series, each with all of its variants.
func TestHighest(t *testing.T) {
	line := func(label, series string, y float64) plotLine {
		return plotLine{label, series, []point{{0, math.NaN()}, {1, y}}}
	}
	lines := []plotLine{line("a before", "a", 9), line("b before", "b", 5), line("c before", "c", 8),
		line("a after", "a", 1), line("b after", "b", 2), line("c after", "c", 3)}
	var got []string
	for _, l := range highest(lines, 2) {
		got = append(got, l.label)
	}
	if diff := cmp.Diff([]string{"a before", "a after", "c before", "c after"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// A long run keeps its spikes.
func TestThin(t *testing.T) {
	pts := make([]point, 100_000)
	for i := range pts {
		pts[i] = point{float64(i), 1}
	}
	pts[54_321].y = 9
	thinned := thin(pts)
	if len(thinned) != mostPoints || !slices.Contains(thinned, point{54_321, 9}) {
		t.Errorf("got %d points, want %d with the spike", len(thinned), mostPoints)
	}
}

func TestNiceSteps(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		n         int
		want      string
	}{
		{0, 1, 5, "[0 0.2 0.4 0.6 0.8 1]"},
		{0, 0.3, 3, "[0 0.1 0.2 0.3]"},
		{0, 38, 8, "[0 5 10 15 20 25 30 35]"},
		{3, 4, 2, "[3 3.5 4]"},
		{1, 1, 5, "[]"},
		{math.NaN(), 1, 5, "[]"},
	} {
		if got := fmt.Sprint(niceSteps(tt.low, tt.high, tt.n)); got != tt.want {
			t.Errorf("niceSteps(%v, %v, %d) = %s, want %s", tt.low, tt.high, tt.n, got, tt.want)
		}
	}
}
