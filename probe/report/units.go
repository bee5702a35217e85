package report

import (
	"math"
	"strconv"
	"strings"
)

// scale is one printable unit of a family: a value in the family's base unit
// is divided by Per before it is printed.
type scale struct {
	name string
	per  float64
}

// The families, smallest first. Durations stop at seconds: a load test's
// "354 s" can be compared with "38 s" at a glance, "5m54s" cannot.
var (
	durations = []scale{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}
	sizes     = []scale{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	shares    = []scale{{"%", 1e-2}}
)

// family returns the scales in which a UCUM unit is printed and what follows
// them: "By/s" is a size followed by "/s". Numbers of things ("1",
// "{query}") have no scales and print bare; an unknown unit prints as it is.
func family(unit string) (scales []scale, suffix string) {
	base, perSecond := strings.CutSuffix(unit, "/s")
	if perSecond {
		suffix = "/s"
	}
	switch {
	case base == "s":
		return durations, suffix
	case base == "By":
		return sizes, suffix
	case base == "%":
		return shares, suffix
	case base == "" || base == "1" || strings.HasPrefix(base, "{"):
		return nil, suffix
	}
	return []scale{{base, 1}}, suffix
}

// pick chooses the largest scale of which v holds at least one, the smallest
// scale for anything below.
func pick(scales []scale, v float64) scale {
	best := scales[0]
	for _, s := range scales[1:] {
		// 0.9995 of a unit would print as "1,000" of the one below.
		if math.Abs(v) >= 0.9995*s.per {
			best = s
		}
	}
	return best
}

// fixedScale finds the scale that a row asks for by name.
func fixedScale(name string) (scale, bool) {
	if name == "us" {
		name = "µs"
	}
	for _, fam := range [...][]scale{durations, sizes, shares} {
		for _, s := range fam {
			if s.name == name {
				return s, true
			}
		}
	}
	return scale{}, false
}

// formatGroup prints values of one UCUM unit that share a cell, such as
// "1.0 / 70 / 258 ms". NaN prints as a dash. They share the unit of the
// largest unless the smallest would then lose its digits. want forces a unit
// ("ms", "MiB", "%").
func formatGroup(vs []float64, unit, want string) string {
	f := formFor(vs, unit, want)
	if f.scales != nil {
		return eachAlone(vs, f.scales, f.after)
	}
	return join(vs, f.scale, f.format) + f.after
}

// A form is how the values of a cell are printed.
type form struct {
	scale  scale
	format func(float64) string
	after  string  // the unit, once after all of them
	scales []scale // not nil if each value has a unit of its own
}

// formFor chooses the form for values that share a cell.
func formFor(vs []float64, unit, want string) form {
	scales, suffix := family(unit)
	if want == "%" && len(scales) == 0 {
		scales = shares
	}
	if scales == nil {
		return form{scale{"", 1}, formatCount, suffix, nil}
	}
	if s, ok := fixedScale(want); ok {
		return form{s, formatNumber, unitText(s, suffix), nil}
	}
	low, high := bounds(vs)
	if math.IsNaN(high) {
		return form{scale{"", 1}, formatNumber, "", nil}
	}
	s := pick(scales, high)
	switch {
	case low < 0.01*s.per && len(vs) > 1:
		return form{scales: scales, after: suffix}
	case s.name == "B":
		return form{s, formatCount, unitText(s, suffix), nil} // there are no parts of a byte
	}
	return form{s, formatNumber, unitText(s, suffix), nil}
}

// formatValue prints one value of a UCUM unit.
func formatValue(v float64, unit, want string) string {
	return formatGroup([]float64{v}, unit, want)
}

// unitText follows the number, with a space before it as SI wants.
func unitText(s scale, suffix string) string { return " " + s.name + suffix }

// eachAlone gives every value its own unit: "312 ns / 8.3 s".
func eachAlone(vs []float64, scales []scale, suffix string) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		if math.IsNaN(v) {
			parts[i] = dash
			continue
		}
		s := pick(scales, v)
		parts[i] = formatNumber(v/s.per) + unitText(s, suffix)
	}
	return strings.Join(parts, " / ")
}

// join prints the values in one scale, without its name.
func join(vs []float64, s scale, format func(float64) string) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = dash
		if !math.IsNaN(v) {
			parts[i] = format(v / s.per)
		}
	}
	return strings.Join(parts, " / ")
}

// bounds returns the smallest magnitude that is not zero and the largest, NaN
// if there is no value at all.
func bounds(vs []float64) (low, high float64) {
	low, high = math.Inf(1), math.NaN()
	for _, v := range vs {
		a := math.Abs(v)
		if math.IsNaN(a) {
			continue
		}
		if math.IsNaN(high) || a > high {
			high = a
		}
		if a > 0 && a < low {
			low = a
		}
	}
	return low, high
}

// dash stands for a number that is not there. It is never a zero.
const dash = "–"

// formatCount prints a number of things: whole numbers in full, means like
// any other number.
func formatCount(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return formatNumber(v)
}

// formatNumber prints about two significant digits and never fewer than all
// digits before the point: the histograms behind most numbers resolve 1 %.
func formatNumber(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 9.95:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 0.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.00995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 1, 64)
}

// thousands puts commas into a decimal integer.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// formatRatio prints after/before so that the direction is read first:
// "÷ 74" fell to a seventy-fourth, "× 1.3" grew by 30 %, "=" is unchanged. A
// ratio to zero or to nothing is a dash.
func formatRatio(before, after float64) string {
	r := after / before
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0):
		if before == 0 && after == 0 {
			return "="
		}
		return dash
	case r == 1:
		return "="
	case r <= 0:
		return dash
	case r < 1:
		return "÷ " + ratioNumber(1/r)
	}
	return "× " + ratioNumber(r)
}

// ratioNumber keeps two decimals where a ratio near one needs them.
func ratioNumber(r float64) string {
	if r < 1.995 {
		return strconv.FormatFloat(r, 'f', 2, 64)
	}
	return formatNumber(r)
}
