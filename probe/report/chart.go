package report

import (
	"fmt"
	"math"
	"strings"
)

// The frame of a chart, in units of its viewBox.
const (
	chartWidth  = 720
	chartHeight = 220
	plotLeft    = 72
	plotRight   = 690
	plotTop     = 8
	plotBottom  = 196
	mostPoints  = 200 // of a line: there are hardly more pixels that differ
	mostLines   = 6   // of a chart: there are no more colours that can be told apart
)

// A figure is a chart as the page's template wants it: all geometry is text.
type figure struct {
	Title          string
	Width, Height  int
	XTicks, YTicks []tick
	Lines          []figureLine
	Bars           []figureBar
	Keys           []figureKey // the legend; none for a single series
}

// A tick is a mark on an axis, a figureKey a colour's meaning.
type tick struct{ Pos, Label string }

type figureKey struct{ Class, Label string }

// A figureLine is a path; its class has the colour.
type figureLine struct{ Class, Label, Path string }

// A figureBar is a bar with its label to the left and its value to the right.
type figureBar struct {
	Class, Label, Value string
	Whole               string // the label, where it is cut
	X, Y, Width, Height string
	TextX, Baseline     string // of the value; the label has the same baseline
}

// A point of a line; one whose y is NaN is a gap.
type point struct{ x, y float64 }

// A plot is a chart before its geometry.
type plot struct {
	title  string
	unit   string // UCUM, of y
	lines  []plotLine
	shares bool // x is 1/(1-q) of a percentile, on a logarithmic axis; else seconds
}

type plotLine struct {
	label  string
	series string // the same in all variants
	points []point
}

// coordinate prints a position: a tenth of a unit is less than a pixel.
func coordinate(v float64) string { return fmt.Sprintf("%.1f", v) }

