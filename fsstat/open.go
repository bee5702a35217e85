package fsstat

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Open is os.Open.
func (v View) Open(name string) (*File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// Create is os.Create.
func (v View) Create(name string) (*File, error) {
	return v.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile is os.OpenFile.
func (v View) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	return v.open(name, flag, func() (*os.File, error) { return os.OpenFile(name, flag, perm) })
}

// CreateTemp is os.CreateTemp. It counts as one open of the name that was found,
// however many were tried.
func (v View) CreateTemp(dir, pattern string) (*File, error) {
	return v.open("", os.O_RDWR, func() (*os.File, error) { return os.CreateTemp(dir, pattern) })
}

// OpenInRoot is os.OpenInRoot.
func (v View) OpenInRoot(dir, name string) (*File, error) {
	defer v.folder(dir).end()
	return v.open(filepath.Join(dir, name), os.O_RDONLY, func() (*os.File, error) { return os.OpenInRoot(dir, name) })
}

// errNoFile is of an open that returns neither a file nor an error.
var errNoFile = errors.New("the function that opens it has returned neither a file nor an error")

// OpenBy counts what open does as an open of name: for whatever opens files in
// its own way. It must return a file or an error.
func (v View) OpenBy(name string, open func() (*os.File, error)) (*File, error) {
	return v.open(name, os.O_RDWR, open)
}

// File is a file that package os or somebody else has opened, whose operations
// are counted from now on. A nil f gives a nil File.
func (v View) File(f *os.File) *File {
	if f == nil {
		return nil
	}
	return v.settled().file(f)
}

// NewFile is os.NewFile, with the operations of the file counted.
func (v View) NewFile(fd uintptr, name string) *File { return v.File(os.NewFile(fd, name)) }

// Pipe is os.Pipe, with the operations of both ends counted.
func (v View) Pipe() (r, w *File, err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return v.File(from), v.File(to), nil
}

// open counts an open of name, unless the opened file says another one.
func (v View) open(name string, flag int, open func() (*os.File, error)) (*File, error) {
	v = v.settled()
	c := v.begin(callOpen)
	defer c.end()
	f, err := v.opening(name).of(open)
	if err == nil && f == nil {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	if err != nil {
		c.end()
		c.opened(name, err)
		return nil, err
	}
	file := v.file(f)
	if c.endOpen(f) {
		file.pass.Store(streamPass)
	}
	file.appends = flag&os.O_APPEND != 0
	if c.series != nil {
		c.opened(f.Name(), nil)
		file.openedBy(c, flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) == 0)
	}
	return file, nil
}

// file is an open file of the view.
func (v View) file(f *os.File) *File {
	return &File{File: f, handle: handle{opener: v, name: f.Name()}}
}

// openedBy notes that the open was counted.
func (h *handle) openedBy(c call, reads bool) {
	h.row.Store(c.row)
	h.label.Store(h.opener.label)
	h.opened, h.reads = c.series.probe.epoch.Load(), reads
}

// ReadFile is os.ReadFile.
func (v View) ReadFile(name string) ([]byte, error) {
	c := v.begin(callReadFile)
	o := v.opening(name)
	if c.series == nil {
		b, err := os.ReadFile(name)
		o.done(nil, err)
		return b, err
	}
	defer c.end()
	f, err := os.Open(name)
	o.done(f, err)
	c.opened(name, err)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return c.readFile(f, name)
}

// readFile reads a file that was just opened, with the system calls of
// os.ReadFile: the size that it asks for is part of the identity.
func (c *call) readFile(f *os.File, name string) ([]byte, error) {
	info, err := f.Stat()
	size := 0
	if err == nil && info.Size() == int64(int(info.Size())) {
		size = int(info.Size())
	}
	var p pass
	p.over(c.tally, name, info, err)
	if p.kind == untimed {
		c.kind = untimed
	}
	b, err := readAll(f, size, c.tally)
	p.read(c.tally, 0, int64(len(b)))
	p.streamed(c.tally, int64(len(b)))
	return b, err
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

// WriteFile is os.WriteFile: an open and a write.
func (v View) WriteFile(name string, data []byte, perm fs.FileMode) error {
	c := v.begin(callWriteFile)
	o := v.opening(name)
	if c.series == nil {
		err := os.WriteFile(name, data, perm)
		o.done(nil, err)
		return err
	}
	defer c.end()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	o.done(f, err)
	c.opened(name, err)
	if err != nil {
		return err
	}
	return c.writeFile(f, data)
}

// writeFile writes all of a file that was just opened, and closes it. The first
// error is the one that counts.
func (c *call) writeFile(f *os.File, data []byte) error {
	if waitsAt(f) {
		c.kind = untimed
	}
	n, err := f.Write(data)
	c.moved(out, int64(n), err)
	if closed := f.Close(); err == nil {
		err = closed
		c.failed(err)
	}
	return err
}
