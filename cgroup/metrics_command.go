package cgroup

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// AttrCommand names the command that was run: what the caller calls it, or its
// program's base name.
const AttrCommand = "tidestaff.command.name"

// otherCommands stands for the names beyond the table's limit.
const otherCommands = "(other)"

// The metrics of commands.
var (
	// From before the fork until everything that Wait waits for has ended, the
	// copying of the command's output among it.
	descCommandDuration = &probe.Desc{
		Name: "tidestaff.command.duration", Unit: "s", Kind: probe.KindDistribution,
		Help: "Time from a command's start until it was waited for.",
	}
	// cpu.stat or cpuacct.usage of the command's own group, which have all its
	// descendants; else wait4's, which has those that were waited for.
	descCommandCPU = &probe.Desc{
		Name: "tidestaff.command.cpu.time", Unit: "s", Kind: probe.KindDistribution,
		Help: "CPU time of one run of a command, its descendants included (cpu.stat or cpuacct.usage of its own control group, else wait4).",
	}
	// memory.peak or memory.max_usage_in_bytes of the command's own group, page
	// cache and kernel memory included; else the largest VmHWM that was seen of
	// the command and its descendants, a lower bound. Never ru_maxrss, which a
	// child inherits from the process that started it.
	descCommandPeak = &probe.Desc{
		Name: "tidestaff.command.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help: "Highest memory of any one run of a command that ended within the window (memory.peak or memory.max_usage_in_bytes " +
			"of its own control group, else VmHWM of its processes).",
	}
	descCommandFailures = &probe.Desc{
		Name: "tidestaff.command.failures", Unit: "{command}", Kind: probe.KindCounter,
		Help: "Commands that could not be started, were killed, or ended with a status other than 0.",
	}
)

var commandDescs = []*probe.Desc{descCommandDuration, descCommandCPU, descCommandPeak, descCommandFailures}

// commandSeries are the series of one command.
type commandSeries struct {
	duration, cpu *probe.Recorder
	peak          *probe.Peak
	failures      *probe.Counter
}

func (p *Probe) commandSeries(name string) *commandSeries {
	a := probe.Attr{Key: AttrCommand, Value: name}
	return &commandSeries{
		duration: p.core.Recorder(descCommandDuration, a),
		cpu:      p.core.Recorder(descCommandCPU, a),
		peak:     p.core.Peak(descCommandPeak, a),
		failures: p.core.Counter(descCommandFailures, a),
	}
}

// record counts one run that has ended. The peak is listed as absent until the
// first one of any command is known.
func (p *Probe) record(name string, u *Usage, failed bool) {
	s := p.commands.Get(name)
	s.duration.Record(int64(u.Duration))
	if u.CPU.OK {
		s.cpu.Record(int64(u.CPU.V * float64(time.Second)))
	}
	switch {
	case u.Peak.OK:
		s.peak.Measured(int64(u.Peak.V), u.Peak.Prov)
		if !p.peaks.Swap(true) {
			p.core.Absent(descCommandPeak.Name, "")
		}
	case u.Peak.Reason != "" && !p.peaks.Load():
		p.core.Absent(descCommandPeak.Name, u.Peak.Reason)
	}
	if failed {
		s.failures.Add(1)
	}
}
