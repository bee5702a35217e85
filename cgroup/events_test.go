package cgroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEventsOfASharedLimit: where memory and swap together have the limit of
// memory alone, version 1 counts nothing when it is met. That is not a zero.
func TestEventsOfASharedLimit(t *testing.T) {
	const dir = "sys/fs/cgroup/memory/"
	both := []string{" max = 0", " oom_kill = 0"}
	for _, tt := range []struct {
		name, memory, sum string
		want              []string
	}{
		{"no swap", "67108864\n", "67108864\n", both[1:]},
		{"some swap", "67108864\n", "134217728\n", both},
		{"no limit", "9223372036854771712\n", "9223372036854771712\n", both},
		{"swap is not accounted", "67108864\n", "", both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fixture(t, "v1")
			rewrite(t, root, dir+"memory.limit_in_bytes", tt.memory)
			if tt.sum != "" {
				rewrite(t, root, dir+"memory.memsw.limit_in_bytes", tt.sum)
			}
			r := watch(t, New(Options{Root: root, Interval: -1})).Close()
			if diff := cmp.Diff(tt.want, lines(r, "tidestaff.cgroup.memory.events")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
