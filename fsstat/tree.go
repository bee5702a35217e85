package fsstat

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A TreeSize is what a folder holds.
type TreeSize struct {
	Files, Folders int64 // Folders without the folder itself
	Bytes          int64 // of the regular files, by their sizes; a hole counts, a block does not
	Links, Others  int64 // symbolic links, which are not followed, and devices, pipes, sockets
	// Unreadable are folders that could not be listed and files that were gone
	// before they were looked at: what is in them is missing above.
	Unreadable int64
}

// Tree says how many files and bytes a folder holds, all folders below it
// included, without opening a file: it lists and looks (lstat). It is for the
// person who measures, and counted by no probe. A file with several names counts
// as several. If dir itself is a link to a folder, that folder is meant. The error
// is that of listing dir itself, also for what is no folder; nothing below it is
// one.
func Tree(dir string) (TreeSize, error) {
	var size TreeSize
	root, err := folderAt(dir)
	if err != nil {
		return size, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			size.Unreadable++
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
		case path != root:
			size.add(e)
		}
		return nil
	})
	return size, err
}

// folderAt is dir, or where it leads to if it is a link.
func folderAt(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			info, err = os.Lstat(dir)
		}
	}
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "list", Path: dir, Err: syscall.ENOTDIR}
	}
	return dir, err
}

// add adds what is in a folder.
func (s *TreeSize) add(e fs.DirEntry) {
	switch e.Type() {
	case fs.ModeDir:
		s.Folders++
	case fs.ModeSymlink:
		s.Links++
	case 0:
		info, err := e.Info()
		if err != nil {
			s.Unreadable++
			return
		}
		s.Files++
		s.Bytes += info.Size()
	default:
		s.Others++
	}
}
