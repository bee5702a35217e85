package main

import (
	"container/list"
	"io/fs"

	"github.com/tidestaff/tidestaff/fsstat"
)

// The bounds of each cache. Bytes are those of the files for parsed files, and
// of what was made of them for summaries and folders.
const (
	maxEntries = 2048
	maxBytes   = 8 << 20
)

// identity tells a file from another one in its place and from itself after a
// change. A file that is written in place, to the same size, within the same
// tick of the kernel's clock (some milliseconds) as it was read keeps its
// identity; who writes here appends, or renames a new file into place.
type identity struct {
	size, mtime  int64
	ctime        int64  // that of the last change of data or attributes
	device, file uint64 // the last three are 0 where the system does not tell
}

// A cache keeps what was made of files, for as long as they do not change. What
// was not asked for the longest goes first; that changes memory only. It
// belongs to one goroutine.
type cache[T any] struct {
	entries map[string]*list.Element // of *entry[T], by path
	recent  list.List                // the most recent one first
	bytes   int64

	maxEntries int
	maxBytes   int64
}

type entry[T any] struct {
	path  string
	id    identity
	bytes int64
	value T
}

func newCache[T any]() *cache[T] {
	return &cache[T]{entries: map[string]*list.Element{}, maxEntries: maxEntries, maxBytes: maxBytes}
}

// get is what was made of the file at path, if it is still the same one.
func (c *cache[T]) get(path string, id identity) (value T, ok bool) {
	el := c.entries[path]
	if el == nil {
		return value, false
	}
	if e := el.Value.(*entry[T]); e.id == id {
		c.recent.MoveToFront(el)
		return e.value, true
	}
	c.remove(el)
	return value, false
}

// put keeps a value at the expense of the least recent ones. One that is too
// large for the whole cache is not kept.
func (c *cache[T]) put(path string, id identity, bytes int64, value T) {
	if old := c.entries[path]; old != nil {
		c.remove(old)
	}
	if bytes > c.maxBytes {
		return
	}
	for len(c.entries) >= c.maxEntries || c.bytes+bytes > c.maxBytes {
		c.remove(c.recent.Back())
	}
	c.entries[path] = c.recent.PushFront(&entry[T]{path, id, bytes, value})
	c.bytes += bytes
}

func (c *cache[T]) remove(el *list.Element) {
	e := c.recent.Remove(el).(*entry[T])
	delete(c.entries, e.path)
	c.bytes -= e.bytes
}

// load is what decode makes of the file at path; decode also says how many
// bytes that counts for. With a cache, a file that has not changed costs one
// lstat. Without one, it is read and decoded each time.
//
// The identity is from before the read: if the file changes in between, the
// next call reads it again.
func load[T any](files fsstat.View, c *cache[T], path string, decode func([]byte) (T, int64)) (value T, fresh bool, err error) {
	var info fs.FileInfo
	if c != nil {
		if info, err = files.Lstat(path); err != nil {
			return value, false, err
		}
		if value, ok := c.get(path, identityOf(info)); ok {
			return value, false, nil
		}
	}
	data, err := files.ReadFile(path)
	if err != nil {
		return value, false, err
	}
	value, bytes := decode(data)
	if c != nil {
		c.put(path, identityOf(info), bytes, value)
	}
	return value, true, nil
}
