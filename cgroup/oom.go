package cgroup

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The events of memory.
const (
	// eventOOMKill says that processes of the group were killed for want of
	// memory. The process itself must be alive to say so: they are children or
	// siblings, or in groups below on version 2.
	eventOOMKill = "tidestaff.cgroup.memory.oom_kill"
	// eventLimitHit says that the group's charge met its limit, so that pages
	// had to be reclaimed before an allocation went on. That alone harms
	// nobody; with much page cache it is the normal state.
	eventLimitHit = "tidestaff.cgroup.memory.limit_hit"
	// eventCommandOOM says that processes of a command were killed for want
	// of memory. On version 2 they are in an eventOOMKill as well.
	eventCommandOOM = "tidestaff.command.oom_kill"
)

// The evidence of these events.
const (
	attrEventCount   = "tidestaff.cgroup.memory.event.count" // kills, or hits
	attrEventLevel   = "tidestaff.cgroup.memory.usage"       // bytes, when it was noticed
	attrEventLimit   = "tidestaff.cgroup.memory.limit"       // bytes; none if there is none
	attrEventNoticed = "tidestaff.cgroup.memory.noticed"     // inotify, eventfd, or sample
)

// hitsEvery is the least time between two events of hits that the kernel
// notifies us of: at the limit there may be thousands in a second.
const hitsEvery = time.Second

// An oomWatch makes events of the counts that the kernel keeps of a group: at
// once where it notifies us, and at boundaries of windows and some samples, which
// find what a notification missed.
type oomWatch struct {
	core *probe.Core
	wake *wake // nil if the kernel does not notify us

	mu      sync.Mutex   // guards what follows
	files   []*proc.File // of the counts
	shared  bool         // swap shares the limit: version 1 does not count its hits
	usage   *proc.File   // nil if it cannot be read
	limit   *proc.Limit  // nil if it cannot be read
	began   bool
	v       [4]proc.Value // of eventKeys, as last read
	counted oomCounts
	ooms    proc.Value // of counted.ooms, when the last kill was told
	at      time.Time  // of the last look
	hits    uint64     // not told yet
	since   time.Time  // of the first of them
	told    time.Time  // of the last event of hits
}

// oomCounts are totals since the group was made.
type oomCounts struct {
	kills proc.Value // processes killed, by whatever out-of-memory killer
	ooms  proc.Value // times that the limit was met and nothing could be reclaimed; version 2
	hits  proc.Value // times that the limit was met
}

// openOOM watches what happens at the group's memory limits: it counts all of it,
// and makes events of out-of-memory kills and hits of the limit. Both come from
// one read of each file.
func (p *Probe) openOOM(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descEvents}, rich: true}
	o, err := watchOOM(&p.core, g, p.opts.Root == "/")
	if err != nil {
		return s, err
	}
	s.reopen, s.close = o.reopen, o.close
	counts, v := p.newEvents(), make([]proc.Value, len(eventKeys))
	s.sample = func() error {
		if err := o.look(noticedBySample, true); err != nil {
			return err
		}
		o.numbers(v)
		return counts.set(v)
	}
	if o.wake == nil { // nobody tells, so look often
		s.tick = func() error { return o.look(noticedBySample, false) }
	}
	return s, nil
}

// noticedBySample is how an event was noticed that no notification told of.
const noticedBySample = "sample"

// watchOOM begins to watch a group. Files in its folder are written to only if
// write says so, which version 1 needs for its notification. What the first look
// makes no sense of, a sample meets too.
func watchOOM(core *probe.Core, g proc.Group, write bool) (*oomWatch, error) {
	o := &oomWatch{core: core}
	if err := o.open(g); err != nil {
		return nil, err
	}
	_ = o.look(noticedBySample, true)
	o.wake = newWake(g, write, func(method string) { _ = o.look(method, false) }) // a sample meets the error too
	return o, nil
}

