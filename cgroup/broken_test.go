package cgroup

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// damages are texts that no kernel writes, for a file's text.
var damages = map[string]func(was string) string{
	"word": func(string) string { return "much\n" },
	"binary": func(string) string {
		return "\x00\xffVmRSS:\t\xfe kB\nsome total\nanon \x00\nusage_usec \xff\n8:0 rbytes=\xff\n"
	},
	"minus": func(was string) string {
		return strings.NewReplacer(" ", " -", "\t", "\t-", "=", "=-").Replace(was)
	},
	"huge": func(was string) string { return was + strings.Repeat("x", 17<<20) },
}

// mayLose are the metrics that a file has to do with.
func mayLose(file string) []*probe.Desc {
	switch base := filepath.Base(file); {
	case base == "stat" || base == "cgroup" || base == "mountinfo" || base == "cgroup.controllers":
		return descs // it tells what may be measured at all
	case strings.HasSuffix(file, "pod/leaf/cpu.stat"):
		return slices.Concat(cpuDescs, throttlingDescs)
	case strings.HasPrefix(base, "cpuacct."):
		return cpuDescs
	case strings.HasPrefix(base, "cpu.") && strings.HasSuffix(base, "pressure"), base == "memory.pressure", base == "io.pressure":
		return pressureDescs
	case strings.HasPrefix(base, "cpu."):
		return quotaDescs
	case strings.HasPrefix(base, "io.") || strings.HasPrefix(base, "blkio."):
		return ioDescs
	case strings.HasPrefix(base, "memory."):
		return memoryDescs
	case strings.HasPrefix(base, "pids."):
		return taskDescs
	case base == "status" || base == "statm" || base == "io":
		return processDescs
	}
	return nil
}

// TestBrokenFiles: whatever a file has in it, the probe goes on, the metrics of
// other files are there, and those that are not have the name of the file in
// their reason, unless it lacks what they need.
func TestBrokenFiles(t *testing.T) {
	for _, name := range []string{"v1", "v2", "other"} {
		o := Options{Interval: -1}
		if name == "other" {
			o.Root, o.PID = neighbour(t), 77
		} else {
			o.Root = fixture(t, name)
		}
		before := listed(watch(t, New(o)).Close())
		for file, was := range texts(t, o.Root) {
			for _, damage := range slices.Sorted(maps.Keys(damages)) {
				if damage == "huge" && !slices.Contains([]string{"status", "memory.current", "io.stat"}, filepath.Base(file)) {
					continue // the same reader reads them all
				}
				for _, when := range []string{"before", "while"} {
					if when == "while" && name == "other" {
						continue // the same sources as of v2
					}
					p := fresh(o)
					var w *probe.Window
					if when == "while" {
						w = watch(t, p)
					}
					rewrite(t, o.Root, file, damages[damage](was))
					if when == "before" {
						w = watch(t, p)
					}
					p.look(true)
					for metric, why := range listed(w.Close()) {
						if before[metric] != "" {
							continue
						}
						if !slices.ContainsFunc(mayLose(file), func(d *probe.Desc) bool { return d.Name == metric }) {
							t.Errorf("%s: %s (%s, %s): got %s absent: %s", name, file, damage, when, metric, why)
						}
						if !strings.Contains(why, filepath.Join(o.Root, file)) && !slices.ContainsFunc(excused, func(s string) bool { return strings.Contains(why, s) }) {
							t.Errorf("%s: %s (%s, %s): got %s absent for a reason without the file: %s", name, file, damage, when, metric, why)
						}
					}
					rewrite(t, o.Root, file, was)
				}
			}
		}
	}
}

// excused are reasons without a file's name: what it has makes sense, and is not
// what was hoped for.
var excused = []string{"does not have it", "no device so far", "controller is not enabled", "no mount shows", "no limit is set"}

// listed are the metrics that are absent, with the reasons.
func listed(r *probe.Reading) map[string]string {
	m := map[string]string{}
	for _, a := range r.Absent {
		m[a.Name] = a.Reason
	}
	return m
}

// texts are the files below root by their names.
func texts(t *testing.T, root string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(root, name))
		m[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
