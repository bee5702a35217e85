package fsstat

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// maxAround bounds the names of files that were opened around the probe, and of
// those of which that is not known yet.
const maxAround = 500

// An around compares the opens that the kernel tells of in some folders with
// those that the probe makes.
//
// Note: that an open began must be known before it is made, and of every open,
// watched or not. One that had begun before the first window was opened, or while
// the last one was closed, is told of in the next one.
type around struct {
	core *probe.Core
	rows *probe.Table[string, probe.Counter]

	mu      sync.Mutex // guards what follows; not held while a file system is asked
	folders []*folder
	watch   dirWatch
	told    bool  // whether the kernel tells of opens now
	under   int64 // opens of the probe's own that are under way
	uneven  map[string]*balance
}

// A folder is one of Options.WatchDirs.
type folder struct {
	path    string // absolute
	id      fileID // of what is watched there; zero for nothing
	watch   int32  // the kernel's number for it
	lacking bool   // it was not watched all the time
}

// A balance is of one path, since it was even.
type balance struct {
	told int64 // opens that the kernel told of
	ours int64 // opens that the probe has made
	said int64 // those of the difference that are counted already
}

// newAround is nil if no folders are to be watched.
func newAround(core *probe.Core, spent func(int), dirs []string) *around {
	if len(dirs) == 0 {
		return nil
	}
	a := &around{core: core, watch: dirWatch{spent: spent}, uneven: map[string]*balance{}}
	for _, dir := range dirs {
		if path, err := filepath.Abs(dir); err == nil {
			dir = path
		}
		a.folders = append(a.folders, &folder{path: dir})
	}
	a.rows = probe.NewTable(maxAround, other, func(path string) *probe.Counter {
		return core.Counter(descAround, probe.Attr{Key: AttrPath, Value: path})
	})
	return a
}

// enter says that an open of the probe's begins, and leave that it has ended and
// what came of it: a file, if there is one at hand, or an error. The kernel tells
// of it in between.
func (a *around) enter() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.under++
}

