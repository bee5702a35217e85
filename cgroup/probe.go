package cgroup

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// defaultInterval is that of samples, where samples are needed.
const defaultInterval = 100 * time.Millisecond

// Options configures a Probe. The zero value is ready for use.
type Options struct {
	// Name tells this probe from others of its kind in one Set. If empty, its
	// metrics carry no such attribute.
	Name string

	// Interval is the time between two samples of the levels: for their course,
	// and for peaks that the kernel does not keep, or keeps for the lifetime
	// only, where a spike must last two intervals to be seen for certain. If
	// zero, 100 ms; if negative, levels are looked at by readings only.
	Interval time.Duration

	// PID is the process to measure, and its control groups. If zero, it is
	// this process, or none if Path says so. Of another process there is
	// nothing of its Go runtime, and its CPU time comes in steps of 10 ms.
	//
	// Setting back its high-water mark needs the right to do so, and takes the
	// mark away from a process that measures itself: set NoReset for one.
	PID int

	// Path is a control group to measure, as /proc/PID/cgroup has it, such as
	// "/system.slice/db.service". It is taken in the hierarchy of each
	// controller. If empty, it is the group of the process.
	Path string

	// Root is the folder under which proc and sys are found. If empty, "/".
	// Another one holds a copy of some machine's files; nothing is written
	// there, so that peaks are not reset. CPU time and the Go runtime's memory
	// are this process's all the same.
	Root string

	// NoReset leaves the process's high-water mark alone, for a process in
	// which somebody else watches VmHWM. The peak is then exact only in windows
	// in which the lifetime's peak rose. It goes for the group's as well.
	NoReset bool

	// ResetShared sets back version 1's memory.max_usage_in_bytes at boundaries
	// of windows, which makes the group's peak exact there, and takes the mark
	// away from everybody else who watches the group. If false, it is only read.
	// Version 2 needs no such option: its mark is set back for us alone.
	ResetShared bool

	// CommandGroup is the folder of a version 2 group of the caller's own,
	// below which commands get their groups; see [Probe.StartCommand]. If
	// empty, that is the process's own group, or the one above it if that has
	// been delegated and has the memory controller switched on for the groups
	// below. Whose it is to switch on writes +memory to the folder's
	// cgroup.subtree_control; the probe does not.
	CommandGroup string
}

// A Probe measures the memory, the CPU time and the IO of the process and of its
// control group. It is made by [New] and safe for concurrent use.
type Probe struct {
	core probe.Core
	opts Options

	own         bool          // this process is measured
	limitsEvery time.Duration // of looks at limits and at the process's place

	// mu is held over every read of a source's files, so that their buffers
	// have one user, and that no descriptor is closed under a read. The order
	// of locks is this one, the marks', the Core's.
	mu      sync.Mutex
	sources []*source // none while no window is open
	groups  int       // index of the first source of the group
	mark    *mark     // the process's high-water mark, while it is joined
	other   *other    // the process, if it is not this one
	place   *place    // where the process stands among the groups
	sampler *sampler  // nil without samples
	self    timekeeper
	ticks   int
	born    time.Duration // start time of the process of Options.PID, once known

	nest     nest // makes the groups of commands
	commands *probe.Table[string, commandSeries]
	peaks    atomic.Bool // some command's peak is known
}

// New makes a probe. It does nothing until it is watched.
func New(o Options) *Probe {
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Root == "" {
		o.Root = "/"
	}
	if o.Root != "/" {
		o.NoReset = true
	}
	p := &Probe{opts: o, limitsEvery: limitsEvery, own: o.PID == 0 && o.Path == ""}
	if o.PID == os.Getpid() && o.Root == "/" {
		// The same process under another name would have its mark twice.
		p.own, p.opts.PID = true, 0
	}
	p.core.Name = o.Name
	p.core.Descs = append(slices.Clone(descs), commandDescs...)
	p.commands = probe.NewTable(0, otherCommands, p.commandSeries)
	p.core.Start = p.start
	p.core.Stop = p.stop
	p.core.Sample = p.sample
	return p
}

// Watch implements [probe.Probe]. The first window looks for the files and
// keeps them open. What cannot be measured here is listed as absent in the
// window's readings; there is always something that can, so the error is nil.
func (p *Probe) Watch() (*probe.Window, error) { return p.core.Watch() }

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc { return p.core.Describe() }

