package cgroup

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGroups: each controller's place, by its own version, and each refusal with
// its reason.
func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		root string
		o    Options
		want []string
	}{
		{fixture(t, "v2"), Options{}, []string{
			"memory v2 leaf sys/fs/cgroup/pod/leaf", "cpu v2 leaf sys/fs/cgroup/pod/leaf", "cpuacct v2 leaf sys/fs/cgroup/pod/leaf",
			"io v2 leaf sys/fs/cgroup/pod/leaf", "pids v2 leaf sys/fs/cgroup/pod/leaf", "pressure v2 leaf sys/fs/cgroup/pod/leaf",
		}},
		{fixture(t, "hybrid"), Options{}, []string{
			"memory v1 leaf sys/fs/cgroup/memory/svc", "cpu: controller is not enabled", "cpuacct v2 leaf sys/fs/cgroup/unified/system.slice/svc",
			"io: controller is not enabled", "pids: controller is not enabled", "pressure v2 leaf sys/fs/cgroup/unified/system.slice/svc",
		}},
		{fixture(t, "v1"), Options{}, []string{
			"memory v1 leaf sys/fs/cgroup/memory", "cpu v1 leaf sys/fs/cgroup/cpu,cpuacct", "cpuacct v1 leaf sys/fs/cgroup/cpu,cpuacct",
			"blkio v1 leaf sys/fs/cgroup/blkio", "pids v1 leaf sys/fs/cgroup/pids", "pressure: no cgroup",
		}},
		{fixture(t, "host_root"), Options{}, []string{
			"memory: whole machine", "cpu: whole machine", "cpuacct: whole machine", "io: whole machine", "pids: whole machine", "pressure: whole machine",
		}},
		{neighbour(t), Options{PID: 78}, []string{
			"memory: no cgroup", "cpu: no cgroup", "cpuacct: no cgroup", "io: no cgroup", "pids: no cgroup", "pressure: no cgroup",
		}},
	} {
		tt.o.Root = tt.root
		var got []string
		for i, g := range New(tt.o).Groups() {
			line := g.Controller
			if g.Reason == "" {
				dir, _ := filepath.Rel(tt.root, g.Dir)
				line += " v" + string(rune('0'+g.Version)) + " " + g.Scope + " " + dir
			} else if _, want, _ := strings.Cut(tt.want[i], ": "); strings.Contains(g.Reason, want) {
				line += ": " + want
			} else {
				line += ": " + g.Reason
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
