package probetest

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	ruleDescriptions = `a description is complete: it is the one source for exporters, benchmark units, comparisons and docs.
Names are lower case and dotted; units are UCUM without prefixes (s, By, 1, {query}, By/s); benchmark units are
words that benchstat can scale (p99-lag-ns, peak-RSS-bytes, queries/op): it splits them at - and /, knows ns and
bytes, and neither scales ms nor tells MB from B.`
	ruleDescribedFirst = `a probe describes every metric before it has data: OpenTelemetry must create its instruments before the
first collection. The description of a name never changes.`
)

func checkDescriptions(s *subject) error {
	p := s.new()
	all := p.Describe()
	if len(all) == 0 {
		return errors.New("nothing is described")
	}
	var errs []error
	names, units := map[string]bool{}, map[string]string{}
	for i, d := range all {
		if d == nil {
			return fmt.Errorf("description %d is nil", i)
		}
		if names[d.Name] {
			errs = append(errs, fmt.Errorf("%s is described twice", d.Name))
		}
		names[d.Name] = true
		if err := validDesc(d); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", d.Name, err))
		}
		for _, b := range d.Bench {
			if other := units[b.Unit]; other != "" {
				errs = append(errs, fmt.Errorf("%s and %s are both reported as %q", other, d.Name, b.Unit))
			}
			units[b.Unit] = d.Name
		}
	}
	return errors.Join(capped(errs)...)
}

func checkDescribedFirst(s *subject) error {
	p := s.new()
	before := map[string]probe.Desc{}
	for _, d := range p.Describe() {
		before[d.Name] = *d
	}
	w, err := p.watch()
	if err != nil {
		return err
	}
	s.exercise(p)
	r := w.Close()
	var errs []error
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Desc == nil {
			continue // checkValues says so
		}
		d, ok := before[m.Name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s was not described before it had data", m.Name))
			before[m.Name] = *m.Desc // once is enough
		case d.Unit != m.Unit || d.Kind != m.Kind || d.Detail != m.Detail:
			errs = append(errs, fmt.Errorf("%s was described as a %v in %q and is read as a %v in %q", m.Name, d.Kind, d.Unit, m.Kind, m.Unit))
		}
	}
	return errors.Join(capped(errs)...)
}

// validDesc is what is wrong with a description.
func validDesc(d *probe.Desc) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !validName(d.Name) {
		bad("the name is not lower-case words joined by dots")
	}
	if !unitPattern.MatchString(d.Unit) {
		bad("the unit %q is not one of %s, {annotation}, or a ratio of two", d.Unit, strings.Join(atoms, ", "))
	}
	if strings.TrimSpace(d.Help) == "" || strings.Contains(d.Help, "\n") {
		bad("the help %q is not a sentence", d.Help)
	}
	if d.Kind < probe.KindCounter || d.Kind > probe.KindDistribution {
		bad("the kind is %v", d.Kind)
	}
	if isDist := d.Kind == probe.KindDistribution; !isDist && (d.Digits != 0 || d.Bounds != nil) {
		bad("a %v has neither digits nor bounds", d.Kind)
	}
	if d.Digits != 0 && d.Digits != 2 && d.Digits != 3 {
		bad("digits %d are not 2 or 3", d.Digits)
	}
	for i, b := range d.Bounds {
		if math.IsNaN(b) || math.IsInf(b, 0) || i > 0 && b <= d.Bounds[i-1] {
			bad("the bounds %v are not finite and ascending", d.Bounds)
			break
		}
	}
	for _, b := range d.Bench {
		if err := validBench(d, b); err != nil {
			bad("benchmark unit %q: %w", b.Unit, err)
		}
	}
	return errors.Join(errs...)
}

var (
	atoms       = []string{"1", "%", "s", "By", "bit", "Hz", "Cel", "J", "W"}
	unitPattern = regexp.MustCompile(`^` + unitTerm + `(/` + unitTerm + `)?$`)
	benchUnit   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]*([-/][A-Za-z0-9.]+)*$`)
)

const unitTerm = `(1|%|s|By|bit|Hz|Cel|J|W|\{[a-z][a-z0-9_]*\})`

// builtIn are the units that package testing reports by itself.
var builtIn = []string{"ns/op", "B/op", "allocs/op", "MB/s"}

// unscaled are the words that benchstat does not scale, or scales into a unit
// that something else has.
var unscaled = []string{"ms", "us", "s", "sec", "KB", "kB", "MB", "GB", "KiB", "MiB", "GiB"}

func validBench(d *probe.Desc, b probe.Bench) error {
	words := strings.FieldsFunc(b.Unit, func(r rune) bool { return r == '-' || r == '/' })
	switch {
	case !benchUnit.MatchString(b.Unit):
		return errors.New("it is not words joined by - or /")
	case slices.Contains(builtIn, b.Unit):
		return errors.New("package testing reports it by itself")
	case b.Better != "lower" && b.Better != "higher":
		return fmt.Errorf("better is %q, want lower or higher", b.Better)
	case (d.Kind == probe.KindDistribution) != slices.Contains([]string{"count", "sum", "mean", "max", "p50", "p95", "p99"}, b.Stat),
		d.Kind != probe.KindDistribution && b.Stat != "value":
		return fmt.Errorf("a %v has no stat %q", d.Kind, b.Stat)
	case b.Stat == "count":
		return nil // a count has no unit of its own
	case d.Unit == "s" && !slices.Contains(words, "ns"):
		return errors.New("a time is reported in ns")
	case d.Unit == "By" && !slices.Contains(words, "bytes") && !slices.Contains(words, "B"):
		return errors.New("a size is reported in bytes")
	}
	for _, w := range words {
		if slices.Contains(unscaled, w) && !strings.HasSuffix(b.Unit, "/s") {
			return fmt.Errorf("benchstat does not scale %q", w)
		}
	}
	return nil
}

// validName accepts words of [a-z0-9_], each begun by a letter, joined by dots.
func validName(s string) bool { return namePattern.MatchString(s) }

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
