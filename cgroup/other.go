package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// An other is a process that is not this one. A number may name another process
// tomorrow, so it is known by its start time as well.
//
// A descriptor of a file in /proc/PID stays with the process: when that has
// ended, reads fail, and never show a successor. Only opening goes by the number,
// so the first file to be opened is the one that tells who it is, it is kept, and
// it is read again after the others have been opened.
type other struct {
	pid  int
	file *proc.File // /proc/PID/stat
	born time.Duration
	gone error // why there is nothing to measure any more; it stays
}

var (
	errReused = errors.New("the number belongs to another process by now, which started later")
	errGo     = errors.New("the Go runtime of another process cannot be seen")
)

// openOther opens the files of the process of Options.PID. If it has ended, the
// first window after that finds it ended too: a process with its number, by then,
// is another one.
func (p *Probe) openOther() {
	p.list([]*probe.Desc{descGo, descGoCourse}, errGo)
	f, err := proc.Open(p.file("stat"))
	p.other = &other{pid: p.opts.PID, file: f, born: p.born}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w, never was, or is hidden from this one (hidepid): %w", proc.ErrEnded, err)
	}
	if err != nil {
		p.other.gone = fmt.Errorf("process %d: %w", p.opts.PID, err)
	}
	p.other.check()
	p.born = p.other.born
	for _, s := range []func() (*source, error){
		func() (*source, error) { return p.openSpent(p.other.spent) }, // first, since it checks
		p.openStatus,
		p.openProcessIO,
	} {
		p.addOther(s)
	}
}

// addOther adds a source of the process, none of whose functions is called, nor
// any file opened, once it is known to have ended.
func (p *Probe) addOther(open func() (*source, error)) {
	o := p.other
	guard := func(f func() error) func() error {
		if f == nil {
			return nil
		}
		return func() error {
			if o.gone != nil {
				return o.gone
			}
			return f()
		}
	}
	if o.gone != nil {
		for _, d := range processDescs {
			if d != descGo && d != descGoCourse {
				p.core.Absent(d.Name, reason(o.gone))
			}
		}
		return
	}
	s, err := open()
	s.sample, s.tick, s.reopen = guard(s.sample), guard(s.tick), guard(s.reopen)
	p.add(s, err)
}

// check finds out whether the process is still there.
func (o *other) check() (st proc.Stat) {
	if o.gone != nil {
		return st
	}
	st, err := o.read()
	if err != nil {
		o.gone = fmt.Errorf("process %d: %w", o.pid, err)
		return proc.Stat{}
	}
	o.born = st.Start
	return st
}

// read reads who has the number. A zombie has ended: it has no memory left.
func (o *other) read() (proc.Stat, error) {
	b, err := o.file.Read()
	if err != nil {
		return proc.Stat{}, err
	}
	st, err := proc.ParseStat(b)
	switch {
	case err != nil:
		err = o.file.About(err)
	case o.born != 0 && st.Start != o.born:
		err = errReused
	case st.State == 'Z' || st.State == 'X':
		err = proc.ErrEnded
	}
	return st, err
}

// spent is what the process has used, from /proc/PID/stat, at each boundary.
func (o *other) spent() (spent, error) {
	st := o.check()
	return spent{user: st.User, system: st.System, faults: true, minor: st.MinorFaults, major: st.MajorFaults}, o.gone
}

func (o *other) close() {
	if o != nil {
		_ = o.file.Close() // opened for reading
	}
}
