package cgroup_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

func TestConform(t *testing.T) {
	exercise := func(probe.Probe) { // a millisecond or so of CPU time
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = byte(i)
		}
		runtime.KeepAlive(b)
	}
	if runtime.GOOS == "windows" {
		exercise = nil // levels only: CPU time comes in steps of up to 16 ms
	}
	for _, tt := range []struct {
		name string
		opts cgroup.Options
	}{
		{"reset", cgroup.Options{}},
		{"no reset", cgroup.Options{NoReset: true}},
		{"nothing to see", cgroup.Options{Root: "testdata/nothing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			probetest.Conform(t, func() probe.Probe { return cgroup.New(tt.opts) }, exercise)
		})
	}
}

// TestConformOther: the process that started this one, without moving anything of
// it; and a group that is not there.
func TestConformOther(t *testing.T) {
	for name, opts := range map[string]cgroup.Options{
		"process": {PID: os.Getppid(), NoReset: true},
		"group":   {Path: "/tidestaff-none"},
	} {
		t.Run(name, func(t *testing.T) {
			probetest.Conform(t, func() probe.Probe { return cgroup.New(opts) }, nil)
		})
	}
}
