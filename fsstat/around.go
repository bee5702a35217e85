package fsstat

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

// maxAround bounds the names of files that were opened around the probe.
const maxAround = 500

// An around compares the opens that the kernel tells of in some folders with
// those that the probe counted.
type around struct {
	core *probe.Core
	dirs []string // absolute
	here string   // the working folder when the probe was made

	under atomic.Int64 // opens under way
	names *probe.Table[string, entry]
	watch dirWatch
}

// An entry is a file in one of the folders.
type entry struct {
	told  int64        // opens that the kernel told of; under the watch's lock
	ours  atomic.Int64 // opens that the probe has counted
	count *probe.Counter
}

// newAround is nil if no folders are to be watched.
func newAround(core *probe.Core, spent func(int), dirs []string) *around {
	if len(dirs) == 0 {
		return nil
	}
	a := &around{core: core, watch: dirWatch{spent: spent}}
	a.here, _ = filepath.Abs(".")
	for _, dir := range dirs {
		a.dirs = append(a.dirs, a.absolute(dir))
	}
	a.names = probe.NewTable(maxAround, other, func(path string) *entry {
		c := core.Counter(descAround, probe.Attr{Key: AttrPath, Value: path})
		c.Set(0) // it counts from here
		return &entry{count: c}
	})
	return a
}

// absolute is filepath.Abs without asking for the working folder each time.
func (a *around) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.here, name)
}

// of is the entry of a file; nil if it is in none of the folders.
func (a *around) of(name string) *entry {
	path := a.absolute(name)
	dir := filepath.Dir(path)
	if slices.Contains(a.dirs, dir) {
		return a.names.Get(path)
	}
	return nil
}

// enter says that an open of the probe's begins, and leave that it has ended. The
// kernel tells of it in between.
func (a *around) enter() {
	if a != nil {
		a.under.Add(1)
	}
}

func (a *around) leave(name string, err error) {
	if a == nil {
		return
	}
	if err == nil {
		if e := a.of(name); e != nil {
			e.ours.Add(1)
		}
	}
	a.under.Add(-1)
}

// start begins to watch. What cannot be watched is absent, with the reason.
func (a *around) start() {
	if a == nil {
		return
	}
	if err := a.watch.open(a.told); err != nil {
		a.core.Absent(descAround.Name, err.Error())
		return
	}
	reason := ""
	for _, dir := range a.dirs {
		if err := a.watch.add(dir); err != nil {
			reason = err.Error()
			continue
		}
		a.names.Get(dir) // a folder that is watched has a row
	}
	a.core.Absent(descAround.Name, reason)
	a.watch.follow()
}

func (a *around) stop() {
	if a != nil {
		a.watch.close()
	}
}

// told is called, under the watch's lock, for each open of a file.
func (a *around) told(path string) {
	if path == "" {
		a.core.Absent(descAround.Name, "there were more opens than the kernel keeps in mind: some have no name")
		return
	}
	a.names.Get(path).told++
	a.watch.touched[path] = true
}

// sample brings the counters up to date. An open under way may have been told of
// and not be counted yet: it is taken for the probe's own, until it is.
func (a *around) sample() {
	if a == nil {
		return
	}
	a.watch.drain(func(touched map[string]bool) {
		under := a.under.Load()
		for path := range touched {
			e := a.names.Get(path)
			e.count.Set(max(e.told-under-e.ours.Load(), 0))
			if under == 0 {
				delete(touched, path)
			}
		}
	})
}
