package fsstat

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// An opening is an open that the program makes through the probe, for those that
// compare its opens with the ones that others tell of. It says nothing of what is
// counted, and does not ask whether a window is open. The zero opening is of a nil
// probe.
type opening struct {
	probe *Probe
	name  string
	noted noted // by that name, when it began
}

// folder notes the open of a folder, of which the kernel does not tell.
func (v View) folder(name string) noted {
	if v.probe == nil {
		return noted{}
	}
	return v.probe.notes.begin(name)
}

// opening begins one of a name; empty if the opened file is to say it.
func (v View) opening(name string) opening {
	p := v.probe
	if p == nil {
		return opening{}
	}
	p.around.enter()
	if name == "" {
		return opening{probe: p}
	}
	return opening{p, name, p.notes.begin(name)}
}

// done ends it with the file, if there is one at hand, or an error. It is noted
// now if it was not when it began, or if it turns out to have another name.
func (o opening) done(file any, err error) {
	if o.probe == nil || o.probe.around == nil && !noting.Load() {
		return
	}
	defer o.noted.end()
	conn, _ := file.(syscall.Conn)
	name := o.name
	if f, ok := file.(*os.File); ok && f != nil {
		name = f.Name()
	} else if failed, ok := errors.AsType[*fs.PathError](err); ok && name == "" {
		name = failed.Path
	}
	o.probe.around.leave(name, conn, err)
	if o.noted == (noted{}) || name != o.name {
		o.probe.notes.begin(name).end()
	}
}

// of makes the open, by somebody's function.
func (o opening) of(open func() (*os.File, error)) (f *os.File, err error) {
	defer func() { o.done(f, err) }() // it may panic
	return open()
}

// isOpenError says whether an error is that of an open, rather than of what was
// done with the file.
func isOpenError(err error) bool {
	failed, ok := errors.AsType[*fs.PathError](err)
	return ok && (failed.Op == "open" || failed.Op == "openat")
}

// Opened calls do, and returns how often each name was opened through the probe
// meanwhile, at least in part, and in vain too, with the names cleaned. A file that
// turns out to have another name than it was opened by has both. It keeps all, and is
// for tests: package fsstattest compares them with those that package os has
// opened. Through a nil Probe none is.
//
// Missing is an open that is under way at the call and at the return, if it was so
// at the first call in the process, or if only the file tells the name (CreateTemp).
func (p *Probe) Opened(do func()) map[string]int64 {
	noting.Store(true)
	if p == nil {
		do()
		return map[string]int64{}
	}
	n := p.notes.keep()
	defer p.notes.drop(n)
	do()
	return n.names
}

// noting says that somebody in the process has asked for the names. Probes keep
// those that are under way from then on: an open that began before the notes may
// be told of after their beginning.
var noting atomic.Bool

// notes are what is kept of the names that are opened.
type notes struct {
	mu    sync.Mutex       // guards what follows, and the names of each
	under map[string]int64 // how many opens of a name are under way
	of    []*note
}

type note struct{ names map[string]int64 }

// noted is an open that the notes hold for under way. The zero noted is none.
type noted struct {
	notes *notes
	name  string // cleaned
}

func (n *notes) keep() *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := &note{map[string]int64{}}
	maps.Copy(one.names, n.under)
	n.of = append(n.of, one)
	return one
}

func (n *notes) drop(one *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of = slices.DeleteFunc(n.of, func(o *note) bool { return o == one })
}

// begin notes the open of a name, if somebody has ever asked.
func (n *notes) begin(name string) noted {
	if !noting.Load() {
		return noted{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	name = filepath.Clean(name)
	if n.under == nil {
		n.under = map[string]int64{}
	}
	n.under[name]++
	for _, one := range n.of {
		one.names[name]++
	}
	return noted{n, name}
}

func (o noted) end() {
	if o.notes == nil {
		return
	}
	o.notes.mu.Lock()
	defer o.notes.mu.Unlock()
	o.notes.under[o.name]--
	if o.notes.under[o.name] == 0 {
		delete(o.notes.under, o.name)
	}
}
