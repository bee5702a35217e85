package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// What one command took, its descendants included, and how that is known: its
// own control group has counted it, or it was looked at.
func ExampleRun() {
	u, err := cgroup.Run(exec.Command(os.Args[0], "-test.run=^$"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("CPU time known:", u.CPU.OK)
	fmt.Println("peak known, or a reason given:", u.Peak.OK || u.Peak.Reason != "")
	// Output:
	// CPU time known: true
	// peak known, or a reason given: true
}

// A service that runs git has a row for it in its reports.
func ExampleProbe_StartCommand() {
	mem := cgroup.New(cgroup.Options{})
	w, err := mem.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	c, err := mem.StartCommand("git upload-pack", cmd)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Wait()
	var left *cgroup.LeftError
	if errors.As(err, &left) {
		fmt.Println("still running:", left.PIDs)
	}
	for m := range w.Close().Find("tidestaff.command.duration") {
		fmt.Println(m.Attr(cgroup.AttrCommand), m.Dist.Count())
	}
	// Output: git upload-pack 1
}

func ExampleUsage() {
	u, err := cgroup.New(cgroup.Options{}).RunCommand("self", exec.Command(os.Args[0], "-test.run=^$"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.Name, u.Duration > 0)
	// Output: self true
}

func ExampleValue() {
	v := cgroup.Value{Reason: "the command ended before it could be looked at"}
	if !v.OK {
		fmt.Println("not zero:", v.Reason)
	}
	// Output: not zero: the command ended before it could be looked at
}

func ExampleCommand() {
	var c *cgroup.Command
	c, err := cgroup.New(cgroup.Options{}).StartCommand("", exec.Command("/no/such/program"))
	fmt.Println(c == nil, errors.Is(err, os.ErrNotExist))
	// Output: true true
}

func ExampleLeftError() {
	err := error(&cgroup.LeftError{Dirs: []string{"/sys/fs/cgroup/svc/tidestaff-1"}, PIDs: []int{4711}})
	fmt.Println(err)
	// Output: cgroup: the command's group is left: /sys/fs/cgroup/svc/tidestaff-1: processes outlived the command: [4711]
}

// A soak test wants no growth in its second half.
func ExampleFlat() {
	w, err := cgroup.New(cgroup.Options{}).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(time.Millisecond) // the service under load, for an hour
	verdict, err := cgroup.Flat(w.Close(), 0.05)
	fmt.Println("verdict:", verdict != "", "judged long enough:", err == nil)
	// Output: verdict: true judged long enough: false
}

// The typed view of a reading has rates and shares, and what could not be
// measured with its reason.
func ExampleStatsOf() {
	w, err := cgroup.New(cgroup.Options{Root: "testdata/nothing", Interval: -1}).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := cgroup.StatsOf(w.Close())
	fmt.Println("cores of the group:", s.GroupCPU.Cores.OK)
	fmt.Println(s.GroupCPU.Cores.Reason)
	// Output:
	// cores of the group: false
	// no cgroup: open testdata/nothing/proc/self/cgroup: no such file or directory
}

// All parts of a window's numbers are values that know whether they are there.
func ExampleStats() {
	var s cgroup.Stats
	for _, part := range []any{cgroup.Level{}, cgroup.Course{}, cgroup.CPUUse{}, cgroup.Throughput{}, cgroup.Pressure{}} {
		fmt.Printf("%T\n", part)
	}
	fmt.Println("peak of the resident set known:", s.RSS.Peak.OK)
	// Output:
	// cgroup.Level
	// cgroup.Course
	// cgroup.CPUUse
	// cgroup.Throughput
	// cgroup.Pressure
	// peak of the resident set known: false
}

// Where a number comes from, or why there is none.
func ExampleGroup() {
	for _, g := range cgroup.New(cgroup.Options{Root: "testdata/nothing"}).Groups()[:2] {
		fmt.Println(g.Controller, g.Reason)
	}
	// Output:
	// memory no cgroup: open testdata/nothing/proc/self/cgroup: no such file or directory
	// cpu no cgroup: open testdata/nothing/proc/self/cgroup: no such file or directory
}

// A database server beside this process. What it did with its own high-water
// mark is left alone.
func ExampleOptions_pid() {
	opts := cgroup.Options{Name: "postgres", PID: 4711, NoReset: true}
	for _, a := range watchOnce(opts).Absent {
		if a.Name == "tidestaff.go.memory.stat" {
			fmt.Println(a.Reason)
		}
	}
	// Output: the Go runtime of another process cannot be seen
}

func watchOnce(opts cgroup.Options) *probe.Reading {
	w, err := cgroup.New(opts).Watch()
	if err != nil {
		return new(probe.Reading)
	}
	return w.Close()
}
