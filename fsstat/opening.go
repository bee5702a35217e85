package fsstat

import (
	"errors"
	"io/fs"
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
	noted bool // by that name, when it began
}

// folder notes the open of a folder, of which the kernel does not tell.
func (v View) folder(name string) {
	if v.probe != nil {
		v.probe.notes.add(name)
	}
}

// opening begins one of a name; empty if the opened file is to say it.
func (v View) opening(name string) opening {
	p := v.probe
	if p == nil {
		return opening{}
	}
	p.around.enter()
	return opening{p, name, name != "" && p.notes.add(name)}
}

// done ends it with the file, if there is one at hand, or an error. It is noted
// now if it was not when it began, or if it turns out to have another name: one
// that is under way when notes begin or end must not be missing in them.
func (o opening) done(file any, err error) {
	if o.probe == nil || o.probe.around == nil && !o.probe.notes.on.Load() {
		return
	}
	conn, _ := file.(syscall.Conn)
	name := o.name
	if f, ok := file.(*os.File); ok && f != nil {
		name = f.Name()
	} else if failed, ok := errors.AsType[*fs.PathError](err); ok && name == "" {
		name = failed.Path
	}
	o.probe.around.leave(name, conn, err)
	if !o.noted || name != o.name {
		o.probe.notes.add(name)
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
func (p *Probe) Opened(do func()) map[string]int64 {
	n := &note{map[string]int64{}}
	if p != nil {
		p.notes.begin(n)
		defer p.notes.end(n)
	}
	do()
	return n.names
}

// notes are what is kept of the names that are opened.
type notes struct {
	on atomic.Bool

	mu sync.Mutex // guards what follows, and the names of each
	of []*note
}

type note struct{ names map[string]int64 }

func (n *notes) begin(one *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of = append(n.of, one)
	n.on.Store(true)
}

func (n *notes) end(one *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of = slices.DeleteFunc(n.of, func(o *note) bool { return o == one })
	n.on.Store(len(n.of) > 0)
}

// add notes a name, if somebody keeps notes.
func (n *notes) add(name string) bool {
	if !n.on.Load() {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.of {
		one.names[filepath.Clean(name)]++
	}
	return len(n.of) > 0
}
