package probetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

func TestOps(t *testing.T) {
	probetest.Conform(t,
		func() probe.Probe { return new(probe.Ops) },
		func(p probe.Probe) {
			ctx, op := p.(*probe.Ops).Begin(context.Background(), "turn")
			_, inner := p.(*probe.Ops).Begin(ctx, "step")
			inner.AddQueries(2, 1500, 40)
			inner.AddReads(1, 4096)
			inner.End(errors.New("no such turn"))
			op.End(nil)
		})
}

// app is a user's own probe: a Core with one metric of each kind.
type app struct {
	probe.Core
	hits    *probe.Counter
	open    *probe.Counter
	latency *probe.Recorder
	largest *probe.Peak
}

func newApp() *app {
	a := new(app)
	a.hits = a.Counter(&probe.Desc{Name: "app.cache.hits", Unit: "{hit}", Help: "Look-ups that the cache answered."})
	a.open = a.Counter(&probe.Desc{Name: "app.files.open", Unit: "{file}", Kind: probe.KindUpDownCounter, Help: "Files open."})
	a.latency = a.Recorder(&probe.Desc{Name: "app.cache.duration", Unit: "s", Help: "Time of a look-up.", Digits: 3,
		Bounds: []float64{0.001, 0.01, 0.1},
		Bench:  []probe.Bench{{Unit: "p99-look-up-ns", Stat: "p99", Better: "lower"}}})
	a.largest = a.Peak(&probe.Desc{Name: "app.request.size", Unit: "By", Help: "Largest request."})
	a.GaugeFunc(&probe.Desc{Name: "app.cache.share", Unit: "1", Help: "Share of the cache in use."},
		func() float64 { return 0.25 })
	return a
}

func (a *app) lookUp() {
	a.open.Add(1)
	a.hits.Add(1)
	a.latency.Record(1234)
	a.largest.Sample(99)
	now := time.Now()
	a.Emit(probe.Event{Name: "app.slow.look_up", Start: now, Text: "A look-up was slow."})
	a.open.Add(-1)
}

func TestCore(t *testing.T) {
	probetest.Conform(t,
		func() probe.Probe { return newApp() },
		func(p probe.Probe) { p.(*app).lookUp() })
}

// TestStill runs the kit over a probe whose numbers nobody moves.
func TestStill(t *testing.T) {
	probetest.Conform(t, func() probe.Probe { return newApp() }, nil)
}

// TestSetOfProbes runs the kit over a set, which is a probe as well.
func TestSetOfProbes(t *testing.T) {
	probetest.Conform(t,
		func() probe.Probe { return probe.NewSet(newApp(), new(probe.Ops)) },
		nil)
}

func TestUnsupported(t *testing.T) {
	probetest.Conform(t,
		func() probe.Probe {
			a := newApp()
			a.Start = func() error { return fmt.Errorf("read /proc/nowhere: %w", probe.ErrUnsupported) }
			return a
		},
		func(p probe.Probe) { p.(*app).lookUp() })
}
