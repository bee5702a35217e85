package fsstat

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyFS is os.CopyFS. What it writes is counted, and what it reads as well.
func (v View) CopyFS(dir string, fsys fs.FS) error {
	if v.probe == nil {
		return os.CopyFS(dir, fsys)
	}
	from := v.FS(fsys)
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, err := filepath.Localize(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, local)
		switch entry.Type() {
		case 0:
			return v.copyFile(to, from, name)
		case fs.ModeDir:
			return os.MkdirAll(to, 0o777)
		case fs.ModeSymlink:
			target, err := fs.ReadLink(from, name)
			if err != nil {
				return err
			}
			return os.Symlink(target, to)
		}
		return &fs.PathError{Op: "CopyFS", Path: name, Err: fs.ErrInvalid}
	})
}

// copyFile copies a file of a file system to one that must not exist.
func (v View) copyFile(to string, from fs.FS, name string) error {
	r, err := from.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return err
	}
	w, err := v.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666|info.Mode()&0o777)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		_ = w.Close()
		return &fs.PathError{Op: "Copy", Path: to, Err: err}
	}
	return w.Close()
}
