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
		if name == "mixed" || name == lost {
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
			if slices.Contains(inVain, name) {
				want = slices.DeleteFunc(want, func(c syscall) bool { return c.name == "copy_file_range" && c.result <= 0 })
			}
			if streams(name) {
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
				if copies := strings.Contains(name, "Copy") || strings.Contains(name, "http."); n != 0 && !copies {
					t.Errorf("%s: %+d calls over package os, want none", call, n)
				}
			}
			t.Logf("more than package os: %v", more(bare, wrapped))
		})
	}
}

// inVain are copies for which package os asks the kernel in vain before it reads and
// writes. The probe, which asks first what there is, does without.
var inVain = []string{"io.Copy from a pipe", "io.Copy to a pipe", "io.Copy of nothing"}

// streams says whether a work has a connection or a pipe at one end.
func streams(name string) bool {
	return strings.Contains(name, "TCP") || strings.Contains(name, "socket") || strings.Contains(name, "pipe") || strings.Contains(name, "http.")
}

// The copy that is lost is made by the program, all of it, and counted as such.
func TestLostCopy(t *testing.T) {
	_, bareFile, _ := run(t, lost, "bare")
	r, file, trace := run(t, lost, "wrapped")
	n := moved(calls(trace))
	if !slices.Equal(file, bareFile) || n["read"] != largeLen/2 || n["write"] != largeLen/2 || r.Stats.BytesRead != largeLen/2 || r.Stats.KernelRead != 0 {
		t.Errorf("got a file of %d bytes, the calls %v and %+v, want %d bytes read and written by the program", len(file), n, r.Stats.Counts, largeLen/2)
	}
}

// What the probe counts of each way to copy or read are the bytes of strace's calls,
// whoever moved them, and those that are said to be the kernel's are. What is given
// to a child or opened beside the probe is not counted.
func TestCountedBytes(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(works)) {
		if name == "exec.Cmd" || name == "Tree" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, _, trace := run(t, name, "wrapped")
			n := moved(calls(trace))
			read, written := n["read"]+n["pread64"], n["write"]+n["pwrite64"]
			kernelRead, kernelWritten := n["copy_file_range"]+n["sendfile"], n["copy_file_range"]+n["splice"]
			bare := strings.Contains(name, "bare file")
			if got, want := r.Stats.BytesRead, read+kernelRead; got != want && !(bare && strings.Contains(name, "from")) {
				t.Errorf("got %d bytes read, want strace's %d: %v", got, want, n)
			}
			if got, want := r.Stats.BytesWritten, written+kernelWritten; got != want && !(bare && strings.Contains(name, "to")) && name != "os.CopyFS" {
				t.Errorf("got %d bytes written, want strace's %d: %v", got, want, n)
			}
			if got := r.Stats.KernelRead; got > kernelRead {
				t.Errorf("got %d bytes read by the kernel, strace has %d: %v", got, kernelRead, n)
			}
			if got := r.Stats.KernelWritten; got > kernelWritten {
				t.Errorf("got %d bytes written by the kernel, strace has %d: %v", got, kernelWritten, n)
			}
			if r.Stats.Opens+r.Stats.Stats == 0 {
				t.Errorf("got nothing: %+v", r.Stats.Counts)
			}
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
