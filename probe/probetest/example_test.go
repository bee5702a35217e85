package probetest_test

import (
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// A queueProbe is somebody's own probe.
type queueProbe struct {
	probe.Core
	waiting *probe.Recorder
}

func newQueueProbe() *queueProbe {
	q := new(queueProbe)
	q.waiting = q.Recorder(&probe.Desc{Name: "app.queue.wait", Unit: "s", Help: "Time that a job waited for a worker."})
	return q
}

// The test of a probe of your own is one call.
func ExampleConform() {
	_ = func(t *testing.T) { // func TestConform(t *testing.T)
		probetest.Conform(t,
			func() probe.Probe { return newQueueProbe() },
			func(p probe.Probe) { p.(*queueProbe).waiting.Record(1500) })
	}
}
