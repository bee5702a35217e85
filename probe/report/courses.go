package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A course is one metric over time: its series in the curves of the variants.
type course struct {
	name, unit string
	lines      []plotLine
}

// courses draws the curves: of each distribution of times the 95th percentile or
// the maximum, of levels in bytes their values, of CPU time how many CPUs were
// busy.
func (s *scene) courses() []*figure {
	byName := map[string]*course{}
	var names []string
	for i, c := range s.curves {
		if c == nil {
			continue
		}
		for k := range c.Series {
			name, unit, values := c.drawn(&c.Series[k])
			if name == "" {
				continue
			}
			if byName[name] == nil {
				byName[name] = &course{name: name, unit: unit}
				names = append(names, name)
			}
			series := seriesText(&c.Series[k])
			line := plotLine{label: s.label(series, i), series: series}
			for n, v := range values {
				line.points = append(line.points, point{(c.At[n] + c.For[n]).Seconds(), v})
			}
			byName[name].lines = append(byName[name].lines, line)
		}
	}
	var fs []*figure
	for _, name := range byRank(names) {
		if len(fs) == mostCourses {
			break
		}
		c := byName[name]
		p := plot{title: s.title(c.name), unit: c.unit, lines: highest(c.lines, max(1, mostLines/len(s.names)))}
		if f := p.figure(); f != nil {
			fs = append(fs, f)
		}
	}
	return fs
}

// drawn is the chart that a series of a curve belongs to, and its values there;
// no name if it is in none.
func (c *Curve) drawn(s *Series) (name, unit string, values []float64) {
	words := strings.Split(s.Name, ".")
	switch {
	case strings.HasPrefix(s.Name, hostPrefix):
	case len(s.Values) != len(c.At) || len(c.For) != len(c.At): // made by hand
	case s.Unit == "s" && (s.Stat == "p95" || s.Stat == "max"):
		if c.timeStat(s) == s.Stat {
			return s.Name + ", " + s.Stat + " of each slice", s.Unit, s.Values
		}
	case s.Unit == "By" && s.Stat == "value" && slices.Contains(words, "memory"):
		// One chart for all levels of a thing: its name without the last word.
		return strings.Join(words[:len(words)-1], "."), s.Unit, s.Values
	case s.Unit == "s" && s.Stat == "value" && slices.Contains(words, "cpu"):
		return s.Name + ", CPUs busy", "1", c.perSecond(s)
	}
	return "", "", nil
}

// timeStat is the 95th percentile where most slices have the 20 values for one,
// else the maximum.
func (c *Curve) timeStat(s *Series) string {
	for i := range c.Series {
		o := &c.Series[i]
		if o.Name == s.Name && o.Stat == "p95" && slices.Equal(o.Attrs, s.Attrs) {
			there := 0
			for _, v := range o.Values {
				if !math.IsNaN(v) {
					there++
				}
			}
			if 2*there > len(o.Values) {
				return "p95"
			}
		}
	}
	return "max"
}

// perSecond divides what a counter gained by how long each slice was.
func (c *Curve) perSecond(s *Series) []float64 {
	vs := make([]float64, len(s.Values))
	for i, v := range s.Values {
		vs[i] = math.NaN()
		// What Close leaves of the last slice is no measure of a second.
		if secs := c.For[i].Seconds(); secs > 0 && 10*c.For[i] >= c.For[0] {
			vs[i] = v / secs
		}
	}
	return vs
}

// seriesText tells series of one chart apart: a level by the last word of its
// name, others by their attributes alone.
func seriesText(s *Series) string {
	text := ownAttrs(s.Attrs)
	if s.Unit == "By" {
		text = strings.TrimSpace(s.Name[strings.LastIndexByte(s.Name, '.')+1:] + " " + text)
	}
	return text
}

// highest are the lines of the n series with the highest points, each with all of
// its variants, the highest first.
func highest(lines []plotLine, n int) []plotLine {
	top := map[string]float64{}
	var names []string
	for _, l := range lines {
		if _, ok := top[l.series]; !ok {
			top[l.series] = math.Inf(-1)
			names = append(names, l.series)
		}
		for _, p := range l.points {
			if p.y > top[l.series] {
				top[l.series] = p.y
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(top[b], top[a]) })
	var kept []plotLine
	for _, name := range names[:min(n, len(names))] {
		for _, l := range lines {
			if l.series == name {
				kept = append(kept, l)
			}
		}
	}
	return kept
}