// An axis maps values to positions.
type axis struct {
	low, high float64 // values
	from, to  float64 // positions
	log       bool
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(max(v, a.low))
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// figure computes the geometry; nil if there is nothing to draw.
func (p *plot) figure() *figure {
	lowX, highX, lowY, highY := p.extent()
	if math.IsInf(lowY, 0) || highY <= 0 {
		return nil
	}
	x := axis{lowX, highX, plotLeft, plotRight, p.shares}
	y := axis{0, highY * 1.05, plotBottom, plotTop, false}
	// What spans more than two powers of ten has its small values on the floor
	// otherwise.
	if p.unit == "s" && highY/lowY > 100 {
		y.low, y.high, y.log = lowY, highY*1.2, true
	}
	f := &figure{Title: p.title, Width: chartWidth, Height: chartHeight, XTicks: p.xTicks(x), YTicks: yTicks(y, p.unit)}
	for i, l := range p.lines {
		class := fmt.Sprintf("c%d", i%mostLines)
		f.Lines = append(f.Lines, figureLine{class, clean(l.label), svgPath(thin(l.points), x, y)})
		if len(p.lines) > 1 {
			f.Keys = append(f.Keys, figureKey{class, clean(l.label)})
		}
	}
	return f
}

// extent is the range of the points, with room for a single one.
func (p *plot) extent() (lowX, highX, lowY, highY float64) {
	lowX, highX, lowY, highY = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range p.lines {
		for _, pt := range l.points {
			if !drawable(pt.y) {
				continue
			}
			lowX, highX = min(lowX, pt.x), max(highX, pt.x)
			highY = max(highY, pt.y)
			if pt.y > 0 {
				lowY = min(lowY, pt.y)
			}
		}
	}
	if !p.shares {
		lowX = min(lowX, 0) // a run begins when it begins
	}
	if highX <= lowX {
		highX = lowX*2 + 1
	}
	return lowX, highX, lowY, highY
}

// drawable is what has a place on an axis from zero up.
func drawable(v float64) bool { return v >= 0 && v < 1e200 }

// svgPath draws straight lines between neighbours. A point alone between gaps is a
// stroke of no length, which round caps show as a dot.
func svgPath(points []point, x, y axis) string {
	var b strings.Builder
	pen := false
	for i, p := range points {
		if !drawable(p.y) {
			pen = false
			continue
		}
		at := coordinate(x.at(p.x)) + "," + coordinate(y.at(p.y))
		if pen {
			b.WriteString("L" + at)
			continue
		}
		b.WriteString("M" + at)
		if pen = true; i+1 == len(points) || !drawable(points[i+1].y) {
			b.WriteString("L" + at)
		}
	}
	return b.String()
}

// thin leaves the highest point of each group of neighbours: what a person looks
// for in a long run is its spikes.
func thin(points []point) []point {
	if len(points) <= mostPoints {
		return points
	}
	var out []point
	for i := range mostPoints {
		group := points[i*len(points)/mostPoints : (i+1)*len(points)/mostPoints]
		top := group[0]
		for _, p := range group[1:] {
			if p.y > top.y || math.IsNaN(top.y) {
				top = p
			}
		}
		out = append(out, top)
	}
	return out
}

// xTicks are seconds, or the percentiles that have names.
func (p *plot) xTicks(x axis) []tick {
	var ticks []tick
	if p.shares {
		for _, s := range []struct {
			odds  float64
			label string
		}{{1, "0 %"}, {2, "50 %"}, {10, "90 %"}, {100, "99 %"}, {1000, "99.9 %"}, {10_000, "99.99 %"}} {
			if s.odds >= x.low && s.odds <= x.high {
				ticks = append(ticks, tick{coordinate(x.at(s.odds)), s.label})
			}
		}
		return ticks
	}
	for _, v := range niceSteps(x.low, x.high, 8) {
		ticks = append(ticks, tick{coordinate(x.at(v)), formatValue(v, "s", "s")})
	}
	return ticks
}

// yTicks are round numbers of the unit in which the largest is printed, or powers
// of ten.
func yTicks(y axis, unit string) []tick {
	var ticks []tick
	if y.log {
		low, high := math.Ceil(math.Log10(y.low)-1e-9), math.Floor(math.Log10(y.high))
		for e := low; e <= high; e += max(1, math.Ceil((high-low)/12)) {
			v := math.Pow(10, e)
			ticks = append(ticks, tick{coordinate(y.at(v)), formatValue(v, unit, "")})
		}
		return ticks
	}
	f := formFor([]float64{y.high}, unit, "")
	for _, v := range niceSteps(0, y.high/f.scale.per, 5) {
		ticks = append(ticks, tick{coordinate(y.at(v * f.scale.per)), formatCount(v) + f.after})
	}
	return ticks
}

// niceSteps are at most about n multiples of 1, 2 or 5 times a power of ten.
func niceSteps(low, high float64, n int) []float64 {
	if !(high > low) {
		return nil
	}
	rough := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough {
			step = m * power
			break
		}
	}
	var vs []float64
	first := math.Ceil(low/step - 1e-9)
	for k := range 2 * n { // never for ever, whatever the numbers are
		i := first + float64(k)
		if !(i*step <= high*(1+1e-9)) {
			break
		}
		// Not i*step alone: 3 × 0.1 would print as 0.30000000000000004, but 3/10
		// does not. And a zero from below has a sign, which adding zero takes away.
		v := math.Round(i * step / power)
		if power < 1 {
			v /= math.Round(1 / power)
		} else {
			v *= power
		}
		vs = append(vs, v+0)
	}
	return vs
}

// A barGroup is one label with a bar for each variant.
type barGroup struct {
	label  string
	values []float64 // NaN where there is none
}

// The frame of a chart of bars.
const (
	barLeft   = 330
	mostLabel = 42 // letters, of which some are wide
	barRight  = 620
	barHeight = 13
	barGap    = 7
)

// bars draws groups of horizontal bars in one scale; nil if there are none.
func bars(title, unit string, keys []string, groups []barGroup) *figure {
	top := 0.0
	for _, g := range groups {
		for _, v := range g.values {
			if v > top { // NaN is not
				top = v
			}
		}
	}
	if top <= 0 {
		return nil
	}
	f := &figure{Title: title, Width: chartWidth}
	y := float64(barGap)
	for _, g := range groups {
		for i, v := range g.values {
			b := figureBar{Class: fmt.Sprintf("c%d", i%mostLines), Value: formatValue(v, unit, ""), Y: coordinate(y), Height: fmt.Sprint(barHeight - 1),
				X: fmt.Sprint(barLeft), Width: "0", Baseline: coordinate(y + barHeight - 3)}
			if i == 0 {
				b.Whole = clean(g.label)
				b.Label = clip(b.Whole, mostLabel)
			}
			length := 0.0
			if v > 0 {
				length = v / top * (barRight - barLeft)
				b.Width = coordinate(length)
			}
			b.TextX = coordinate(barLeft + length + 5)
			f.Bars = append(f.Bars, b)
			y += barHeight
		}
		y += barGap
	}
	f.Height = int(y)
	for i, k := range keys {
		if len(keys) > 1 {
			f.Keys = append(f.Keys, figureKey{fmt.Sprintf("c%d", i%mostLines), clean(k)})
		}
	}
	return f
}
