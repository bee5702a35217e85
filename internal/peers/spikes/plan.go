package spikes

import (
	"math/rand/v2"
	"time"
)

const mib = 1 << 20

// A Study says what is measured.
type Study struct {
	Spikes  int           // how many
	Seed    uint64        // what they are drawn from
	Slot    time.Duration // the time that belongs to one, more than MaxHold
	MaxHold time.Duration // the longest that one is held
}

// Default is the study that the documentation quotes. It takes two minutes.
func Default() Study {
	return Study{Spikes: 200, Seed: 1, Slot: 600 * time.Millisecond, MaxHold: 300 * time.Millisecond}
}

// The sizes of spikes in bytes.
const (
	minSize = 5 * mib
	maxSize = 80 * mib
)

// edge is the least time between a spike and its slot's ends, so that it falls
// into no other slot.
const edge = 10 * time.Millisecond

// A planned spike waits, rises to its size, holds and falls.
type planned struct {
	wait, hold time.Duration
	size       int
}

// plan draws the spikes. Short ones are more frequent: half are held for less
// than a quarter of the longest. Sizes and lengths are independent.
func (s Study) plan() []planned {
	r := rand.New(rand.NewPCG(s.Seed, 0))
	all := make([]planned, s.Spikes)
	for i := range all {
		p := &all[i]
		p.size = minSize + r.IntN(maxSize-minSize+1)
		u := r.Float64()
		p.hold = time.Duration(u * u * float64(s.MaxHold))
		p.wait = edge + time.Duration(r.Float64()*float64(s.Slot-p.hold-4*edge))
	}
	return all
}