// start finds what can be measured. The place of a process among the cgroups
// may have changed since the last time, so nothing is remembered.
func (p *Probe) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticks = 0
	p.openTimekeeper()
	p.openSubject()
	p.groups = len(p.sources)
	p.openPlace() // before its groups are looked for, so that no move is missed
	p.openGroup(p.detect())
	if p.opts.Interval > 0 {
		p.sampler = startSampler(p.opts.Interval, p.tick)
	}
	return nil
}

// openSubject opens what is measured of a process.
func (p *Probe) openSubject() {
	switch {
	case p.opts.PID != 0:
		p.openOther()
	case !p.own:
		p.list(processDescs, errNoSubject)
	default:
		p.add(p.openProcess())
		p.add(p.openGo())
		p.add(p.openSpent(ownSpent))
		p.add(p.openProcessIO())
	}
}

// processDescs are the metrics of a process.
var processDescs = []*probe.Desc{
	descRSS, descPeak, descGrowth, descStat, descSwap, descCourse, descUncertainty, descFaults, descProcessIO,
	descGo, descGoCourse, descCPU,
}

var errNoSubject = errors.New("a group is measured (Options.Path) and no process")

// stop ends everything that start and the samples began. Samples may still be
// under way in other goroutines: they find no source and return.
func (p *Probe) stop() {
	p.mu.Lock()
	endAll(p.sources)
	p.sources = nil
	p.closePlace()
	p.other.close()
	p.other = nil
	ended := p.sampler
	p.sampler = nil
	p.mu.Unlock()
	if ended != nil {
		ended.stop() // without the lock, which a last tick may want
	}
}

func endAll(sources []*source) {
	for _, s := range sources {
		s.end()
	}
}

// add takes a source over. One that could not even be opened is left: the
// kernel does not have the file, and looking for it at every sample would only
// cost time. The first window after the last one has closed looks again.
func (p *Probe) add(s *source, err error) {
	if err != nil {
		p.list(s.metrics, err)
		p.list(s.decides, err)
		return
	}
	p.sources = append(p.sources, s)
	s.spans = p.place != nil && p.place.moves > 0
	s.failed = true // so that what was absent in earlier windows is taken back
	p.take(s, s.sample())
}

// take keeps the list of what is absent true after a sample or a tick. A metric
// that is listed has no value in a reading, whatever its series last held; it is
// taken off the list when the series hold the present.
func (p *Probe) take(s *source, err error) {
	switch {
	case err != nil:
		p.list(s.metrics, err)
		p.list(s.decides, err)
		s.failed, s.broken, s.gone = true, true, errors.Is(err, proc.ErrDetached)
	case s.failed:
		for _, d := range s.metrics {
			switch {
			case d.Kind == probe.KindPeak && s.spans:
				p.core.Absent(d.Name, errMoved.Error())
			case d.Kind == probe.KindPeak && s.broken && s.marks:
			default:
				p.core.Absent(d.Name, "")
			}
		}
		s.failed = false
	}
}

// list lists metrics as absent because of err, or takes that back if it is nil.
func (p *Probe) list(ds []*probe.Desc, err error) {
	why := ""
	if err != nil {
		why = reason(err)
	}
	for _, d := range ds {
		p.core.Absent(d.Name, why)
	}
}

// sample is the Core's hook before each reading.
func (p *Probe) sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	for _, s := range p.sources {
		p.take(s, s.again())
	}
}

// tick is called by the sampler, between boundaries. It reads what is cheap and,
// every tenth time, what is not, and what failed.
func (p *Probe) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sources == nil {
		return
	}
	before := p.self.begin()
	defer p.self.end(before)
	p.ticks++
	p.look(p.ticks%richEvery == 0)
}

// look is what a tick reads: the process's and the group's level, and if rich
// what costs several times as much.
func (p *Probe) look(rich bool) {
	if rich {
		p.follow()
	}
	for _, s := range p.sources {
		switch {
		case s.failed && rich:
			p.take(s, s.again())
		case s.failed:
		case s.tick != nil:
			p.take(s, s.tick())
		case s.rich && rich:
			p.take(s, s.sample())
		}
	}
}
