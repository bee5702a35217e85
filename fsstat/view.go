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
	known tally // zero if the role is to be found out at each call
}

// tally finds out who does the work.
func (v View) tally() tally {
	if v.probe == nil || v.known.series != nil {
		return v.known
	}
	return tally{series: v.probe.labels.Of(probe.LabelOf(context.Background()))}
}

// Open is os.Open.
func (v View) Open(name string) (*File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// Create is os.Create.
func (v View) Create(name string) (*File, error) {
	return v.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile is os.OpenFile.
func (v View) OpenFile(name string, flag int, perm os.FileMode) (*File, error) {
	t := v.tally()
	f, err := os.OpenFile(name, flag, perm)
	t.count(opOpen, err)
	if err != nil {
		return nil, err
	}
	return &File{File: f, tally: t, appends: flag&os.O_APPEND != 0}, nil
}

// ReadFile is os.ReadFile.
func (v View) ReadFile(name string) ([]byte, error) {
	t := v.tally()
	f, err := os.Open(name)
	t.count(opOpen, err)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	size := 0
	if info, err := f.Stat(); err == nil && info.Size() == int64(int(info.Size())) {
		size = int(info.Size())
	}
	return readAll(f, size, t)
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
	t := v.tally()
	entries, err := os.ReadDir(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "open" {
		t.count(opOpen, err)
		return entries, err
	}
	t.count(opOpen, nil)
	t.count(opReadDir, err)
	return entries, err
}

// Stat is os.Stat.
func (v View) Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	v.tally().count(opStat, err)
	return info, err
}

// Lstat is os.Lstat.
func (v View) Lstat(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	v.tally().count(opStat, err)
	return info, err
}
