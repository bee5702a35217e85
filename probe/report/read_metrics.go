package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidestaff/tidestaff/probe"
)

// readMetrics makes one description for each name, unit and kind, as a probe
// would.
func (r *Report) readMetrics(list []json.RawMessage) error {
	type key struct {
		name, unit, kind string
		detail           bool
	}
	descs := map[key]*probe.Desc{}
	return each("metrics", list, func(f *fileMetric) error {
		k := key{f.Name, f.Unit, f.Kind, f.Detail}
		if descs[k] == nil {
			d, err := f.desc()
			if err != nil {
				return err
			}
			descs[k] = d
		}
		m := probe.Metric{Desc: descs[k], Attrs: f.Attrs.list()}
		if err := at("prov", f.Prov.read(&m.Prov)); err != nil {
			return err
		}
		if err := f.read(&m); err != nil {
			return err
		}
		r.reading.Metrics = append(r.reading.Metrics, m)
		return nil
	})
}

// desc is the description as far as the file has it: help, bounds and, until
// the first distribution is decoded, digits stay in the program.
func (f *fileMetric) desc() (*probe.Desc, error) {
	if f.Name == "" {
		return nil, at("name", errors.New("missing"))
	}
	kind, ok := kindOf(f.Kind)
	if !ok {
		return nil, at("kind", fmt.Errorf("%q is not a kind of metric", f.Kind))
	}
	if f.Unit == "" || f.Unit == "s" {
		// Guessing which of the two was meant would be wrong by 10^9.
		return nil, at("unit", fmt.Errorf("%q, where times are in ns", f.Unit))
	}
	unit, _ := memoryUnit(f.Unit)
	d := &probe.Desc{Name: f.Name, Unit: unit, Kind: kind, Detail: f.Detail}
	for _, b := range f.Bench {
		d.Bench = append(d.Bench, probe.Bench(b))
	}
	return d, nil
}

// kindOf is the inverse of [probe.Kind.String].
func kindOf(name string) (probe.Kind, bool) {
	for k := probe.KindCounter; k <= probe.KindDistribution; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// read fills in the value. A scalar without one is absent, which a reading
// shows as NaN.
func (f *fileMetric) read(m *probe.Metric) (err error) {
	if (m.Kind == probe.KindDistribution) != (f.Dist != nil) {
		return at("dist", fmt.Errorf("a %s has one or the other", m.Kind))
	}
	if f.Dist == nil {
		m.Value = f.Value.read(f.Unit)
		return nil
	}
	if m.Dist, err = f.Dist.read(); err != nil {
		return at("dist", err)
	}
	m.Value = m.Desc.Value(float64(f.Dist.Sum))
	m.Digits = int(m.Dist.HDR().SignificantFigures())
	return nil
}

// read is NaN, absent, for a number that is not in the file.
func (n *number) read(unit string) float64 {
	if n == nil {
		return math.NaN()
	}
	_, scale := memoryUnit(unit)
	return float64(*n) * scale
}

// read decodes the buckets and checks them against the count, so that a file
// whose two halves are of different reports is refused. The percentiles in the
// file are for others and are not looked at.
func (f *fileDist) read() (*probe.Dist, error) {
	if f.Count == 0 {
		return new(probe.Dist), nil
	}
	if f.HDR == nil {
		return nil, at("hdr", fmt.Errorf("missing, with count %d", f.Count))
	}
	h, err := hdrhistogram.Decode([]byte(*f.HDR))
	if err != nil {
		return nil, at("hdr", err)
	}
	if n := h.TotalCount(); n < 0 || uint64(n) != f.Count {
		return nil, at("hdr", fmt.Errorf("holds %d values, count says %d", n, f.Count))
	}
	if f.Max == nil || *f.Max < 0 {
		return nil, at("max", errors.New("missing or negative"))
	}
	d, err := probe.DistOf(h, f.Sum, *f.Max, f.Clamped)
	if err != nil {
		return nil, at("hdr", err)
	}
	return d, nil
}

// read leaves p exact, its zero value, if the file says nothing.
func (f *fileProv) read(p *probe.Provenance) error {
	if f == nil {
		return nil
	}
	how := slices.IndexFunc(hows, func(h probe.How) bool { return h.String() == f.How })
	if how < 0 {
		return at("how", fmt.Errorf("%q is not a provenance", f.How))
	}
	*p = probe.Provenance{How: hows[how], Method: f.Method, Samples: f.Samples, MaxGap: time.Duration(f.MaxGapNS)}
	return nil
}

var hows = []probe.How{probe.Exact, probe.Sampled, probe.AtMost}
