package kernel

import (
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// bareChecks run on a kernel that was told to do without: some distributions
// boot with the memory controller or with pressure off.
var bareChecks = []check{
	{name: "bare", leaf: "leaf", run: checkBare},
}

// checkBare: what is off is absent, with a reason, and the rest is there.
func checkBare(t *testing.T) {
	w := watch(t, cgroup.Options{})
	spike(t, 32*mib)
	r := w.Close()
	wantAbsent(t, r, "not enabled", groupUsage, groupPeak, groupStat, groupLimit, groupEvents)
	wantAbsent(t, r, "pressure", pressure)
	t.Log(absent(r, pressure))
	one(t, r, groupCPU, "user")
	one(t, r, tasks)
	m := one(t, r, processPeak)
	if want := (probe.Provenance{Method: markReset}); m.Prov != want {
		t.Errorf("got a process's peak of %+v, want it by %+v", m.Prov, want)
	}
	near(t, "peak", m.Value-one(t, r, processRSS).Value, 32*mib, room)
}
