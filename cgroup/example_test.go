package cgroup_test

import (
	"fmt"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

func ExampleNew() {
	mem := cgroup.New(cgroup.Options{})
	w, err := mem.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	work := make([]byte, 64<<20)
	for i := range work {
		work[i] = 1
	}
	r := w.Close()
	for m := range r.Find("tidestaff.process.memory.peak") {
		fmt.Println("peak over 64 MiB:", m.Value > 64<<20)
	}
	// Output: peak over 64 MiB: true
}

// What cannot be measured is absent with a reason, and never zero.
func ExampleProbe_Watch() {
	w, err := cgroup.New(cgroup.Options{Root: "testdata/nothing"}).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range w.Close().Absent {
		if a.Name == "tidestaff.cgroup.memory.usage" {
			fmt.Println(a.Name, "is absent:", a.Reason)
		}
	}
	// Output: tidestaff.cgroup.memory.usage is absent: no cgroup: open testdata/nothing/proc/self/cgroup: no such file or directory
}

// One number for memory does not exist: the parts are beside the sum.
func ExampleProbe() {
	var p probe.Probe = cgroup.New(cgroup.Options{})
	for _, d := range p.Describe()[:3] {
		fmt.Println(d.Name, d.Unit, d.Kind)
	}
	// Output:
	// tidestaff.process.memory.usage By gauge
	// tidestaff.process.memory.peak By peak
	// tidestaff.process.memory.stat By gauge
}

func ExampleOptions() {
	// Every 10 ms where the kernel keeps no peak, and hands off VmHWM, which
	// something else in this process watches.
	opts := cgroup.Options{Interval: 10 * time.Millisecond, NoReset: true}
	fmt.Println(opts.Interval)
	// Output: 10ms
}
