package memory

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
)

// TestAgree holds all of them to the same answers at the same instant: each
// number lies between two readings of ours, one before and one after. A number
// that went up and down again in between would lie outside, so a few attempts
// are made, and only one in which little has moved counts.
func TestAgree(t *testing.T) {
	needGroup(t)
	for _, a := range answers() {
		for _, who := range a.askers {
			if len(who.gives) == 0 || who.by == "tidestaff-part" {
				continue
			}
			t.Run(a.name+"/"+who.by, func(t *testing.T) {
				ours, theirs := opened(t, ourParts(who.gives)), opened(t, who)
				const attempts = 50
				var bad []string
				for range attempts {
					if bad = compare(t, ours, theirs, who.gives); len(bad) == 0 {
						return
					}
				}
				t.Errorf("in none of %d attempts all of it agreed; in the last: %s", attempts, bad)
			})
		}
	}
}

// ourParts reads those of our files that have one of the fields.
func ourParts(gives []field) asker {
	var parsers []parser
	for _, p := range []struct {
		of      []field
		parsers []parser
	}{
		{statusFields, partStatus}, {ioFields, partIO}, {usageFields, partUsage},
		{splitFields, partSplit()}, {cpuFields, partCPU()},
	} {
		if slices.ContainsFunc(p.of, func(f field) bool { return slices.Contains(gives, f) }) {
			parsers = append(parsers, p.parsers...)
		}
	}
	return part(parsers, gives...)
}

// compare returns what does not agree.
func compare(t *testing.T, ours, theirs ask, gives []field) (bad []string) {
	t.Helper()
	var before, got, after amounts
	for _, step := range []struct {
		ask ask
		to  *amounts
	}{{ours, &before}, {theirs, &got}, {ours, &after}} {
		if err := step.ask(step.to); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range gives {
		low, high := min(before[f], after[f]), max(before[f], after[f])
		room := roomOf(f, &got)
		switch {
		case high-low > tightOf(f):
			bad = append(bad, f.String()+" moved too far")
		case got[f]+room < low || got[f] > high+room:
			bad = append(bad, fmt.Sprintf("%s: got %d, want %d to %d, give or take %d", f, got[f], low, high, room))
		}
	}
	return bad
}

// tight is how far bytes may move during an attempt that counts: less than a
// mistake that matters.
const tight = 1 << 20

func tightOf(f field) uint64 {
	if f == cpuUser || f == cpuSystem {
		return 20e6 // two of version 1's steps
	}
	return tight
}

// roomOf is how far a number of an answer may be off though all are right.
func roomOf(f field, of *amounts) uint64 {
	switch f {
	case rss, anon, file, shmem:
		// Who reads statm gets the kernel's counters without the parts that are
		// still with a CPU, up to a batch of 32 pages for each of three counters;
		// status adds them up.
		return uint64(3 * 32 * os.Getpagesize() * runtime.NumCPU())
	case cpuUser, cpuSystem:
		// A window's begins at some instant of its first reading, and between two
		// of the kernel's steps.
		return 10e6 + of[began]
	}
	return 0
}

// TestNoAllocations: ours allocate nothing.
func TestNoAllocations(t *testing.T) {
	needGroup(t)
	for _, a := range answers() {
		for _, who := range a.askers {
			if who.by != "tidestaff" && who.by != "tidestaff-part" {
				continue
			}
			t.Run(a.name+"/"+who.by, func(t *testing.T) {
				ask := opened(t, who)
				var to amounts
				got := testing.AllocsPerRun(100, func() {
					if err := ask(&to); err != nil {
						t.Error(err)
					}
				})
				if got != 0 {
					t.Errorf("got %v allocations, want 0", got)
				}
			})
		}
	}
}
