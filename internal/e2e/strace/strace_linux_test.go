package strace

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every way to copy or read a file makes the same system calls with the probe as
// without, in the same order and with the same results, and brings the same bytes.
// What a socket takes at a time depends on its buffer: of those calls only their
// kind and what they move together are compared.
func TestSameCalls(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(works)) {
		if name == "mixed" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bareResult, bareFile, bareTrace := run(t, name, "bare")
			result, file, trace := run(t, name, "wrapped")
			if !slices.Equal(result.Output, bareResult.Output) || !slices.Equal(file, bareFile) {
				t.Errorf("got %d bytes and a file of %d, want those of package os, %d and %d, or they are other ones",
					len(result.Output), len(file), len(bareResult.Output), len(bareFile))
			}
			bare, wrapped := calls(bareTrace), calls(trace)
			want, got := of(bare, moving), of(wrapped, moving)
			if strings.Contains(name, "TCP") || strings.Contains(name, "http") {
				if diff := cmp.Diff(moved(want), moved(got)); diff != "" {
					t.Errorf("bytes moved by system call (-os +probe):\n%s", diff)
				}
			} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(syscall{})); diff != "" {
				t.Errorf("system calls (-os +probe):\n%s\n%s", diff, trace)
			}
			for call, n := range more(bare, wrapped) {
				if !slices.Contains(asking, call) && !slices.Contains(moving, call) {
					t.Errorf("%s: %+d calls over package os, want only %q more", call, n, asking)
				}
				if copies := strings.Contains(name, "Copy") || strings.Contains(name, "http"); n != 0 && !copies {
					t.Errorf("%s: %+d calls over package os, want none", call, n)
				}
			}
			t.Logf("more than package os: %v", more(bare, wrapped))
		})
	}
}

// moved are the bytes that each kind of call moved.
func moved(all []syscall) map[string]int64 {
	n := map[string]int64{}
	for _, c := range all {
		switch c.name {
		case "read", "pread64", "write", "copy_file_range", "sendfile", "splice":
			n[c.name] += max(c.result, 0)
		}
	}
	return n
}

// Tree looks at files and opens none of them.
func TestTree(t *testing.T) {
	r, _, trace := run(t, "Tree", "bare")
	if want := "{5 1 1049579 0 0 0}"; string(r.Output) != want {
		t.Errorf("got %s, want %s", r.Output, want)
	}
	for _, name := range []string{large, small} {
		if !strings.Contains(trace, "/"+name+"\"") {
			t.Errorf("%s was not looked at:\n%s", name, trace)
		}
	}
	for line := range strings.Lines(trace) {
		if strings.Contains(line, "open") && !strings.Contains(line, "O_DIRECTORY") {
			t.Errorf("opened: %s", line)
		}
	}
}

// What the probe counts of a mixed workload are the numbers of strace -c, and the
// results of its calls, to the unit.
func TestMixedCounts(t *testing.T) {
	r, _, table := run(t, "mixed", "wrapped", "-c")
	s, n := r.Stats, tabled(t, table)
	byProgram := s.Reads - s.KernelCopies/2 // a copy is a read and a write
	for _, tt := range []struct {
		what      string
		got, want int64
	}{
		{"opens", s.Opens, n["openat"]},
		{"reads", byProgram, n["read"] + n["pread64"]},
		{"writes", s.Writes - s.KernelCopies/2, n["write"] + n["pwrite64"]},
		{"stats", s.Stats, n["newfstatat"]},
		{"errors", s.Errors["ENOENT"], 2},
	} {
		if tt.got != tt.want || tt.got == 0 {
			t.Errorf("%s: got %d, want strace's %d", tt.what, tt.got, tt.want)
		}
	}

	r, _, trace := run(t, "mixed", "wrapped")
	bytes := moved(calls(trace))
	if got, want := r.Stats.BytesRead, bytes["read"]+bytes["pread64"]+bytes["copy_file_range"]; got != want || got == 0 {
		t.Errorf("bytes read: got %d, want strace's %d", got, want)
	}
	if got, want := r.Stats.BytesWritten, bytes["write"]+bytes["copy_file_range"]; got != want || got == 0 {
		t.Errorf("bytes written: got %d, want strace's %d", got, want)
	}
	if got, want := r.Stats.KernelRead, bytes["copy_file_range"]; got != want || got == 0 {
		t.Errorf("bytes copied by the kernel: got %d, want strace's %d", got, want)
	}
}
