package probe

import (
	"math"
	"slices"
	"time"
)

// attrStat tells the series of a course apart.
const attrStat = "tidestaff.stat"

// courseStats are the values of attrStat, in the order of courseView.stats.
var courseStats = [...]string{"base", "min", "mean", "max", "last", "rise", "first_half", "second_half"}

// A course is what [Gauge.Course] and [Peak.Growth] add to a series: further
// series that are made of the same observations.
type course struct {
	desc  *Desc
	attrs [][]Attr // of a gauge's course by courseStats; of a growth only one
	over  *Gauge   // of a growth: where its base is
}

// Course adds, to each window, how the gauge went within it: each Set is a look
// at the level. The series of d, in the gauge's own unit, carry attrs and the
// attribute tidestaff.stat:
//
//   - base: the level when the window was opened, the first look;
//   - min, mean, max, last: of all looks, each of which counts the same;
//   - rise: the slope of the least-squares line, times the window's length;
//   - first_half, second_half: the mean of each half of the window. Levels are
//     kept by at most 64 slices of it, and the slice across the middle, at most
//     a thirty-second of the window, is in neither.
//
// All are labelled as sampled, with the number of looks and the longest time
// between two; the halves with their own number. Windows are independent: each
// has its own base, however they overlap, and Next begins a new course.
//
// A gauge has one course; asking again does nothing. A Set of such a gauge takes
// a lock for each open window's sake: it is for levels that are sampled, not for
// hot paths. A level of NaN is no look.
func (g *Gauge) Course(d *Desc, attrs ...Attr) {
	c := g.core
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.series[g.at]
	if s.course != nil {
		return
	}
	k := &course{desc: c.declare(d, KindGauge)}
	for _, stat := range courseStats {
		k.attrs = append(k.attrs, c.named(append(slices.Clone(attrs), Attr{attrStat, stat})))
	}
	s.course = k
	g.followed.Store(true)
}

// Growth adds, to each window, how far the peak lies above the level at which
// the window was opened, as the gauge over had it; it is not negative. It is as
// exact as the peak and says so in the same way. Its name ends in ".growth", by
// which readers know that it is over each window's own start and does not nest. A
// peak has one growth; asking again does nothing.
func (p *Peak) Growth(d *Desc, over *Gauge, attrs ...Attr) {
	c := p.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.series[p.at]; s.course == nil {
		s.course = &course{desc: c.declare(d, KindPeak), attrs: [][]Attr{c.named(slices.Clone(attrs))}, over: over}
	}
}

// observe shows a look to every open window.
func (g *Gauge) observe(v float64) {
	now := Now()
	g.core.mu.Lock()
	defer g.core.mu.Unlock()
	for _, part := range g.core.parts {
		part.grow()
		if w := part.bases[g.at].course; w != nil {
			w.sample(v, now)
		}
	}
}

// rebaseCourse begins the window's course of series i, under mu. Its first look
// is the present level, which the reading that opens a window has just taken.
func (p *part) rebaseCourse(i int, now int64) {
	s, b := p.core.series[i], &p.bases[i]
	switch {
	case s.course == nil:
	case s.peak != nil:
		b.peak.level = math.NaN()
		if over := s.course.over; p.core.absent[p.core.series[over.at].desc.Name] == "" {
			b.peak.level = over.value()
		}
	default:
		if b.course == nil {
			b.course = new(courseView)
		}
		*b.course = courseView{began: now, last: now, width: int64(firstSlice)}
		if v := s.gauge.value(); !math.IsNaN(v) && p.core.absent[s.desc.Name] == "" {
			b.course.sample(v, now)
		}
	}
}

// growth appends a peak's growth to r.
func (p *part) growth(r *Reading, i int, peak int64, prov Provenance) {
	k, base := p.core.series[i].course, p.bases[i].peak.level
	if k == nil || math.IsNaN(base) || p.core.absent[k.desc.Name] != "" {
		return
	}
	m := r.add(k.desc, k.attrs[0])
	m.Value, m.Prov = max(k.desc.Value(float64(peak))-base, 0), prov
}

// course appends a gauge's course to r, if there was a look.
func (p *part) course(r *Reading, i int, now int64) {
	k, w := p.core.series[i].course, p.bases[i].course
	if k == nil || w == nil || w.n == 0 || p.core.absent[k.desc.Name] != "" {
		return
	}
	prov := Provenance{How: Sampled, Method: methodSampled, Samples: w.n, MaxGap: time.Duration(max(w.gap, now-w.last))}
	first, second := w.halves(now)
	for stat, v := range [...]float64{w.base, w.min, w.meanV, w.max, w.latest, w.rise(now), first.mean(), second.mean()} {
		if math.IsNaN(v) {
			continue
		}
		m := r.add(k.desc, k.attrs[stat])
		m.Value, m.Prov = v, prov
		switch courseStats[stat] {
		case "first_half":
			m.Prov.Samples = first.n
		case "second_half":
			m.Prov.Samples = second.n
		}
	}
}

// courseSlices is how many slices of a window a course keeps, and firstSlice their
// length at first. It doubles whenever the window outgrows them.
const (
	courseSlices = 64
	firstSlice   = time.Millisecond
)

// A slice is the sum of the looks that fell into a part of a window.
type slice struct {
	n   uint64
	sum float64
}

func (s slice) mean() float64 { return s.sum / float64(s.n) } // NaN of nothing

func (s slice) plus(o slice) slice { return slice{s.n + o.n, s.sum + o.sum} }

// A courseView is what one window knows of a gauge's course. Means and sums of
// products are kept as deviations from the running means: levels of some
// gigabytes that vary by kilobytes would leave nothing of a difference of sums.
type courseView struct {
	began, last, gap       int64 // Now
	n                      uint64
	base, min, max, latest float64
	meanT, meanV, stt, stv float64 // seconds since began, level
	width                  int64   // of a slice, in nanoseconds
	slices                 [courseSlices]slice
}

func (w *courseView) sample(v float64, now int64) {
	if w.n == 0 {
		w.base, w.min, w.max = v, v, v
	}
	w.n++
	w.min, w.max, w.latest = min(w.min, v), max(w.max, v), v
	w.gap, w.last = max(w.gap, now-w.last), max(w.last, now)

	t, n := float64(now-w.began)/1e9, float64(w.n)
	dt, dv := t-w.meanT, v-w.meanV
	w.meanT += dt / n
	w.meanV += dv / n
	w.stt += dt * (t - w.meanT)
	w.stv += dt * (v - w.meanV)

	i := max(now-w.began, 0) / w.width
	for ; i >= courseSlices; i /= 2 {
		w.fold()
	}
	w.slices[i] = w.slices[i].plus(slice{1, v})
}

// fold doubles the slices' length.
func (w *courseView) fold() {
	for i := range courseSlices / 2 {
		w.slices[i] = w.slices[2*i].plus(w.slices[2*i+1])
	}
	clear(w.slices[courseSlices/2:])
	w.width *= 2
}

// rise is the slope over the window's length; NaN if all looks were at one
// instant.
func (w *courseView) rise(now int64) float64 {
	if w.stt == 0 {
		return math.NaN()
	}
	return w.stv / w.stt * float64(now-w.began) / 1e9
}

// halves are the slices that lie wholly in one half.
func (w *courseView) halves(now int64) (first, second slice) {
	for i, s := range w.slices {
		from := int64(i) * w.width
		switch length := now - w.began; {
		case 2*(from+w.width) <= length:
			first = first.plus(s)
		case 2*from >= length:
			second = second.plus(s)
		}
	}
	return first, second
}
