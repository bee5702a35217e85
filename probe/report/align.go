package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A track is one series followed through several runs: the same metric with the
// same attributes in the same part of each.
type track struct {
	part  string // path of the part, joined by slashes; "" is the run itself
	desc  *probe.Desc
	attrs []probe.Attr
	in    []*probe.Metric // one for each run, nil where the run has none
	of    []*Report       // the part that holds it, nil where the run has none
}

// align finds the series of the runs. They are ordered by part, as the first run
// has them, then by name and attributes.
func align(runs []*Report) []*track {
	var tracks []*track
	index := map[string]*track{}
	var parts []string
	for i, run := range runs {
		run.visit("", func(path string, p *Report) {
			parts = appendPath(parts, path)
			for k := range p.reading.Metrics {
				m := &p.reading.Metrics[k]
				attrs := sortedAttrs(m)
				// A metric that has changed its kind or unit is another one.
				key := path + "\x00" + m.Kind.String() + m.Unit + "\x00" + seriesKey(&probe.Metric{Desc: m.Desc, Attrs: attrs}, "")
				t := index[key]
				if t == nil {
					t = &track{part: path, desc: m.Desc, attrs: attrs,
						in: make([]*probe.Metric, len(runs)), of: make([]*Report, len(runs))}
					index[key] = t
					tracks = append(tracks, t)
				}
				t.in[i], t.of[i] = m, p
			}
		})
	}
	slices.SortStableFunc(tracks, func(a, b *track) int {
		return cmp.Or(cmp.Compare(slices.Index(parts, a.part), slices.Index(parts, b.part)),
			cmp.Compare(a.desc.Name, b.desc.Name), cmp.Compare(attrsText(a.attrs), attrsText(b.attrs)))
	})
	return tracks
}

// appendPath adds a path once; "" is one too.
func appendPath(paths []string, path string) []string {
	if slices.Contains(paths, path) {
		return paths
	}
	return append(paths, path)
}

// visit calls f for the report and the parts below it.
func (r *Report) visit(path string, f func(path string, p *Report)) {
	f(path, r)
	for _, p := range r.Parts {
		p.visit(strings.TrimPrefix(path+"/"+p.Name, "/"), f)
	}
}

// sortedAttrs are a series' attributes in the order of their keys, as a file has
// them, so that one from a file and one in memory are the same.
func sortedAttrs(m *probe.Metric) []probe.Attr {
	return slices.SortedFunc(slices.Values(m.Attrs), func(a, b probe.Attr) int { return cmp.Compare(a.Key, b.Key) })
}

// cells evaluates a statistic of the series in each run.
func (t *track) cells(stat string) cells {
	cs := make(cells, len(t.in))
	for i, m := range t.in {
		if m != nil {
			cs[i] = cellOf(&found{desc: m.Desc, value: m.Value, dist: m.Dist, prov: m.Prov, secs: t.of[i].Duration.Seconds()}, stat)
		}
	}
	return cs
}

// how is the provenance of all runs.
func (t *track) how() string {
	var hows []string
	for _, m := range t.in {
		if m != nil {
			hows = appendNew(hows, provText(m.Prov, m.Kind))
		}
	}
	return strings.Join(hows, "; ")
}
