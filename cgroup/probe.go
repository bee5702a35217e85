package cgroup

import (
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// defaultInterval is that of samples, where samples are needed.
const defaultInterval = 100 * time.Millisecond

// Options configures a Probe. The zero value is ready for use.
type Options struct {
	// Name tells this probe from others of its kind in one Set. If empty, its
	// metrics carry no such attribute.
	Name string

	// Interval is the time between two samples of a level whose peak the
	// kernel does not keep, or keeps for the lifetime only. If zero, 100 ms.
	// A spike must last two intervals to be seen for certain.
	Interval time.Duration

	// Root is the folder under which proc and sys are found. If empty, "/".
	// Another one holds a copy of some machine's files; nothing is written
	// there, so that peaks are not reset. CPU time and the Go runtime's memory
	// are this process's all the same.
	Root string

	// NoReset leaves the process's high-water mark alone, for a process in
	// which somebody else watches VmHWM. The peak is then exact only in windows
	// in which the lifetime's peak rose.
	NoReset bool
}

// A Probe measures the memory and the CPU time of the process and of its
// control group. It is made by [New] and safe for concurrent use.
type Probe struct {
	core probe.Core
	opts Options
	mark *mark // the process's high-water mark, shared by all probes of a root

	// mu is held over every read of a source's files, so that their buffers
	// have one user, and that no descriptor is closed under a read. The order
	// of locks is this one, the mark's, the Core's.
	mu      sync.Mutex
	sources []*source // none while no window is open
	sampler *sampler  // nil while no level has to be sampled
}

// New makes a probe. It does nothing until it is watched.
func New(o Options) *Probe {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	p := &Probe{opts: o, mark: ownMark}
	if o.Root == "" {
		p.opts.Root = "/"
	}
	if p.opts.Root != "/" {
		p.mark = newMark(p.opts.Root)
		p.opts.NoReset = true
	}
	p.core.Name = o.Name
	p.core.Descs = descs
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
	p.add(p.openProcess())
	p.add(p.openGo())
	p.add(p.openCPU())
	p.openGroup()
	return nil
}

// stop ends everything that start and the samples began. Samples may still be
// under way in other goroutines: they find no source and return.
func (p *Probe) stop() {
	p.mu.Lock()
	for _, s := range p.sources {
		s.end()
	}
	p.sources = nil
	ended := p.sampler
	p.sampler = nil
	p.mu.Unlock()
	if ended != nil {
		ended.stop() // without the lock, which a last tick may want
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
		s.failed, s.broken = true, true
	case s.failed:
		for _, d := range s.metrics {
			if !s.broken || !s.marks || d.Kind != probe.KindPeak {
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

// sample is the Core's hook before each reading. It starts the sampler when
// some source needs one, which may turn out late: a reset of a mark that used
// to work can be refused from some moment on.
func (p *Probe) sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	ticking := false
	for _, s := range p.sources {
		p.take(s, s.again())
		ticking = ticking || s.tick != nil
	}
	if p.sampler == nil && ticking {
		p.sampler = startSampler(p.opts.Interval, p.tick)
	}
}

// tick is called by the sampler, between boundaries. What failed is left for
// the next boundary.
func (p *Probe) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sources {
		if s.tick != nil && !s.failed {
			p.take(s, s.tick())
		}
	}
}
