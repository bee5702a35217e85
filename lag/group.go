package lag

import (
	"sync"
	"time"
)

// A group is the probes that share one ticker: those of equal interval that
// met in a Set. A probe that has met no other is a group of its own.
//
// Note: one ticker per interval and process, kept by the package, was rejected:
// it would be a global registry, and a ticker must not be shared by two bubbles
// of testing/synctest.
type group struct {
	clock
	interval time.Duration
	floor    floor

	mu      sync.Mutex
	running *ticker // nil while no probe of the group is watched

	parent *group // under meeting; the group that this one has become part of
}

// meeting guards the merging of groups: of any two, whose own locks could be taken in
// either order. It is a lock and no registry; nothing is found by it.
var meeting sync.Mutex

// root is the group that g has become part of.
func (g *group) root() *group {
	meeting.Lock()
	defer meeting.Unlock()
	return g.top()
}

func (g *group) top() *group {
	for g.parent != nil {
		g = g.parent
	}
	return g
}

// merge makes one group of two. Tracks that run already stay with their
// ticker; those that begin from now on share one.
func (g *group) merge(o *group) {
	meeting.Lock()
	defer meeting.Unlock()
	if a, b := g.top(), o.top(); a != b && a.interval == b.interval {
		a.parent = b
	}
}

// join begins a track, and the ticker if it is the first.
func (g *group) join(tr *track) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == nil {
		g.running = newTicker(g.clock, g.interval, &g.floor)
		go g.running.run()
	}
	tr.group, tr.ticker = g, g.running
	tr.captures.share(&tr.ticker.stopper)
	g.running.add(tr)
}

// leave ends a track's part of the schedule, and the ticker with the last one.
func (tr *track) leave() {
	g := tr.group
	g.mu.Lock()
	last := tr.ticker.remove(tr)
	if last && g.running == tr.ticker {
		g.running = nil
	}
	g.mu.Unlock()
	if last {
		tr.ticker.end()
	}
}
