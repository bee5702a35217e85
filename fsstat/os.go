package fsstat

import (
	"io"
	"io/fs"
	"os"
)

// here is the probe for the calling goroutine, whose role is not known yet.
func (p *Probe) here() View { return View{probe: p} }

// Open is os.Open.
func (p *Probe) Open(name string) (*File, error) { return p.here().Open(name) }

// Create is os.Create.
func (p *Probe) Create(name string) (*File, error) { return p.here().Create(name) }

// OpenFile is os.OpenFile.
func (p *Probe) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	return p.here().OpenFile(name, flag, perm)
}

// CreateTemp is os.CreateTemp; see [View.CreateTemp].
func (p *Probe) CreateTemp(dir, pattern string) (*File, error) {
	return p.here().CreateTemp(dir, pattern)
}

// ReadFile is os.ReadFile.
func (p *Probe) ReadFile(name string) ([]byte, error) { return p.here().ReadFile(name) }

// WriteFile is os.WriteFile.
func (p *Probe) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return p.here().WriteFile(name, data, perm)
}

// Truncate is os.Truncate; see [View.Truncate].
func (p *Probe) Truncate(name string, size int64) error { return p.here().Truncate(name, size) }

// ReadDir is os.ReadDir.
func (p *Probe) ReadDir(name string) ([]fs.DirEntry, error) { return p.here().ReadDir(name) }

// Stat is os.Stat.
func (p *Probe) Stat(name string) (fs.FileInfo, error) { return p.here().Stat(name) }

// Lstat is os.Lstat.
func (p *Probe) Lstat(name string) (fs.FileInfo, error) { return p.here().Lstat(name) }

// Readlink is os.Readlink.
func (p *Probe) Readlink(name string) (string, error) { return p.here().Readlink(name) }

// CopyFS is os.CopyFS; see [View.CopyFS].
func (p *Probe) CopyFS(dir string, fsys fs.FS) error { return p.here().CopyFS(dir, fsys) }

// NewFile is os.NewFile; see [View.NewFile].
func (p *Probe) NewFile(fd uintptr, name string) *File { return p.here().NewFile(fd, name) }

// Pipe is os.Pipe; see [View.Pipe].
func (p *Probe) Pipe() (r, w *File, err error) { return p.here().Pipe() }

// OpenRoot is os.OpenRoot.
func (p *Probe) OpenRoot(name string) (*Root, error) { return p.here().OpenRoot(name) }

// OpenInRoot is os.OpenInRoot.
func (p *Probe) OpenInRoot(dir, name string) (*File, error) { return p.here().OpenInRoot(dir, name) }

// DirFS is os.DirFS; see [View.DirFS].
func (p *Probe) DirFS(dir string) fs.FS { return p.here().DirFS(dir) }

// FS is fsys with its operations counted; see [View.FS].
func (p *Probe) FS(fsys fs.FS) fs.FS { return p.here().FS(fsys) }

// File is a file that was opened elsewhere; see [View.File].
func (p *Probe) File(f *os.File) *File { return p.here().File(f) }

// Root is an *os.Root that was opened elsewhere; see [View.Root].
func (p *Probe) Root(r *os.Root) *Root { return p.here().Root(r) }

// Reader is r with its reads counted; see [View.Reader].
func (p *Probe) Reader(name string, r io.Reader) io.Reader { return p.here().Reader(name, r) }

// ReaderAt is r with its reads counted; see [View.ReaderAt].
func (p *Probe) ReaderAt(name string, r io.ReaderAt) io.ReaderAt { return p.here().ReaderAt(name, r) }
