package probetest

import (
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// strictVar is the environment variable that has a budget which could not be
// judged fail, for a machine that is known to be quiet.
const strictVar = "TIDESTAFF_STRICT"

// Within executes op n times in a window over p, which may be a [probe.Set], and
// fails the test if a budget is broken or has no data.
//
//	probetest.Within(t, sqlp, 1, func() { get(t, "/api/sandboxes") },
//		probetest.AtMost("queries/op", 8).In("request"),
//		probetest.NoFullScans(), probetest.NoWrites())
//
// All budgets are judged, and one message says which are broken, what was
// executed, and everything that was measured. With TIDESTAFF_STRICT=1 in the
// environment, what could not be judged fails as well.
//
// The window sees the whole process: what other goroutines do meanwhile counts,
// unless a budget asks for a role. It returns the window's reading.
func Within(t testing.TB, p probe.Probe, n int, op func(), budgets ...Budget) *probe.Reading {
	t.Helper()
	tr, ok := try(t, p, n, op, budgets...)
	if !ok {
		return new(probe.Reading)
	}
	found := tr.judge(budgets)
	failing := []verdict{exceeded, lacking}
	if os.Getenv(strictVar) != "" {
		failing = append(failing, unjudged)
	} else if text := tr.message(found, unjudged); text != "" {
		t.Logf("budgets that were not judged:\n%s", text)
	}
	if text := tr.message(found, failing...); text != "" {
		t.Errorf("%d of %d budgets are broken:\n%s", budgetsOf(found, failing), len(budgets), text)
	}
	return tr.reading
}

// budgetsOf counts the budgets that have a finding with one of the verdicts.
func budgetsOf(found []finding, verdicts []verdict) int {
	budgets := map[int]bool{}
	for _, f := range found {
		if slices.Contains(verdicts, f.verdict) {
			budgets[f.budget] = true
		}
	}
	return len(budgets)
}

// open is how many windows of trials are open in the process, and opened how many
// ever were.
var open, opened atomic.Int64

// try measures n operations, as the budgets want them watched. It is not ok if the test has failed over it.
func try(t testing.TB, p probe.Probe, n int, op func(), budgets ...Budget) (tr *trial, ok bool) {
	t.Helper()
	if n <= 0 {
		t.Errorf("probetest: %d operations, want at least 1", n)
		return nil, false
	}
	m := newMeter(true, false)
	if watchesMemory([]probe.Probe{p}) {
		debug.FreeOSMemory() // see Bench.open
	}
	quota := watchQuota()
	defer quota.close()
	from := lookAtHost()
	w, err := probe.NewSet(p, m).Watch()
	if err != nil {
		t.Errorf("probetest: %v", err)
		return nil, false
	}
	defer w.Close() // if op ends the test
	tr = &trial{n: n, units: unitsOf(describe([]probe.Probe{p}))}
	mine := opened.Add(1)
	tr.shared = open.Add(1) > 1
	defer open.Add(-1)
	tr.watched(budgets, func() {
		last := probe.Now()
		for range n {
			op()
			now := probe.Now()
			m.latency.Record(now - last)
			last = now
		}
	})
	tr.shared = tr.shared || opened.Load() != mine
	tr.reading = w.Close()
	throttled := quota.ranOut()
	tr.noise = sync.OnceValue(func() noise {
		n := sinceLook(from)
		n.throttled = throttled
		return n
	})
	return tr, true
}
