package cgroup_test

import (
	"fmt"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// What one request cost, from a reading that is fresh or was read from a report.
func ExamplePerOp() {
	cpu := &probe.Desc{Name: "tidestaff.process.cpu.time", Unit: "s", Kind: probe.KindCounter}
	group := &probe.Desc{Name: "tidestaff.cgroup.cpu.usage", Unit: "s", Kind: probe.KindCounter}
	r := &probe.Reading{Metrics: []probe.Metric{{Desc: cpu, Value: 7.7}, {Desc: group, Value: 8.3}}}

	cost, ok := cgroup.PerOp(r, 4500, 4400)
	fmt.Println(ok)
	for _, row := range cost.Rows()[:2] {
		fmt.Printf("%s: %.2f ms\n", row.Label, 1e3*row.PerServed.V)
	}
	for _, note := range cost.Notes() {
		fmt.Println(note)
	}
	// Output:
	// true
	// CPU, process clock: 1.75 ms
	// CPU, cgroup: 1.89 ms
	// the group's CPU time is 7.8 % over the process's: it has other processes
}

func ExampleOpCost() {
	var c cgroup.OpCost // of nothing
	fmt.Println(c.CPU.PerServed.OK, len(c.Notes()))
	// Output: false 0
}

func ExampleCostRow() {
	var row cgroup.CostRow = cgroup.OpCost{}.Rows()[3]
	fmt.Println(row.Label, row.Unit)
	// Output: page faults, minor {fault}
}

func ExampleCost() {
	c := cgroup.Cost{PerServed: cgroup.Value{V: 0.0017, OK: true}}
	fmt.Println(c.PerSent.OK, c.PerServed.V)
	// Output: false 0.0017
}
