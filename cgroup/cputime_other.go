//go:build !linux

package cgroup

import "github.com/tidestaff/tidestaff/probe"

// openCPU says that CPU time is not measured on this system.
func (p *Probe) openCPU() (*source, error) {
	return &source{metrics: []*probe.Desc{descCPU}}, errNotLinux
}
