package fsstat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

var descAround = &probe.Desc{Name: "tidestaff.file.around", Unit: "{open}", Kind: probe.KindCounter, Detail: true,
	Help: "Opens that went around the probe, by path, in the folders of Options.WatchDirs: by package os itself, C code or another process. At least so many."}

// A Gap are the opens that went around a probe.
type Gap struct {
	Opens int64            // in all
	Paths map[string]int64 // of each path; nil for none
}

// maxNames is how many paths a Gap names.
const maxNames = 10

// String says it in one line, the paths opened most often first, such as
// "3 opens went around the probe: jobs.json (2), runs/7.log".
func (g Gap) String() string {
	switch g.Opens {
	case 0:
		return "no open went around the probe"
	case 1:
		return "1 open went around the probe: " + g.names()
	}
	return fmt.Sprintf("%d opens went around the probe: %s", g.Opens, g.names())
}

func (g Gap) names() string {
	paths := slices.SortedFunc(maps.Keys(g.Paths), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.Paths[b], g.Paths[a]), cmp.Compare(a, b))
	})
	more := ""
	if n := len(paths) - maxNames; n > 0 {
		paths, more = paths[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	for i, path := range paths {
		if n := g.Paths[path]; n > 1 {
			paths[i] = fmt.Sprintf("%s (%d)", path, n)
		}
	}
	return strings.Join(paths, ", ") + more
}

// add adds the opens of a path.
func (g *Gap) add(path string, n int64) {
	if n <= 0 {
		return
	}
	if g.Paths == nil {
		g.Paths = map[string]int64{}
	}
	g.Paths[path] += n
	g.Opens += n
}

// GapOf are the opens that were made and not counted: opened are those of each
// name, wherever they were made, and s what a probe has counted of them.
func GapOf(p *Probe, opened map[string]int64, s Stats) (Gap, error) {
	left := map[string]int64{}
	for name, n := range opened {
		left[p.Path(name)] += n
	}
	for _, c := range s.Paths {
		if c.Path == other {
			return Gap{}, fmt.Errorf("fsstat: %d opens are of paths beyond the probe's bound (Options.MaxPaths)", c.Opens)
		}
		left[c.Path] -= c.Opens
	}
	var g Gap
	for path, n := range left {
		g.add(path, n)
	}
	return g, nil
}
