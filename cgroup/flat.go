package cgroup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// flatLooks is how many looks each half needs for a verdict: fewer say more of
// when they were than of the level.
const flatLooks = 5

// Flat judges whether memory grew in a window that should have needed no more at
// its end than at its start, such as the second part of a soak test. It compares
// the mean of the window's second half with that of its first, for the resident
// set of the process and for the group's charge apart from page cache, which fills
// whatever there is. limit is the growth that is allowed, as a share: 0.05 is 5 %.
//
// The verdict gives both numbers, of both, with the looks that each mean is over.
// The error is the verdict if one of them grew by more, and says so if neither
// can be judged, or one has fewer than five looks in a half: then the window was
// too short for Options.Interval, of which the group is looked at every tenth. A
// group or a process that is not measured is left out, with the reason in the
// verdict.
//
// A window that begins while a cache of the program's own fills, or before the
// garbage collector has met the load, grows for good reasons: begin it later.
func Flat(r *probe.Reading, limit float64) (verdict string, err error) {
	s, ok := StatsOf(r)
	if !ok {
		return "", errors.New("memory growth: no cgroup probe in this reading")
	}
	var texts []string
	judged, grew := 0, false
	for _, level := range []struct {
		name string
		Course
	}{{"RSS", s.RSS.Course}, {"cgroup without page cache", s.Uncached.Course}} {
		text, growth, err := level.growth()
		texts = append(texts, level.name+": "+text)
		switch {
		case err != nil:
			return verdictOf(texts, limit), fmt.Errorf("memory growth of %s: %w", level.name, err)
		case level.N > 0:
			judged++
			grew = grew || growth > limit
		}
	}
	verdict = verdictOf(texts, limit)
	switch {
	case judged == 0:
		return verdict, fmt.Errorf("memory growth cannot be judged: %s", verdict)
	case grew:
		return verdict, fmt.Errorf("memory grew: %s", verdict)
	}
	return verdict, nil
}

func verdictOf(texts []string, limit float64) string {
	return fmt.Sprintf("%s; allowed %+.1f %%", strings.Join(texts, "; "), 100*limit)
}

// growth is by how much the second half's mean is above the first's, as a share
// of that, and both in words.
func (c Course) growth() (text string, share float64, err error) {
	if c.N == 0 {
		return "not judged: " + c.First.Reason, 0, nil
	}
	n, m := c.First.Prov.Samples, c.Second.Prov.Samples
	if n < flatLooks || m < flatLooks {
		text = fmt.Sprintf("%d and %d looks in the two halves", n, m)
		return text, 0, fmt.Errorf("%s, needs %d in each: a longer window or a shorter Options.Interval", text, flatLooks)
	}
	first, second := c.First.V, c.Second.V
	if first > 0 {
		share = second/first - 1
	}
	text = fmt.Sprintf("mean %.2f MiB of %d looks in the first half, %.2f MiB of %d in the second, %+.1f %%",
		first/(1<<20), n, second/(1<<20), m, 100*share)
	return text, share, nil
}
