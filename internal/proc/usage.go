package proc

import "time"

// Usage is what this process has used of the machine since it started, all its
// threads together, as getrusage(2) tells it.
type Usage struct {
	CPU         time.Duration // in user mode and in the kernel
	MajorFaults uint64        // page faults that waited for a device
}
