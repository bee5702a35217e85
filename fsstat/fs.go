package fsstat

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// FS is fsys with its operations counted. It does what package io/fs does with
// fsys, by the methods that fsys has: a file system without a ReadFile of its own
// is read by opening and reading, which is what is counted. What fsys does inside
// a ReadFile of its own counts as one open and one read, in a ReadDir as an open
// and a directory read; a Glob of its own is not seen.
//
// A file that fsys opens as an *os.File is a *[File], with all its fast paths.
// Any other one has those of the interfaces fs.ReadDirFile, io.Seeker,
// io.ReaderAt and io.WriterTo that the original has.
//
// Files count under the names that fsys knows them by; an *os.File under its own.
// One of package os, an os.DirFS or a Root's, is as [View.DirFS] and [Root.FS].
// One that the probe counts already is what it was, and so is any for a nil Probe.
func (v View) FS(fsys fs.FS) fs.FS {
	if v.probe == nil {
		return fsys
	}
	if ours, ok := fsys.(counted); ok && ours.countedBy(v.probe) {
		return fsys
	}
	if of := v.osFS(fsys); of != nil {
		return of
	}
	return v.newFS(fsys, "")
}

// DirFS is os.DirFS: what [View.FS] does, but that a ReadFile is seen in full, and
// files count under paths that begin with dir.
func (v View) DirFS(dir string) fs.FS {
	if v.probe == nil {
		return os.DirFS(dir)
	}
	return &dirFS{v.newFS(os.DirFS(dir), dir), true}
}

// A fileSystem counts the operations of another one.
type fileSystem struct {
	view  View
	inner fs.FS
	dir   string // before the names
}

func (v View) newFS(fsys fs.FS, dir string) *fileSystem { return &fileSystem{v, fsys, dir} }

// countedBy says whether the probe counts the operations.
func (f *fileSystem) countedBy(p *Probe) bool { return f.view.probe == p }

// A fileSystem has every optional interface of package io/fs: where the inner one
// has not, it does what package io/fs would do instead.
var _ interface {
	fs.ReadFileFS
	fs.ReadDirFS
	fs.StatFS
	fs.GlobFS
	fs.SubFS
	fs.ReadLinkFS
} = (*fileSystem)(nil)

// plainFS is a fileSystem of which nothing is known but how to open files.
type plainFS struct{ fs.FS }

// path is the path under which a file counts.
func (f *fileSystem) path(name string) string {
	if f.dir == "" {
		return name
	}
	return filepath.Join(f.dir, filepath.FromSlash(name))
}

// Open implements [fs.FS].
func (f *fileSystem) Open(name string) (fs.File, error) {
	v := f.view.settled()
	c := v.begin(callOpen)
	defer c.end()
	inner, err := f.open(v, name)
	if err != nil {
		c.end()
		c.opened(f.path(name), err)
		return inner, err
	}
	if bare, ok := inner.(*os.File); ok {
		return openedFile(v, &c, bare), nil
	}
	if ours, ok := inner.(counted); ok && ours.countedBy(v.probe) {
		c.kind = untimed // the inner one opens by the probe, which has counted it
		return inner, nil
	}
	c.end()
	c.opened(f.path(name), nil)
	if v.probe == nil {
		return inner, nil
	}
	s := &stream{inner: inner, handle: handle{opener: v, name: f.path(name)}}
	if c.series != nil {
		s.openedBy(c, true)
	}
	return s.asFile(), nil
}

// open opens a file of the inner one, whatever that does.
func (f *fileSystem) open(v View, name string) (inner fs.File, err error) {
	o := v.opening(f.path(name))
	defer func() { o.done(inner, err) }() // it may panic
	return f.inner.Open(name)
}

// openedFile counts the open of an *os.File, which knows its name best.
func openedFile(v View, c *call, bare *os.File) *File {
	file := v.file(bare)
	if c.endOpen(bare) {
		file.pass.Store(streamPass)
	}
	if c.series != nil {
		c.opened(file.name, nil)
		file.openedBy(*c, true)
	}
	return file
}

// ReadFile implements [fs.ReadFileFS].
func (f *fileSystem) ReadFile(name string) ([]byte, error) {
	inner, ok := f.inner.(fs.ReadFileFS)
	if !ok {
		return fs.ReadFile(plainFS{f}, name)
	}
	c := f.view.begin(callReadFile)
	defer c.end()
	b, err := f.readFile(inner, name)
	c.end()
	c.opened(f.path(name), err)
	if err == nil {
		c.copied(in, int64(len(b)), false, nil)
		c.series.fromElsewhere(int64(len(b)))
	}
	return b, err
}

// readFile has the inner one read a file.
func (f *fileSystem) readFile(inner fs.ReadFileFS, name string) (b []byte, err error) {
	o := f.view.opening(f.path(name))
	defer func() { o.done(nil, err) }() // it may panic
	return inner.ReadFile(name)
}

