package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A variant is a run that is drawn, with the name of its colour.
type variant struct {
	name string
	run  *Report
}

// mostVariants is how many are drawn: a fifth line hides more than it shows.
const mostVariants = 4

// variants are what is drawn of a report side by side: its runs, or, if all of its
// parts have parts or runs of their own (before and after, each with a server and
// a load generator), the first counted run of each part.
func (r *Report) variants() []variant {
	var vs []variant
	switch {
	case len(r.Runs) > 0:
		for i, run := range r.counted() {
			vs = append(vs, variant{"run " + formatCount(float64(i+1)), run})
		}
	case len(r.Parts) > 1 && !slices.ContainsFunc(r.Parts, func(p *Report) bool { return len(p.Parts)+len(p.Runs) == 0 }):
		for _, p := range r.Parts {
			if runs := p.counted(); len(runs) > 0 {
				vs = append(vs, variant{p.Name, runs[0]})
			}
		}
	default:
		return []variant{{"", r}}
	}
	return vs[:min(mostVariants, len(vs))]
}

// A scene is what is drawn of one part of the variants.
type scene struct {
	part   string
	names  []string // of the variants
	tracks []*track // their series, one column for each variant
	curves []*Curve // nil where a variant has none
}

// scenes are the parts of the variants that have anything to draw.
func scenes(vs []variant) []*scene {
	var runs []*Report
	var names []string
	for _, v := range vs {
		runs, names = append(runs, v.run), append(names, v.name)
	}
	var list []*scene
	index := map[string]*scene{}
	at := func(part string) *scene {
		if index[part] == nil {
			index[part] = &scene{part: part, names: names, curves: make([]*Curve, len(vs))}
			list = append(list, index[part])
		}
		return index[part]
	}
	for i, run := range runs {
		run.visit("", func(path string, p *Report) {
			if p.Curve != nil {
				at(path).curves[i] = p.Curve
			}
		})
	}
	for _, t := range align(runs) {
		s := at(t.part)
		s.tracks = append(s.tracks, t)
	}
	return list
}

// The numbers of charts of one part: a page that shows everything shows nothing.
const (
	mostCourses = 4
	mostDists   = 3
	mostBars    = 2
	mostGroups  = 12
)

// figures draws, for each part, how lag, memory and CPU time went, how latencies
// are distributed, and which methods or operations took the time.
func figures(vs []variant) []*figure {
	var all []*figure
	for _, s := range scenes(vs) {
		all = append(all, s.courses()...)
		all = append(all, s.distributions()...)
		all = append(all, s.totals()...)
	}
	return slices.DeleteFunc(all, func(f *figure) bool { return f == nil })
}

// title heads a figure.
func (s *scene) title(words ...string) string {
	return clean(strings.TrimPrefix(s.part+": "+strings.Join(words, " "), ": "))
}

// label is a line's: the attributes, the variant, or both.
func (s *scene) label(of string, variant int) string {
	if s.names[variant] == "" {
		return of
	}
	if of == "" {
		return s.names[variant]
	}
	return of + ", " + s.names[variant]
}

// rank orders metrics by what a person looks for first: what held the service up,
// then memory, CPU time, and the rest. It goes by the words of names, since a
// reader does not know probes.
func rank(name string) int {
	words := strings.Split(name, ".")
	for i, w := range []string{"lag", "memory", "cpu", "duration"} {
		if slices.Contains(words, w) {
			return i
		}
	}
	return 9
}

// byRank sorts names of metrics, each once.
func byRank(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return names
}

// distributions draws percentiles on a logarithmic axis, on which the tail has as
// much room as the body. A chart has the series of one metric.
func (s *scene) distributions() []*figure {
	byName := map[string][]*track{}
	var names []string
	for _, t := range s.tracks {
		if t.desc.Detail || t.desc.Kind != probe.KindDistribution || t.desc.Unit != "s" || t.empty() {
			continue
		}
		names = append(names, t.desc.Name)
		byName[t.desc.Name] = append(byName[t.desc.Name], t)
	}
	var fs []*figure
	for _, name := range byRank(names) {
		if len(fs) == mostDists {
			break
		}
		p := plot{title: s.title(name, "by percentile"), unit: "s", shares: true}
		for _, t := range largest(byName[name], max(1, mostLines/len(s.names))) {
			for i, m := range t.in {
				if m != nil && m.Dist.Count() > 0 {
					p.lines = append(p.lines, plotLine{label: s.label(ownAttrs(t.attrs), i), points: percentiles(m)})
				}
			}
		}
		fs = append(fs, p.figure())
	}
	return fs
}

// percentiles has a point for each bucket: x is 1/(1-q) for the share q of values
// that are below or in it, y its highest value. The maximum is where one value
// more would be.
func percentiles(m *probe.Metric) []point {
	var pts []point
	var seen uint64
	n := m.Dist.Count()
	m.Dist.Each(func(_, high int64, c uint64) {
		v := m.Desc.Value(float64(min(high, max(m.Dist.Max(), 0))))
		if seen == 0 {
			pts = append(pts, point{1, v})
		}
		seen += c
		pts = append(pts, point{float64(n+1) / float64(n+1-seen), v})
	})
	return pts
}

// ownAttrs are the attributes but for the probe's name, which says little and
// takes the room of what says more.
func ownAttrs(as []probe.Attr) string {
	return attrsText(slices.DeleteFunc(slices.Clone(as), func(a probe.Attr) bool { return a.Key == probe.AttrProbeName }))
}

// largest are the tracks with the largest sums, in that order.
func largest(tracks []*track, n int) []*track {
	tracks = slices.Clone(tracks)
	slices.SortStableFunc(tracks, func(a, b *track) int { return cmp.Compare(b.weight(), a.weight()) })
	return tracks[:min(n, len(tracks))]
}

// weight is the largest value or sum in any variant.
func (t *track) weight() float64 {
	w := math.Inf(-1)
	for _, m := range t.in {
		if m != nil && m.Value > w {
			w = m.Value
		}
	}
	return w
}

// totals draws a bar for each method or operation: the time that it took in all.
func (s *scene) totals() []*figure {
	groups := map[string][]*track{}
	var names []string
	for _, t := range s.tracks {
		if t.desc.Unit != "s" || t.desc.Kind == probe.KindGauge || t.desc.Kind == probe.KindPeak || !t.labelled() || t.weight() <= 0 {
			continue
		}
		names = append(names, t.desc.Name)
		groups[t.desc.Name] = append(groups[t.desc.Name], t)
	}
	names = byRank(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(weigh(groups[b]), weigh(groups[a])) })
	var fs []*figure
	for _, name := range names[:min(mostBars, len(names))] {
		var gs []barGroup
		for _, t := range largest(groups[name], mostGroups) {
			g := barGroup{label: ownAttrs(t.attrs)}
			for _, m := range t.in {
				v := math.NaN()
				if m != nil {
					v = m.Value
				}
				g.values = append(g.values, v)
			}
			gs = append(gs, g)
		}
		fs = append(fs, bars(s.title(name, "in all"), "s", s.names, gs))
	}
	return fs
}

// labelled tells whether the series is that of a method or of an operation.
func (t *track) labelled() bool {
	return slices.ContainsFunc(t.attrs, func(a probe.Attr) bool {
		return a.Key == probe.AttrMethod || strings.HasSuffix(a.Key, "operation.name") || a.Key == probe.AttrRole
	})
}

// weigh sums up the weights.
func weigh(tracks []*track) (sum float64) {
	for _, t := range tracks {
		sum += t.weight()
	}
	return sum
}