// open opens the files. Version 2's memory.events has the groups below; those
// of version 1 are the group's alone, and the last of them, which counts hits of
// the limit of memory and swap together, is optional (and stays 0 on Linux 6.18).
func (o *oomWatch) open(g proc.Group) error {
	names := []string{"memory.events"}
	if g.Version == 1 {
		names = []string{"memory.oom_control", "memory.failcnt", "memory.memsw.failcnt"}
		o.shared = sharesSwap(g)
	}
	for i, name := range names {
		f, err := proc.Open(filepath.Join(g.Dir, name))
		if i == 2 && err != nil {
			continue
		}
		if err != nil {
			closeAll(o.files...)()
			return err
		}
		o.files = append(o.files, f)
	}
	var err error
	if o.usage, err = proc.Open(usageFile(g)); err != nil {
		o.usage = nil // events do without
	}
	if o.limit, err = proc.OpenMemoryLimit(g); err != nil {
		o.limit = nil
	}
	return nil
}

// reopen makes good for descriptors that are dead since the controller was
// switched off and on. Notification does not come back.
func (o *oomWatch) reopen() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.usage != nil {
		_ = o.usage.Reopen() // events do without
	}
	return reopenAll(o.files)
}

// close ends the notification and closes the files. It is called with the
// probe's lock held, which a notification does not want.
func (o *oomWatch) close() {
	o.wake.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	closeAll(append(o.files, o.usage)...)()
	o.limit.Close()
}

// eventKeys are the lines of memory.events that are counted, which are their
// names here as well. "max" is each time that a charge met the limit and pages
// had to be reclaimed first; "oom" that this did not help; "oom_kill" a process
// that was killed. A process has to be alive to count what happens to it: these
// are mostly children and siblings.
var eventKeys = []string{"high", "max", "oom", "oom_kill"}

// Positions in eventKeys.
const (
	eventMax = iota + 1
	eventOOM
	eventKill
)

// read reads memory.events; or version 1's line oom_kill of oom_control, which
// Linux 4.13 added, and its failcnt, which counts the same as "max" of the group
// itself, unless swap shares the limit.
func (o *oomWatch) read() (oomCounts, error) {
	b, err := o.files[0].Read()
	if err != nil {
		return oomCounts{}, err
	}
	var v [4]proc.Value
	if err := proc.ParseFlat(b, eventKeys, v[:]); err != nil {
		return oomCounts{}, o.files[0].About(err)
	}
	hits := v[eventMax]
	for i, f := range o.files[1:] {
		n, err := readUint(f)
		if err != nil {
			return oomCounts{}, err
		}
		hits = proc.Value{V: hits.V + n, OK: true}
		if i == 0 && !o.shared {
			v[eventMax] = hits
		}
	}
	o.v = v
	return oomCounts{kills: v[eventKill], ooms: v[eventOOM], hits: hits}, nil
}

// numbers are those of eventKeys at the last look.
func (o *oomWatch) numbers(v []proc.Value) {
	o.mu.Lock()
	defer o.mu.Unlock()
	copy(v, o.v[:])
}

// look tells what has happened since the last look: all of it at a boundary of a
// window, which wants to have its own.
func (o *oomWatch) look(noticed string, all bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, err := o.read()
	if err != nil {
		return err
	}
	now := time.Now()
	if !o.began {
		o.began, o.ooms = true, c.ooms
	} else {
		if n := rise(o.counted.kills, c.kills); n > 0 {
			o.tellKills(n, c, noticed, now)
		}
		o.tellHits(rise(o.counted.hits, c.hits), noticed, all, now)
	}
	o.counted, o.at = c, now
	return nil
}

// rise is by how much a total has grown, 0 if that is not known.
func rise(was, is proc.Value) uint64 {
	if !was.OK || !is.OK || is.V < was.V {
		return 0
	}
	return is.V - was.V
}