func (a *around) leave(name string, file syscall.Conn, err error) {
	if a == nil {
		return
	}
	path, known := "", false
	if a.tells() && (err == nil || !isOpenError(err)) {
		path, known = a.find(name, file)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known && a.told {
		a.balance(path).ours++
	}
	a.under--
}

func (a *around) tells() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

// find is the path by which the kernel tells of a file; false if it is in none of
// the folders. They are recognised by number, since a folder has many names: by
// links, by mounts, from another working folder.
func (a *around) find(name string, file syscall.Conn) (path string, ok bool) {
	real, err := realPath(name, file)
	if err != nil {
		return "", false
	}
	id, err := idOf(filepath.Dir(real))
	if err != nil {
		return "", false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.folders {
		if f.id == id {
			return filepath.Join(f.path, filepath.Base(real)), true
		}
	}
	return "", false
}

// balance is that of a path, under mu.
func (a *around) balance(path string) *balance {
	if b := a.uneven[path]; b != nil {
		return b
	}
	if len(a.uneven) >= maxAround {
		path = other
	}
	b := a.uneven[path]
	if b == nil {
		b = new(balance)
		a.uneven[path] = b
	}
	return b
}

// start begins to watch. What cannot be watched is absent, with the reason.
func (a *around) start() {
	if a == nil {
		return
	}
	a.core.Absent(descAround.Name, "")
	a.core.Absent(lostName, "")
	a.core.Absent(openName, "")
	a.mu.Lock()
	clear(a.uneven) // what the last watch left
	err := a.watch.open()
	a.told = err == nil
	for _, f := range a.folders {
		f.id, f.lacking = fileID{}, false
	}
	a.mu.Unlock()
	if err != nil {
		a.core.Absent(descAround.Name, err.Error())
		return
	}
	for _, f := range a.folders {
		a.core.Absent(f.absence(), "")
		a.rows.Get(f.path) // a folder that is watched has a row
		a.follow(f)
	}
	a.watch.follow(func() { a.look() })
}

func (a *around) stop() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.told = false
	done := a.watch.close()
	a.mu.Unlock()
	done()
}

// absence is the name under which it is said that a folder was not watched all
// the time.
func (f *folder) absence() string { return descAround.Name + " in " + f.path }

// lostName is the name under which it is said that names were lost.
var lostName = descAround.Name + " (names)"

// openName is the name under which it is said that some are not known to be the
// probe's own or not.
var openName = descAround.Name + " (under way)"

// follow sees to it that what is at the path of a folder now is watched: it may
// have been made, removed, renamed or replaced.
func (a *around) follow(f *folder) {
	id, err := idOf(f.path)
	a.mu.Lock()
	watched := f.id
	a.mu.Unlock()
	switch {
	case err == nil && id == watched:
		return
	case watched != fileID{}:
		a.forget(f)
		a.mu.Lock()
		a.lacks(f, errGone)
		a.mu.Unlock()
	}
	var n int32
	if err == nil {
		n, err = a.add(f, id)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f.watch = n
	if err != nil {
		f.id = fileID{}
		a.lacks(f, err)
	}
}

var errGone = errors.New("it was removed, renamed or replaced")

// add has the kernel tell of a folder. Its number is known before, since an open
// may be under way.
func (a *around) add(f *folder, id fileID) (n int32, err error) {
	a.mu.Lock()
	f.id = id
	a.mu.Unlock()
	return a.watch.add(f.path)
}

// forget ends the watch of a folder.
func (a *around) forget(f *folder) {
	a.mu.Lock()
	n := f.watch
	f.id, f.watch = fileID{}, 0
	a.mu.Unlock()
	a.watch.remove(n)
}

// lacks says that not all opens in a folder are known, under mu.
func (a *around) lacks(f *folder, err error) {
	if !f.lacking {
		a.core.Absent(f.absence(), fmt.Sprintf("not watched all the time: %v", err))
	}
	f.lacking = true
}

// tell takes one of the kernel's events, under mu: the open of a file, if it has a
// name, or the end of the watch of a folder.
func (a *around) tell(e dirEvent) {
	if e.lost {
		a.core.Absent(lostName, "there were more opens than the kernel keeps in mind")
		return
	}
	for _, f := range a.folders {
		switch {
		case f.watch != e.watch || f.id == fileID{}:
		case e.ended:
			f.id, f.watch = fileID{}, 0
			a.lacks(f, errGone)
		default:
			a.balance(filepath.Join(f.path, e.name)).told++
			return // another path of the same folder is no other folder
		}
	}
}

// look takes what the kernel has told by now, and counts what is certain; it
// returns how many opens are left of which that is not known. An open of the
// probe's own that is under way may have been told of and not be made yet. When
// none is, all is known: what was not told is what the kernel took for one with
// another, and no debt of later ones.
func (a *around) look() (open int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch.drain(a.tell)
	for path, b := range a.uneven {
		n := b.told - b.ours - b.said
		if sure := n - a.under; sure > 0 {
			a.rows.Get(path).Add(sure)
			b.said += sure
			n = a.under
		}
		open += max(n, 0)
	}
	if a.under == 0 {
		clear(a.uneven)
	}
	return open
}

// A reading waits so often and so long for a moment at which all is known. An open
// takes microseconds, but at a FIFO it may wait for ever.
const (
	looks    = 20
	patience = time.Millisecond
)

// settle looks until all is known, and says how much is not in the end.
func (a *around) settle() {
	reason := ""
	for n := range looks {
		open := a.look()
		if open == 0 {
			reason = ""
			break
		}
		reason = fmt.Sprintf("opens of the probe's own were under way, so that it is not known of %d more whose they are", open)
		if n < looks-1 {
			time.Sleep(patience)
		}
	}
	a.core.Absent(openName, reason)
}

// sample brings the counters up to date.
func (a *around) sample() {
	if a == nil || !a.tells() {
		return
	}
	a.settle()
	for _, f := range a.folders {
		a.follow(f)
	}
}

// gapOf are the opens around the probe of a name in a reading, nil if none are
// looked for; alone says that there is no other file probe in it.
func gapOf(r *probe.Reading, name string, alone bool) *Gap {
	var g *Gap
	for m := range r.Find(descAround.Name) {
		if m.Attr(probe.AttrProbeName) == name {
			if g == nil {
				g = new(Gap)
			}
			g.add(m.Attr(AttrPath), int64(m.Value))
		}
	}
	var reasons []string
	for _, a := range r.Absent {
		if what, ok := strings.CutPrefix(a.Name, descAround.Name); ok {
			reasons = append(reasons, strings.TrimPrefix(what+": ", ": ")+a.Reason)
		}
	}
	if g == nil && alone && len(reasons) > 0 {
		g = new(Gap)
	}
	if g != nil {
		g.Reason = strings.TrimSpace(strings.Join(reasons, "; "))
	}
	return g
}
