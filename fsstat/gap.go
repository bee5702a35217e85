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
	// Reason says why there may be more, such as that a folder was not watched all
	// the time; empty if nothing is known to be missing.
	Reason string
}

// maxNames is how many paths a Gap names.
const maxNames = 10

// String says it in one line, the paths opened most often first, such as
// "3 opens went around the probe: jobs.json (2), runs/7.log".
func (g Gap) String() string {
	said := fmt.Sprintf("%d opens went around the probe: %s", g.Opens, g.names())
	switch {
	case g.Opens == 1:
		said = "1 open went around the probe: " + g.names()
	case g.Opens == 0 && g.Reason == "":
		return "no open went around the probe"
	case g.Opens == 0:
		return "it is not known that no open went around the probe: " + g.Reason
	}
	if g.Reason != "" {
		said += "; there may be more: " + g.Reason
	}
	return said
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

// add adds opens of a path; fewer than one are none.
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
