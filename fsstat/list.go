package fsstat

import (
	"io/fs"
	"os"
)

// ReadDir is os.ReadDir: an open and a directory read.
func (v View) ReadDir(name string) ([]fs.DirEntry, error) {
	c := v.begin(callReadDir)
	defer v.folder(name).end()
	entries, err := os.ReadDir(name)
	c.end()
	c.listed(name, err)
	return entries, err
}

// listed counts the opening and listing of a directory.
func (c *call) listed(name string, err error) {
	if isOpenError(err) {
		c.on(name, err).count(opOpen, err)
		return
	}
	c.on(name, nil).count(opOpen, nil)
	c.count(opReadDir, err)
}

// Stat is os.Stat.
func (v View) Stat(name string) (fs.FileInfo, error) {
	return v.stat(name, func() (fs.FileInfo, error) { return os.Stat(name) })
}

// Lstat is os.Lstat.
func (v View) Lstat(name string) (fs.FileInfo, error) {
	return v.stat(name, func() (fs.FileInfo, error) { return os.Lstat(name) })
}

func (v View) stat(name string, stat func() (fs.FileInfo, error)) (fs.FileInfo, error) {
	c := v.begin(callStat)
	defer c.end()
	info, err := stat()
	c.end()
	c.on(name, err).count(opStat, err)
	return info, err
}

// Readlink is os.Readlink. It counts as a stat.
func (v View) Readlink(name string) (string, error) {
	return v.readlink(name, func() (string, error) { return os.Readlink(name) })
}

func (v View) readlink(name string, readlink func() (string, error)) (string, error) {
	c := v.begin(callStat)
	defer c.end()
	to, err := readlink()
	c.end()
	c.on(name, err).count(opStat, err)
	return to, err
}
