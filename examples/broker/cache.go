package main

import (
	"io/fs"
	"os"

	"github.com/tidestaff/tidestaff/fsstat"
)

// The bounds of a cache. Bytes are those of the files, not of what was made of
// them.
const (
	maxEntries = 2048
	maxBytes   = 8 << 20
)

// A cache keeps what was made of files, for as long as they do not change. It
// belongs to one goroutine.
type cache[T any] struct {
	entries map[string]entry[T] // by path
	bytes   int64

	maxEntries int
	maxBytes   int64
}

type entry[T any] struct {
	info  fs.FileInfo // from before the file was read
	value T
}

func newCache[T any](maxBytes int64) *cache[T] {
	return &cache[T]{entries: map[string]entry[T]{}, maxEntries: maxEntries, maxBytes: maxBytes}
}

// get is what was made of the file at path, if info is of the same file and it
// has not changed. One that is written in place, to the same size, within the
// same tick of the kernel's clock (some milliseconds) as it was read is taken
// for unchanged; who writes here appends, or renames a new file into place.
func (c *cache[T]) get(path string, info fs.FileInfo) (value T, ok bool) {
	e, ok := c.entries[path]
	if !ok || !unchanged(e.info, info) {
		return value, false
	}
	return e.value, true
}

// unchanged says whether both are of the same file, and it is as it was.
func unchanged(old, now fs.FileInfo) bool {
	return os.SameFile(old, now) && old.Size() == now.Size() &&
		old.ModTime().Equal(now.ModTime()) && changed(old) == changed(now)
}

// put keeps a value at the expense of others, as they come: whoever looks at all
// files in turn would never find one again if the one that was not asked for the
// longest had to go. A file that is too large for the whole cache is not kept.
func (c *cache[T]) put(path string, info fs.FileInfo, value T) {
	c.remove(path)
	if info.Size() > c.maxBytes {
		return
	}
	for other := range c.entries {
		if len(c.entries) < c.maxEntries && c.bytes+info.Size() <= c.maxBytes {
			break
		}
		c.remove(other)
	}
	c.entries[path] = entry[T]{info, value}
	c.bytes += info.Size()
}

func (c *cache[T]) remove(path string) {
	if e, ok := c.entries[path]; ok {
		delete(c.entries, path)
		c.bytes -= e.info.Size()
	}
}

// load is what decode makes of the file at path. With a cache, a file that has
// not changed costs one lstat. Without one, it is read and decoded each time.
func load[T any](files fsstat.View, c *cache[T], path string, decode func([]byte) T) (value T, err error) {
	var info fs.FileInfo
	if c != nil {
		if info, err = files.Lstat(path); err != nil {
			return value, err
		}
		if value, ok := c.get(path, info); ok {
			return value, nil
		}
	}
	data, err := files.ReadFile(path)
	if err != nil {
		return value, err
	}
	value = decode(data)
	if c != nil {
		c.put(path, info, value)
	}
	return value, nil
}
