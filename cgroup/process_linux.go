package cgroup

// openProcess measures the process's memory from the kernel's files.
func (p *Probe) openProcess() (*source, error) { return p.openStatus() }