// tellKills tells of kills. If the limit was met in vain meanwhile it was this
// limit, or that of a group below; otherwise the kernel looked for a victim in a
// wider circle.
func (o *oomWatch) tellKills(n uint64, c oomCounts, noticed string, now time.Time) {
	cause := ""
	switch {
	case !c.ooms.OK:
	case rise(o.ooms, c.ooms) > 0:
		cause = "the group's limit"
	default:
		cause = "a limit above, or the machine"
	}
	o.ooms = c.ooms
	o.emit(probe.Event{Name: eventOOMKill, Cause: cause,
		Text: many(n, "process was", "processes were") + " killed for want of memory"}, n, noticed, now)
}

// tellHits tells of hits of the limit: the first at once, more of them once a
// second, unless all are wanted.
func (o *oomWatch) tellHits(n uint64, noticed string, all bool, now time.Time) {
	if n > 0 && o.hits == 0 {
		o.since = o.at
		if noticed != noticedBySample {
			o.since = now
		}
	}
	o.hits += n
	if o.hits == 0 || !all && !o.told.IsZero() && now.Sub(o.told) < hitsEvery {
		return
	}
	o.emit(probe.Event{Name: eventLimitHit, Start: o.since, Duration: now.Sub(o.since),
		Text: fmt.Sprintf("the memory limit was met %s", many(o.hits, "time", "times"))}, o.hits, noticed, now)
	o.hits, o.told = 0, now
}

// many is a number of things.
func many(n uint64, one, more string) string {
	if n == 1 {
		more = one
	}
	return strconv.FormatUint(n, 10) + " " + more
}

// emit adds the level and the limit. What a sample has found happened at some
// time since the last look.
func (o *oomWatch) emit(e probe.Event, n uint64, noticed string, now time.Time) {
	if e.Start.IsZero() {
		e.Start = now
		if noticed == noticedBySample {
			e.Start, e.Duration = o.at, now.Sub(o.at)
		}
	}
	e.Attrs = named(o.core, probe.Attr{Key: attrEventCount, Value: strconv.FormatUint(n, 10)}, probe.Attr{Key: attrEventNoticed, Value: noticed})
	if o.usage != nil {
		if v, err := readUint(o.usage); err == nil {
			e.Attrs = append(e.Attrs, probe.Attr{Key: attrEventLevel, Value: strconv.FormatUint(v, 10)})
			e.Text += fmt.Sprintf(", usage %.1f MiB", float64(v)/(1<<20))
		}
	}
	if o.limit != nil {
		if v, err := o.limit.Read(); err == nil && !math.IsInf(v, 1) {
			e.Attrs = append(e.Attrs, probe.Attr{Key: attrEventLimit, Value: strconv.FormatFloat(v, 'f', 0, 64)})
			e.Text += fmt.Sprintf(", limit %.1f MiB", v/(1<<20))
		}
	}
	o.core.Emit(e)
}

// named is attrs, with the probe's name if it has one.
func named(c *probe.Core, attrs ...probe.Attr) []probe.Attr {
	if c.Name != "" {
		attrs = append(attrs, probe.Attr{Key: probe.AttrProbeName, Value: c.Name})
	}
	return attrs
}

// emitKilledCommand tells of a command whose group has counted kills.
func (p *Probe) emitKilledCommand(u *Usage, begin time.Time) {
	n := uint64(u.OOMKills.V)
	e := probe.Event{Name: eventCommandOOM, Start: begin, Duration: u.Duration,
		Text: fmt.Sprintf("%s: %d of its processes killed for want of memory", u.Name, n),
		Attrs: named(&p.core, probe.Attr{Key: AttrCommand, Value: u.Name},
			probe.Attr{Key: attrEventCount, Value: strconv.FormatUint(n, 10)})}
	if u.Peak.OK {
		e.Attrs = append(e.Attrs, probe.Attr{Key: descCommandPeak.Name, Value: strconv.FormatFloat(u.Peak.V, 'f', 0, 64)})
		e.Text += fmt.Sprintf(", peak %.1f MiB", u.Peak.V/(1<<20))
	}
	p.core.Emit(e)
}