// ReadDir implements [fs.ReadDirFS].
func (f *fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	inner, ok := f.inner.(fs.ReadDirFS)
	if !ok {
		return fs.ReadDir(plainFS{f}, name)
	}
	c := f.view.begin(callReadDir)
	defer c.end()
	defer f.view.folder(f.path(name)).end()
	entries, err := inner.ReadDir(name)
	c.end()
	c.listed(f.path(name), err)
	return entries, err
}

// Stat implements [fs.StatFS].
func (f *fileSystem) Stat(name string) (fs.FileInfo, error) {
	inner, ok := f.inner.(fs.StatFS)
	if !ok {
		return fs.Stat(plainFS{f}, name)
	}
	return f.view.stat(f.path(name), func() (fs.FileInfo, error) { return inner.Stat(name) })
}

// Lstat implements [fs.ReadLinkFS].
func (f *fileSystem) Lstat(name string) (fs.FileInfo, error) {
	inner, ok := f.inner.(fs.ReadLinkFS)
	if !ok {
		return f.Stat(name)
	}
	return f.view.stat(f.path(name), func() (fs.FileInfo, error) { return inner.Lstat(name) })
}

// ReadLink implements [fs.ReadLinkFS].
func (f *fileSystem) ReadLink(name string) (string, error) {
	inner, ok := f.inner.(fs.ReadLinkFS)
	if !ok {
		return fs.ReadLink(plainFS{f}, name)
	}
	return f.view.readlink(f.path(name), func() (string, error) { return inner.ReadLink(name) })
}

// Glob implements [fs.GlobFS].
func (f *fileSystem) Glob(pattern string) ([]string, error) {
	if inner, ok := f.inner.(fs.GlobFS); ok {
		return inner.Glob(pattern)
	}
	return fs.Glob(withoutGlob{f}, pattern)
}

// Sub implements [fs.SubFS].
func (f *fileSystem) Sub(dir string) (fs.FS, error) { return f.sub(f, dir) }

// sub is the part of whole, which is f or holds it, below dir.
func (f *fileSystem) sub(whole allButSub, dir string) (fs.FS, error) {
	inner, ok := f.inner.(fs.SubFS)
	if !ok {
		below, err := fs.Sub(withoutSub{whole}, dir)
		return f.view.part(below), err
	}
	below, err := inner.Sub(dir)
	if err != nil {
		return nil, err
	}
	return f.view.newFS(below, path.Join(filepath.ToSlash(f.dir), dir)), nil
}

// A part is what package io/fs makes of a part of a file system that has no Sub: a
// type of its own, of which nobody could tell that its operations are counted.
type part struct {
	partFS
	view View
}

// partFS is what package io/fs gives it. It has a Sub, but no Stat.
type partFS interface {
	fs.ReadFileFS
	fs.ReadDirFS
	fs.GlobFS
	fs.ReadLinkFS
}

func (v View) part(below fs.FS) fs.FS {
	if below, ok := below.(partFS); ok {
		return &part{below, v}
	}
	return below
}

// Sub implements [fs.SubFS].
func (s *part) Sub(dir string) (fs.FS, error) {
	below, err := fs.Sub(s.partFS, dir)
	return s.view.part(below), err
}

// countedBy says whether the probe counts the operations.
func (s *part) countedBy(p *Probe) bool { return s.view.probe == p }

// By what they lack, these have package io/fs do what it does for an inner file
// system that lacks it too.
type (
	withoutGlob struct{ allButGlob }
	withoutSub  struct{ allButSub }

	allButGlob interface {
		fs.ReadDirFS
		fs.StatFS
	}
	allButSub interface {
		fs.ReadFileFS
		fs.ReadDirFS
		fs.StatFS
		fs.GlobFS
		fs.ReadLinkFS
	}
)

// A dirFS is a fileSystem over one of package os, whose ReadFile is known to be
// that of package os.
type dirFS struct {
	*fileSystem
	named bool // its errors have the names of the file system, not those of package os
}

// ReadFile implements [fs.ReadFileFS].
func (d *dirFS) ReadFile(name string) ([]byte, error) {
	c := d.view.begin(callReadFile)
	if c.series == nil {
		return d.readFile(d.inner.(fs.ReadFileFS), name)
	}
	defer c.end()
	f, err := d.open(d.view, name)
	c.opened(d.path(name), err)
	bare, ok := f.(*os.File)
	if err != nil || !ok {
		if _, tried := errors.AsType[syscall.Errno](err); !tried {
			return d.fileSystem.readFile(d.inner.(fs.ReadFileFS), name) // for its own word on the name
		}
		return nil, err
	}
	defer bare.Close()
	b, err := c.readFile(bare, d.path(name))
	if failed, ok := err.(*fs.PathError); ok && d.named {
		failed.Path = name
		return nil, err
	}
	return b, err
}

// Sub implements [fs.SubFS].
func (d *dirFS) Sub(dir string) (fs.FS, error) { return d.sub(d, dir) }
