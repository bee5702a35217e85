//go:build !linux

package report

import (
	"fmt"
	"runtime"

	"github.com/tidestaff/tidestaff/probe"
)

// Elsewhere than on Linux nothing of the host is measured yet, and every part
// says so.

func unsupported() error { return fmt.Errorf("%w: %s", probe.ErrUnsupported, runtime.GOOS) }

func (h *hostProbe) lookAtLoad()       { h.lack(unsupported(), descLoad) }
func (h *hostProbe) lookAtCPU()        { h.lack(unsupported(), descBusy, descCapacity, descSteal, descSelf) }
func (h *hostProbe) lookAtPressure()   { h.lack(unsupported(), descPressure) }
func (h *hostProbe) lookAtThrottling() { h.lack(unsupported(), descPeriods, descThrottled) }

func machine(string) (cpu, kernel string, group *Cgroup) { return "", "", nil }
