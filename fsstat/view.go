package fsstat

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/tidestaff/tidestaff/probe"
)

// A View is a Probe for one role or one operation; see [Probe.In] and
// [Probe.As]. The zero View counts nothing, as a nil Probe does.
type View struct {
	probe *Probe
	ctx   context.Context // knows the role, or nil; of no use beside a label
	label *probe.Label    // nil if it is to be found out at each call
	op    *probe.Op
}

// watched says whether an operation that begins now is counted.
func (v View) watched() bool { return v.probe != nil && v.probe.core.Watched() }

// who finds out who does the work.
func (v View) who() *probe.Label {
	if v.label != nil {
		return v.label
	}
	return probe.LabelOf(v.ctx)
}

// begin begins a call.
func (v View) begin() call {
	if !v.watched() {
		return call{}
	}
	return v.probe.begin(v.who(), v.op)
}

// Open is os.Open.
func (v View) Open(name string) (*File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// Create is os.Create.
func (v View) Create(name string) (*File, error) {
	return v.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile is os.OpenFile.
func (v View) OpenFile(name string, flag int, perm os.FileMode) (*File, error) {
	if v.watched() && v.label == nil {
		v.label, v.ctx = v.who(), nil
	}
	c := v.begin()
	f, err := os.OpenFile(name, flag, perm)
	c.end()
	c.count(opOpen, err)
	if err != nil {
		return nil, err
	}
	return &File{File: f, opener: v, appends: flag&os.O_APPEND != 0}, nil
}

// ReadFile is os.ReadFile.
func (v View) ReadFile(name string) ([]byte, error) {
	c := v.begin()
	if c.series == nil {
		return os.ReadFile(name)
	}
	defer c.end()
	f, err := os.Open(name)
	c.count(opOpen, err)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	size := 0
	if info, err := f.Stat(); err == nil && info.Size() == int64(int(info.Size())) {
		size = int(info.Size())
	}
	return readAll(f, size, c.tally)
}

// smallestRead is what a read of unknown size asks for at least: the files of
// /proc say that they are empty, and some of them cannot be read in pieces.
const smallestRead = 512

// readAll reads f to its end with the system calls of os.ReadFile: a buffer
// with room for one byte more than size finds the end with its second read.
func readAll(f *os.File, size int, t tally) ([]byte, error) {
	b := make([]byte, 0, max(size+1, smallestRead))
	room := 1
	if size == 0 {
		room = smallestRead
	}
	for {
		if cap(b)-len(b) < room {
			b = slices.Grow(b, smallestRead)
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		t.moved(in, int64(n), err)
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// ReadDir is os.ReadDir.
func (v View) ReadDir(name string) ([]fs.DirEntry, error) {
	c := v.begin()
	entries, err := os.ReadDir(name)
	c.end()
	if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "open" {
		c.count(opOpen, err)
		return entries, err
	}
	c.count(opOpen, nil)
	c.count(opReadDir, err)
	return entries, err
}

// Stat is os.Stat.
func (v View) Stat(name string) (fs.FileInfo, error) {
	c := v.begin()
	info, err := os.Stat(name)
	c.end()
	c.count(opStat, err)
	return info, err
}

// Lstat is os.Lstat.
func (v View) Lstat(name string) (fs.FileInfo, error) {
	c := v.begin()
	info, err := os.Lstat(name)
	c.end()
	c.count(opStat, err)
	return info, err
}
