package fsstat

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A Root is an *os.Root whose operations on files are counted, in the role of
// whoever makes them. It has all methods of *os.Root; those that change names
// and modes are not counted.
type Root struct {
	*os.Root
	view View
}

// OpenRoot is os.OpenRoot. Opening the folder is not counted.
func (v View) OpenRoot(name string) (*Root, error) {
	defer v.folder(name).end()
	r, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return v.Root(r), nil
}

// Root is an *os.Root that was opened elsewhere. A nil r gives a nil Root.
func (v View) Root(r *os.Root) *Root {
	if r == nil {
		return nil
	}
	return &Root{r, v}
}

// path is the path under which a file is counted.
func (r *Root) path(name string) string { return filepath.Join(r.Name(), name) }

// Open is that of *os.Root.
func (r *Root) Open(name string) (*File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// Create is that of *os.Root.
func (r *Root) Create(name string) (*File, error) {
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile is that of *os.Root.
func (r *Root) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	return r.view.open(r.path(name), flag, func() (*os.File, error) { return r.Root.OpenFile(name, flag, perm) })
}

// OpenRoot is that of *os.Root. The root below counts as this one does.
func (r *Root) OpenRoot(name string) (*Root, error) {
	defer r.view.folder(r.path(name)).end()
	below, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return r.view.Root(below), nil
}

// ReadFile is that of *os.Root.
func (r *Root) ReadFile(name string) ([]byte, error) {
	c := r.view.begin(callReadFile)
	o := r.view.opening(r.path(name))
	if c.series == nil {
		b, err := r.Root.ReadFile(name)
		o.done(nil, err)
		return b, err
	}
	defer c.end()
	f, err := r.Root.Open(name)
	o.done(f, err)
	c.opened(r.path(name), err)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return c.readFile(f, r.path(name))
}

// WriteFile is that of *os.Root.
func (r *Root) WriteFile(name string, data []byte, perm fs.FileMode) error {
	c := r.view.begin(callWriteFile)
	o := r.view.opening(r.path(name))
	if c.series == nil {
		err := r.Root.WriteFile(name, data, perm)
		o.done(nil, err)
		return err
	}
	defer c.end()
	f, err := r.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	o.done(f, err)
	c.opened(r.path(name), err)
	if err != nil {
		return err
	}
	return c.writeFile(f, data)
}

// Stat is that of *os.Root.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	return r.view.stat(r.path(name), func() (fs.FileInfo, error) { return r.Root.Stat(name) })
}

// Lstat is that of *os.Root.
func (r *Root) Lstat(name string) (fs.FileInfo, error) {
	return r.view.stat(r.path(name), func() (fs.FileInfo, error) { return r.Root.Lstat(name) })
}

// Readlink is that of *os.Root. It counts as a stat.
func (r *Root) Readlink(name string) (string, error) {
	return r.view.readlink(r.path(name), func() (string, error) { return r.Root.Readlink(name) })
}

// FS is that of *os.Root, with its operations counted.
func (r *Root) FS() fs.FS {
	if r.view.probe == nil {
		return r.Root.FS()
	}
	return &dirFS{r.view.newFS(r.Root.FS(), r.Name()), false}
}
