package probetest_test

import (
	"os"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// A store counts its look-ups, as a database probe would.
type store struct {
	probe.Core
	lookups *probe.Counter
}

func newStore() *store {
	s := new(store)
	s.lookups = s.Counter(&probe.Desc{Name: "app.store.lookups", Unit: "{lookup}", Help: "Look-ups.",
		Bench: []probe.Bench{{Unit: "lookups/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}})
	return s
}

func (s *store) list() { s.lookups.Add(3) }

// The closure form: the window holds the iterations and nothing else.
func ExampleLoop() {
	_ = func(b *testing.B) { // func BenchmarkList(b *testing.B)
		s := newStore()
		probetest.Loop(b, s.list, s)
	}
}

func ExampleParallel() {
	_ = func(b *testing.B) {
		s := newStore()
		probetest.Parallel(b, s.list, s)
	}
}

// Units chooses what is printed: each becomes a table of benchstat.
func ExampleBench() {
	_ = func(b *testing.B) {
		s := newStore()
		probetest.Bench{
			Probes:  []probe.Probe{s},
			Units:   []string{"lookups/op", "cpu-ns/op", "p99-latency-ns"},
			Latency: true,
		}.Loop(b, s.list)
	}
}

// The statement form, when the loop must stay visible.
func ExampleRun() {
	_ = func(b *testing.B) {
		s := newStore()
		r := probetest.Start(b, s)
		for b.Loop() {
			s.list()
		}
		r.Stop()
	}
}

func ExamplePerItem() {
	_ = func(b *testing.B) {
		const n = 10_000
		probetest.PerItem(b, n, func() any {
			m := make(map[int]string, n)
			for i := range n {
				m[i] = "marker"
			}
			return m
		})
	}
}

// TestMain of a package whose benchmarks are compared by benchstat.
func ExampleMain() {
	_ = func(m *testing.M) { // func TestMain(m *testing.M)
		os.Exit(probetest.Main(m, newStore()))
	}
}
