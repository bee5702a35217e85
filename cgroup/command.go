package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Usage is what one run of a command took, its descendants included.
type Usage struct {
	// Name is the command's row in the metrics.
	Name string
	// Duration is from before the fork until Wait had waited for everything.
	Duration time.Duration
	// CPU is the CPU time in seconds: of the command's own group, or, where it
	// had none, what wait4 says, which leaves out descendants that nobody
	// waited for.
	CPU Value
	// Peak is the highest memory in bytes.
	//
	// From the command's own group it is exact, and is what the group was
	// charged for: page cache and kernel memory too, memory shared by several
	// processes once. The method is the kernel's file. Otherwise the method is
	// "VmHWM polled": the largest resident set of any one process among the
	// command and its descendants, as it was seen every few milliseconds. That
	// is a lower bound, with the number of looks and the longest time between
	// two, the last one being the command's end. Peak.Reason says why the
	// command had no group.
	Peak Value
	// OOMKills is how many of its processes the kernel has killed for want of
	// memory, whoever's limit it was. It takes a group to know; without one,
	// "signal: killed" may be that or anybody's kill.
	OOMKills Value
}

// String is one line with all of it, each number with how it is known.
func (u Usage) String() string {
	s := fmt.Sprintf("%s: %v", u.Name, u.Duration.Round(10*time.Microsecond))
	if u.CPU.OK {
		s += fmt.Sprintf(", CPU %v (%s)", time.Duration(u.CPU.V*float64(time.Second)).Round(10*time.Microsecond), u.CPU.Prov.Method)
	}
	switch p := u.Peak.Prov; {
	case !u.Peak.OK:
		s += ", peak unknown: " + u.Peak.Reason
	case p.How == probe.Exact:
		s += fmt.Sprintf(", peak %.1f MiB (%s)", u.Peak.V/(1<<20), p.Method)
	default:
		s += fmt.Sprintf(", peak at least %.1f MiB (%s, %s at most %v apart; %s)", u.Peak.V/(1<<20), p.Method,
			many(p.Samples, "look", "looks"), p.MaxGap.Round(time.Millisecond), u.Peak.Reason)
	}
	if u.OOMKills.V > 0 {
		s += ", " + many(uint64(u.OOMKills.V), "process", "processes") + " killed for want of memory"
	}
	return s
}

// A LeftError says that the group of a command could not be removed: processes
// which the command started have outlived it, or it has made groups below. The
// processes are left alone, for nobody has asked to end them, and so is the
// group, in which they are. The numbers are those until then. The probe removes
// the group when it starts a command after the last process has ended.
type LeftError struct {
	Dirs []string // what is left
	PIDs []int    // processes that are in it, which may be none
	Err  error    // of the removal; nil if it was not tried because of PIDs
}

