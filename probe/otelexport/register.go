package otelexport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tidestaff/tidestaff/probe"
)

// Options say how a probe is registered. The zero value works.
type Options struct {
	// MeterProvider is where the metrics go. If nil, it is the global one, which may
	// be set later.
	MeterProvider metric.MeterProvider

	// PeakOver is the time that a peak looks back on at least, and twice that at
	// most. It should be no shorter than the longest interval of the provider's
	// readers. If zero, it is a minute, the SDK's own interval.
	PeakOver time.Duration

	// Series is how many series a metric may have. What is beyond is one series with
	// the attribute otel.metric.overflow. If zero, 500.
	Series int

	// Conventions asks for the process's and the group's memory, CPU time, IO and page
	// faults under the names of the semantic conventions, process.* and container.*,
	// in the place of tidestaff.process.* and tidestaff.cgroup.*. They are not used
	// by default because a collector often reports those itself.
	Conventions bool
}

// A Registration is a probe's presence at a MeterProvider. It is made by [Register]
// and safe for concurrent use.
type Registration struct {
	claim    *claim
	callback metric.Registration
	close    sync.Once
	err      error

	window      *probe.Window
	peaks       *slots
	instruments map[string]metric.Float64Observable
	readings    sync.Pool // a *probe.Reading for each collection that is under way

	mu    sync.Mutex // held over quota alone
	quota *quota
}

// Register exports the counters, levels and peaks of a probe, a Set or any other, as
// observable instruments made from its descriptions: nothing is added to what the
// program does, and a window is read whenever a reader of the provider collects.
// Distributions need a [Producer] beside it.
//
// Totals begin at zero with the registration. What is absent is not exported, nor are
// details, nor metrics that the probe describes only later. It is an error to
// register a probe twice with one provider, or two whose metrics nothing tells apart.
//
// The probe is watched until Close.
func Register(p probe.Probe, o Options) (*Registration, error) {
	provider := o.MeterProvider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	w, err := p.Watch()
	if err != nil {
		return nil, fmt.Errorf("otelexport: register: %w", err)
	}
	r := &Registration{window: w, quota: newQuota(o.Series)}
	r.readings.New = func() any { return new(probe.Reading) }
	if err := r.open(p, provider, o); err != nil {
		r.letGo()
		return nil, fmt.Errorf("otelexport: register: %w", err)
	}
	return r, nil
}

// open claims the provider and makes the probe's instruments.
func (r *Registration) open(p probe.Probe, provider metric.MeterProvider, o Options) error {
	var err error
	if r.claim, err = claimFor(provider, p, r.window); err != nil {
		return err
	}
	if r.peaks, err = newSlots(p, cmp.Or(max(o.PeakOver, 0), time.Minute)); err != nil {
		return err
	}
	meter := provider.Meter(scopeName, metric.WithInstrumentationVersion(version), metric.WithSchemaURL(schemaURL))
	var observables []metric.Observable
	r.instruments = map[string]metric.Float64Observable{}
	for _, d := range exported(p, func(k probe.Kind) bool { return k != probe.KindDistribution }) {
		i, err1 := newInstrument(meter, d, o.Conventions)
		err = errors.Join(err, err1)
		r.instruments[d.Name] = i
		observables = append(observables, i)
	}
	if err == nil {
		r.callback, err = meter.RegisterCallback(r.observe, observables...)
	}
	return err
}

// letGo closes the windows and gives the claim up.
func (r *Registration) letGo() {
	r.window.Close()
	r.peaks.close()
	r.claim.release()
}

// Close ends the export, waits for a collection that is under way, and closes the
// probe's windows. It may be called again, and returns the first call's error. A program
// that ends shuts its MeterProvider down first, so that the last collection has
// everything.
//
// It must not be called from within a collection, which it would wait for.
func (r *Registration) Close() error {
	r.close.Do(func() {
		// Without a lock, since a collection that is under way may want it.
		r.err = r.callback.Unregister()
		r.letGo()
	})
	return r.err
}

// observe is called once for each reader's collection, of several readers at once.
func (r *Registration) observe(_ context.Context, to metric.Observer) error {
	reading := r.readings.Get().(*probe.Reading)
	defer r.readings.Put(reading)
	r.window.Read(reading)
	beyond := map[string]float64{} // by metric
	for i := range reading.Metrics {
		m := &reading.Metrics[i]
		if m.Kind != probe.KindPeak && m.Attr(attrStat) == "" {
			r.observeOne(to, beyond, m.Desc, setOf(m.Attrs), m.Value)
		}
	}
	for _, peak := range r.peaks.read() {
		r.observeOne(to, beyond, peak.desc, peak.set, peak.value)
	}
	for name, v := range beyond {
		to.ObserveFloat64(r.instruments[name], v, metric.WithAttributeSet(overflow))
	}
	return nil
}

// attrStat marks the series of a gauge's course, which tell of one window what a
// collector sees of the level itself.
const attrStat = "tidestaff.stat"

// observeOne observes one series, or adds it to those beyond the limit: levels and
// counts as a sum, peaks as the highest.
func (r *Registration) observeOne(to metric.Observer, beyond map[string]float64, d *probe.Desc, set attribute.Set, v float64) {
	i, ok := r.instruments[d.Name]
	if !ok {
		return // a detail, a distribution, or described after Register
	}
	if set = r.admit(d.Name, set); set.Equivalent() != overflow.Equivalent() {
		to.ObserveFloat64(i, v, metric.WithAttributeSet(set))
		return
	}
	if d.Kind == probe.KindPeak {
		beyond[d.Name] = max(beyond[d.Name], v)
	} else {
		beyond[d.Name] += v
	}
}

func (r *Registration) admit(metric string, set attribute.Set) attribute.Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quota.admit(metric, set)
}
