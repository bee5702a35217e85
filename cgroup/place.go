package cgroup

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// A place is where the process stands among the cgroups: /proc/PID/cgroup, kept
// and compared now and then. Somebody may move a process, and a group's kept files
// would go on telling about the one that it has left.
type place struct {
	file   *proc.File
	text   []byte
	groups []Group // what the text led to
	due    int64   // probe.Now of the next look
	moves  int     // while windows were open
}

// eventMoved tells the windows that were open that they span two groups: the
// lines of /proc/PID/cgroup before and after.
const (
	eventMoved    = "tidestaff.cgroup.moved"
	attrMovedFrom = "tidestaff.cgroup.moved.from"
	attrMovedTo   = "tidestaff.cgroup.moved.to"
)

var errMoved = errors.New("the process was moved to another cgroup while a window was open, " +
	"and a peak would be of two groups; the first window after all have closed has it again")

// openPlace begins to follow the process, unless the group was named.
func (p *Probe) openPlace() {
	p.place = nil
	if p.opts.Path != "" || p.other != nil && p.other.gone != nil {
		return
	}
	f, err := proc.Open(p.file("cgroup"))
	if err != nil {
		return // and detection will say so
	}
	if b, err := f.Read(); err == nil {
		p.place = &place{file: f, text: bytes.Clone(b), due: probe.Now() + int64(p.limitsEvery)}
		return
	}
	_ = f.Close() // opened for reading
}

func (p *Probe) closePlace() {
	if p.place != nil {
		_ = p.place.file.Close() // opened for reading
		p.place = nil
	}
}

// follow looks whether the process has been moved and, if so, measures its new
// groups from now on. Counters go on with what is added there; what was charged
// to the old group's memory stays with it.
func (p *Probe) follow() {
	now := probe.Now()
	if p.place == nil || now < p.place.due {
		return
	}
	p.place.due = now + int64(p.limitsEvery)
	b, err := p.place.file.Read()
	if err != nil || bytes.Equal(b, p.place.text) {
		return // a process that has ended is not anywhere else
	}
	was, is := changed(string(p.place.text), string(b))
	p.place.text = bytes.Clone(b)
	groups, err := p.detect()
	if slices.Equal(listGroups(groups, err), p.place.groups) {
		return // moved in a hierarchy of which nothing is measured
	}
	p.place.moves++
	endAll(p.sources[p.groups:])
	p.sources = p.sources[:p.groups]
	p.openGroup(groups, err)
	p.core.Emit(probe.Event{
		Name: eventMoved, Start: time.Now(), Cause: "moved",
		Text:  "the process was moved from cgroup " + was + " to " + is + ": numbers of the group are of two groups",
		Attrs: named(&p.core, probe.Attr{Key: attrMovedFrom, Value: was}, probe.Attr{Key: attrMovedTo, Value: is}),
	})
}

// changed is the first line that differs between two lists of groups.
func changed(was, is string) (from, to string) {
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return before[i], after[i]
		}
	}
	return strings.Join(before, " "), strings.Join(after, " ")
}

// detect finds the groups. Those of another process are listed by its number,
// and the number must still be its own when the list has been read.
func (p *Probe) detect() (*proc.Cgroups, error) {
	if p.opts.Path != "" {
		groups, err := proc.Detect(p.opts.Root)
		if err != nil {
			return nil, err
		}
		return groups.At(p.opts.Path)
	}
	if p.opts.PID == 0 {
		return proc.Detect(p.opts.Root)
	}
	groups, err := proc.DetectOf(p.opts.Root, p.opts.PID)
	if p.other == nil {
		return groups, err // nobody watches
	}
	if p.other.check(); p.other.gone != nil {
		return nil, p.other.gone
	}
	return groups, err
}