// Error names the folders and the processes.
func (e *LeftError) Error() string {
	s := "cgroup: the command's group is left: " + strings.Join(e.Dirs, ", ")
	if len(e.PIDs) > 0 {
		s += fmt.Sprintf(": processes outlived the command: %v", e.PIDs)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the error of the removal.
func (e *LeftError) Unwrap() error { return e.Err }

// Run runs a command as its own Run does, and says what it took. It is
// [Probe.RunCommand] for a single command, which no probe counts.
func Run(cmd *exec.Cmd) (Usage, error) { return New(Options{}).RunCommand("", cmd) }

// RunCommand is [Probe.StartCommand] and [Command.Wait].
func (p *Probe) RunCommand(name string, cmd *exec.Cmd) (Usage, error) {
	c, err := p.StartCommand(name, cmd)
	if err != nil {
		return Usage{Name: commandName(name, cmd)}, err
	}
	return c.Wait()
}

// A Command is a command under way. It is made by [Probe.StartCommand].
type Command struct {
	probe   *Probe
	cmd     *exec.Cmd
	name    string
	watched bool // a window was open when it began
	begin   time.Time
	cell    *cell  // nil if it has no group of its own
	looks   *looks // nil if its peak is the group's
	why     string // there is no exact peak

	once  sync.Once
	usage Usage
	err   error
}

// StartCommand starts a command that the caller has made with package os/exec,
// in a control group of its own where that is permitted. Its row in the metrics
// is name, or if that is empty the program's base name; arguments are not looked
// at, since they may be secrets. Give names from a fixed list, such as
// "git upload-pack": those beyond 500 share one row.
//
// The group is made below the process's own one, so that no limit is escaped.
// On version 2 the command starts in it. It has a peak of its own only if the
// memory controller is switched on for the groups below, which a process cannot
// do for the group that it is in itself, and which is never done here: see
// [Options.CommandGroup]. On version 1 the groups are in the memory hierarchy,
// and in that of cpuacct unless the cpu controller shares it, for a group of its
// own would then change the command's share of the CPUs; the forking thread is
// in them for the time of the fork, so that no charge is missed.
//
// An error is the command's own; that it gets no group is none. A command that
// was started must be waited for with [Command.Wait], not with its own Wait.
//
// Note: its standard streams, context, Cancel and WaitDelay work as always. Its
// SysProcAttr is the caller's again when StartCommand returns.
func (p *Probe) StartCommand(name string, cmd *exec.Cmd) (*Command, error) {
	c := &Command{probe: p, cmd: cmd, name: commandName(name, cmd), watched: p.core.Watched()}
	outside, err := c.start()
	switch {
	case err != nil:
		c.record(&Usage{Duration: time.Since(c.begin)}, true)
		return nil, join(err, c.cell.remove(nil))
	case outside != nil:
		c.why = "not in a group of its own: " + outside.Error()
		_ = c.cell.remove(nil) // if it was made, nobody is in it
		c.cell = nil
	default:
		c.why = c.cell.peak.why
	}
	if c.why != "" {
		c.looks = startLooks(c.cell, cmd.Process.Pid)
	}
	return c, nil
}

// start starts the command in a cell, or outside for a reason.
func (c *Command) start() (outside, err error) {
	c.cell, outside = c.probe.nest.open(c.probe.opts, c.cmd)
	c.begin = time.Now()
	if outside != nil {
		return outside, c.cmd.Start()
	}
	return c.cell.start(c.cmd.Start)
}

// commandName is the row of a command.
func commandName(name string, cmd *exec.Cmd) string {
	return cmp.Or(name, filepath.Base(cmd.Path))
}

// Wait waits for the command as its own Wait does, and says what it took, also
// if it failed or its context has ended. The error is the command's, joined with
// a [*LeftError] if it left processes behind; those that are about to end are
// waited for, a tenth of a second. A second Wait returns the first one's result.
func (c *Command) Wait() (Usage, error) {
	c.once.Do(func() { c.usage, c.err = c.wait() })
	return c.usage, c.err
}

func (c *Command) wait() (Usage, error) {
	err := c.cmd.Wait()
	u := Usage{Name: c.name, Duration: time.Since(c.begin), CPU: waitedCPU(c.cmd.ProcessState)}
	if c.looks != nil {
		u.Peak = c.looks.stop()
	}
	if c.cell == nil {
		u.OOMKills.Reason = c.why
	}
	pids := c.cell.settle()
	c.cell.measure(&u)
	if c.why != "" && !u.Peak.OK {
		u.Peak.Reason += ", "
	}
	u.Peak.Reason += c.why
	c.record(&u, err != nil)
	if u.OOMKills.V > 0 {
		c.probe.emitKilledCommand(&u, c.begin)
	}
	left := c.cell.remove(pids)
	if e, ok := left.(*LeftError); ok {
		c.probe.nest.leave(e.Dirs)
	}
	return u, join(err, left)
}

// join leaves the command's error as it is if it is the only one, for a caller
// who looks at its type.
func join(err, left error) error {
	if left == nil {
		return err
	}
	return errors.Join(err, left)
}

// record counts the run in the windows that are open now, if any was when it
// began.
func (c *Command) record(u *Usage, failed bool) {
	if c.watched {
		c.probe.record(c.name, u, failed)
	}
}

// waitedCPU is the CPU time of a process that was waited for and, but on
// Windows, of those of its descendants that were waited for in their turn.
func waitedCPU(s *os.ProcessState) Value {
	if s == nil {
		return Value{Reason: "the command was not waited for"}
	}
	method := "wait4"
	if runtime.GOOS == "windows" {
		method = "GetProcessTimes"
	}
	return Value{V: (s.UserTime() + s.SystemTime()).Seconds(), OK: true, Prov: probe.Provenance{Method: method}}
}
