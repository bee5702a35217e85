package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// sharesSwap tells whether memory and swap together have no more room than memory
// alone, as in containers that may not swap. The kernel then charges the sum first
// and memory.failcnt stays at zero, however often the limit is met; the sum's own
// count, memory.memsw.failcnt, is not kept by newer kernels (seen on 6.18).
func sharesSwap(g proc.Group) bool {
	both, err1 := os.ReadFile(filepath.Join(g.Dir, "memory.memsw.limit_in_bytes"))
	memory, err2 := os.ReadFile(filepath.Join(g.Dir, "memory.limit_in_bytes"))
	if err1 != nil || err2 != nil {
		return false // a kernel that does not account swap
	}
	sum, err1 := proc.ParseLimit(both)
	alone, err2 := proc.ParseLimit(memory)
	return err1 == nil && err2 == nil && sum.OK && alone.OK && sum.V <= alone.V
}

// A tallies is a counter for each of some attribute's values, made when the
// kernel first gave a number for it: a counter that is never fed reads zero.
type tallies struct {
	p      *Probe
	desc   *probe.Desc
	key    string
	values []string
	more   []probe.Attr // of all of them
	unit   uint64
	each   []*tally
}

func (p *Probe) newEvents() *tallies {
	return &tallies{p: p, desc: descEvents, key: attrEvent, values: eventKeys, unit: 1, each: make([]*tally, len(eventKeys))}
}

func (t *tallies) attrs(value string) []probe.Attr {
	if t.key == "" { // there is only one series
		return nil
	}
	return append(slices.Clone(t.more), probe.Attr{Key: t.key, Value: value})
}

var errNoNumbers = errors.New("not provided by this kernel: its file, such as cpu.stat or memory.events, does not have it")

// set takes the kernel's totals, in the order of values.
func (t *tallies) set(v []proc.Value) error {
	found := false
	for i := range t.values {
		if !v[i].OK {
			continue
		}
		found = true
		if t.each[i] == nil {
			t.each[i] = t.p.tally(t.desc, t.unit, t.attrs(t.values[i])...)
		}
		t.each[i].set(v[i].V)
	}
	if !found {
		return errNoNumbers
	}
	return nil
}
