package cgroup

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The methods of a process's peak, as a provenance names them.
const (
	markReset = "VmHWM reset"
	markRose  = "VmHWM rose"
)

// sharedMarks are the high-water marks of processes, by their folders in /proc.
// There is one of a process, whoever measures, and setting it back takes it away
// from everybody else. So all probes share it: what one of them takes, it hands
// to the others.
var sharedMarks shared[*mark]

// A mark is the kernel's high-water mark of a process's resident set (VmHWM).
//
// Between two boundaries the kernel keeps the maximum by itself. At a boundary
// the mark is read, given to the peaks of all users, and set back to the
// present level, so that it is the maximum of the interval that begins. What
// happens between the two system calls, some microseconds, is lost.
//
// Setting it back costs the same for any size of the process, since no page is
// looked at, but takes the lock of its memory map: behind threads that map and
// unmap all the time it may wait for milliseconds.
type mark struct {
	dir string // the process's in /proc
	// room is by how much the kernel's numbers may differ without anybody's doing.
	// The mark is kept from a quick count of pages and the level beside it is an
	// exact sum (Linux 6.16), so that a mark may stay above the level that it was set
	// back to, and be lower than when the level was above it.
	room uint64

	// mu makes reading, setting back and telling the users one step. Between
	// two goroutines that interleave, a maximum would be told to nobody.
	mu     sync.Mutex
	users  []*probe.Peak
	status file
	clear  file   // nil if the mark cannot be set back
	last   uint64 // the mark as it was left; 0 once it was set back
}

// newMark makes the mark of the process of a folder, on a machine of so many CPUs.
func newMark(dir string, cpus int) *mark {
	const counts = 3 // of anonymous pages, of files and of shared memory
	return &mark{dir: dir, room: uint64(counts * processUncertainty(cpus))}
}

// join makes a peak a user of the mark. The first one opens the files.
func (m *mark) join(p *probe.Peak, reset bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.users) == 0 {
		if err := m.open(); err != nil {
			return err
		}
	}
	if reset && m.clear == nil {
		m.openClear()
	}
	m.users = append(m.users, p)
	return nil
}

// leave undoes join. The last user closes the files.
func (m *mark) leave(p *probe.Peak) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users = slices.DeleteFunc(m.users, func(q *probe.Peak) bool { return q == p })
	if len(m.users) > 0 {
		return
	}
	_ = m.status.Close() // opened for reading
	m.dropClear()
}

func (m *mark) open() error {
	f, err := proc.Open(filepath.Join(m.dir, "status"))
	if err != nil {
		return err
	}
	m.status = f
	return nil
}

// openClear keeps the file that sets the mark back if the kernel obeys it.
func (m *mark) openClear() {
	f, err := proc.OpenWrite(filepath.Join(m.dir, "clear_refs"))
	if err != nil {
		return // refused: no such file, not ours, a sandbox
	}
	m.clear = f
	if !m.obeyed() {
		m.dropClear()
	}
}

func (m *mark) dropClear() {
	if m.clear != nil {
		_ = m.clear.Close()
		m.clear = nil
	}
}

// obeyed tries the reset once. A sandbox may accept the write and do nothing,
// which shows if the mark was well above the present level and stays where it was.
func (m *mark) obeyed() bool {
	before, err := m.read()
	if err != nil || !before.HWM.OK || m.clear.Write(five) != nil {
		return false
	}
	after, err := m.read()
	if err != nil || after.HWM.V >= before.HWM.V && before.HWM.V > max(before.RSS.V, after.RSS.V)+m.room {
		return false
	}
	m.last = 0
	for _, p := range m.users {
		p.Reset(level(before.HWM.V), markReset)
	}
	return true
}

// boundary takes the mark, and sets it back if reset says so and the kernel
// lets us.
func (m *mark) boundary(reset bool) (proc.Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.take(reset)
}

func (m *mark) take(reset bool) (proc.Status, error) {
	s, err := m.read()
	if err != nil {
		return s, err
	}
	// First the write and then the users: if the kernel refuses, the number is
	// still the maximum since the last reset, or of the lifetime.
	if reset && m.clear != nil && m.clear.Write(five) != nil {
		m.dropClear() // from here on the mark is a lifetime's
	}
	done := reset && m.clear != nil
	lost := s.HWM.OK && s.HWM.V+m.room < m.last // somebody else has set it back
	if m.last = s.HWM.V; done {
		m.last = 0 // it is the present level by now
	}
	for _, p := range m.users {
		// Whatever the mark tells. A window that was opened since another probe
		// read the mark and left it cannot tell whose maximum it is.
		p.Sample(level(s.RSS.V))
		switch {
		case done:
			p.Reset(level(s.HWM.V), markReset)
		case lost:
			p.Lost()
			fallthrough
		case s.HWM.OK: // some sandboxes have a level and no mark
			p.Lifetime(level(s.HWM.V), markRose)
		}
	}
	return s, nil
}

// five is the one command of clear_refs that sets the mark back. The others
// walk the page tables and disturb what the kernel knows of the pages' use.
var five = []byte("5")

// read reads level and mark in one go: from two reads, the mark could be below
// the level.
func (m *mark) read() (proc.Status, error) {
	b, err := m.status.Read()
	if err != nil {
		return proc.Status{}, err
	}
	s, err := proc.ParseStatus(b)
	if err == nil && !s.RSS.OK {
		err = errNoLevel
	}
	return s, about(m.status, err)
}

var errNoLevel = errors.New("no VmRSS")
