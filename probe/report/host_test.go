package report

import (
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// The private probe keeps the contract like any other.
func TestHostConforms(t *testing.T) {
	probetest.Conform(t,
		func() probe.Probe { return newHostProbe("") },
		func(probe.Probe) { readProvenance("") }) // a little work, for the CPU time
}
