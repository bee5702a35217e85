package probetest_test

import (
	"os"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// All budgets are judged, and one message says which are broken.
func ExampleWithin() {
	_ = func(t *testing.T, database probe.Probe, list func()) {
		probetest.Within(t, database, 1, list,
			probetest.AtMost("queries/op", 8),
			probetest.NoFullScans("sandboxes", "tokens"),
			probetest.NoDuplicates("FROM feature_flags"),
			probetest.NoWrites())
	}
}

// A budget for the requests only, where something else works beside them.
func ExampleBudget() {
	_ = func(t *testing.T, database probe.Probe, list func()) {
		probetest.Within(t, database, 100, list,
			probetest.Exactly("queries/op", 3).In("request"),
			probetest.AtMost("cpu-ns/op", 2e6))
	}
}

// The count of statements must not depend on the number of rows.
func ExampleSameAt() {
	_ = func(t *testing.T, database probe.Probe, seed func(n int), list func()) {
		probetest.SameAt(t, database, []int{1, 10, 100}, func(n int) func() {
			seed(n)
			return list
		})
	}
}

// Listing may take n log n, with a fixed number of statements.
func ExampleScaling() {
	_ = func(t *testing.T, database probe.Probe, seeded func(t testing.TB, n int) (list func())) {
		probetest.Scaling{
			Probes: []probe.Probe{database},
			Counts: map[string]probetest.Growth{"queries/op": probetest.Constant, "rows/op": probetest.Linear},
		}.Check(t, seeded)
	}
}

// A review shows which statement a change has added.
func ExampleSnapshot() {
	_ = func(t *testing.T, database probe.Probe, list func()) {
		probetest.Snapshot(t, database, "testdata/list.sql.txt", list)
	}
}

func ExampleWriteUnits() {
	_ = probetest.WriteUnits(os.Stdout)
	// Output:
	// Unit alloc-bytes/item better=lower
	// Unit cpu-ns/op better=lower
	// Unit gomaxprocs better=higher assume=exact
	// Unit heap-bytes/item better=lower
	// Unit max-latency-ns better=lower
	// Unit p50-latency-ns better=lower
	// Unit p95-latency-ns better=lower
	// Unit p99-latency-ns better=lower
}
