package cgroup

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// spending is a reading with 2 s of CPU time by the process's clock.
func spending(groupCPU float64) *probe.Reading {
	r := &probe.Reading{Start: time.Unix(0, 0), End: time.Unix(10, 0)}
	add := func(d *probe.Desc, v float64, attrs ...probe.Attr) {
		r.Metrics = append(r.Metrics, probe.Metric{Desc: d, Value: v, Attrs: attrs})
	}
	add(descCPU, 1.5, probe.Attr{Key: attrCPUMode, Value: "user"})
	add(descCPU, 0.5, probe.Attr{Key: attrCPUMode, Value: "system"})
	add(descGroupCPUUsage, groupCPU)
	add(descPeriods, 50)
	add(descThrottled, 5)
	add(descThrottledTime, 0.4)
	add(descFaults, 3000, probe.Attr{Key: attrFault, Value: "minor"})
	add(descFaults, 10, probe.Attr{Key: attrFault, Value: "major"})
	add(descProcessIO, 4096000, probe.Attr{Key: attrDirection, Value: "read"})
	add(descProcessIO, 0, probe.Attr{Key: attrDirection, Value: "write"})
	r.Absent = []probe.Absent{{Name: descGroupIO.Name, Reason: "controller is not enabled"}}
	return r
}

// TestPerOp: each amount is divided by both counts; what is absent stays so,
// with its reason, and a zero that was measured is one.
func TestPerOp(t *testing.T) {
	c, ok := PerOp(spending(2.02), 1000, 980)
	if !ok {
		t.Fatal("got nothing of a reading of this probe")
	}
	want := `per operation                    sent (1000)  served (980)
CPU, process clock               2ms          2.04ms
CPU, cgroup                      2.02ms       2.06ms
held up by the CPU quota         400µs        408.16µs
page faults, minor               3            3.06
page faults, major               0.01         0.0102
read from devices, process       4.0 KiB      4.1 KiB
written to devices, process      0.0 B        0.0 B
read from devices, cgroup        – (controller is not enabled)
written to devices, cgroup       – (controller is not enabled)
periods throttled                10.0 %
cgroup's CPU over the process's  1.0 %
sent and not served              2.0 %
`
	if diff := cmp.Diff(want, trimmed(c.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := c.Notes(); len(got) != 0 {
		t.Errorf("got notes %q of differences under 5 %%", got)
	}
}

// trimmed is a text without spaces at the ends of lines.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestPerOpNotes: differences over 5 % are noted, in words for their direction.
func TestPerOpNotes(t *testing.T) {
	for _, tt := range []struct {
		groupCPU     float64
		sent, served uint64
		want         []string
	}{
		{2.09, 100, 95, nil},
		{2.4, 100, 100, []string{"the group's CPU time is 20.0 % over the process's: it has other processes"}},
		{1.5, 100, 100, []string{"the group's CPU time is 25.0 % under the process's: it is counted otherwise, or the process was moved"}},
		{2, 100, 90, []string{"10.0 % of the operations sent were not served, and their work is shared out among the others"}},
		{2, 100, 120, []string{"20.0 % more operations were served than sent: some were sent before the window"}},
	} {
		c, _ := PerOp(spending(tt.groupCPU), tt.sent, tt.served)
		if diff := cmp.Diff(tt.want, c.Notes()); diff != "" {
			t.Errorf("%v: (-want +got):\n%s", tt, diff)
		}
		for _, note := range tt.want {
			if !strings.Contains(c.String(), "note: "+note) {
				t.Errorf("got %s, want it with the note %q", c, note)
			}
		}
	}
}

// TestPerOpNothing: no operations, no quotient; no probe, no costs.
func TestPerOpNothing(t *testing.T) {
	c, ok := PerOp(spending(2), 0, 0)
	if !ok {
		t.Fatal("got nothing of a reading of this probe")
	}
	for _, row := range c.Rows() {
		if row.PerSent.OK || row.PerServed.OK || row.PerSent.Reason == "" {
			t.Errorf("got %+v of no operations", row)
		}
	}
	if c.NotServed.OK || !c.Clocks.OK {
		t.Errorf("got %+v and %+v", c.NotServed, c.Clocks)
	}
	if _, ok := PerOp(new(probe.Reading), 1, 1); ok {
		t.Error("got costs of an empty reading")
	}
}

// TestPerOpFromDisk: a reading of a report on disk has descriptions of its own,
// which are known by their names.
func TestPerOpFromDisk(t *testing.T) {
	r := spending(2.02)
	want, _ := PerOp(r, 1000, 980)
	for i := range r.Metrics {
		d := *r.Metrics[i].Desc
		r.Metrics[i].Desc = &d
	}
	got, ok := PerOp(r, 1000, 980)
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("(-fresh +read):\n%s", diff)
	}
}

// TestPerOpReal: a window over this process has its CPU time.
func TestPerOpReal(t *testing.T) {
	w := watch(t, New(Options{}))
	for begin, n := time.Now(), 0; time.Since(begin) < 20*time.Millisecond; n++ {
		_ = strings.Repeat("x", n%1000)
	}
	c, ok := PerOp(w.Close(), 2, 1)
	if !ok || !c.CPU.PerSent.OK && runtime.GOOS == "linux" {
		t.Fatalf("got %v", c)
	}
	if c.CPU.PerSent.OK && c.CPU.PerServed.V != 2*c.CPU.PerSent.V {
		t.Errorf("got %+v, want twice as much for each of half as many", c.CPU)
	}
}
