package strace

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A syscall is one that was traced.
type syscall struct {
	name   string
	result int64 // -1 for an error
}

// folder makes the files that works use.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, size := range map[string]int{large: largeLen, small: smallLen, sub + "/1": 1, sub + "/2": 1, sub + "/3": 1} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789"), size/10+1)[:size], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run does a work under strace, with further flags, and returns what came of it
// and strace's own output.
func run(t *testing.T, work, how string, flags ...string) (r result, out2 []byte, trace string) {
	t.Helper()
	requireStrace(t)
	dir := folder(t)
	to := filepath.Join(t.TempDir(), "trace")
	args := append([]string{"-f", "--seccomp-bpf", "-e", "trace=%file,%desc,%network", "-o", to}, flags...)
	for _, name := range []string{large, small, out, sub, sub + "/1", sub + "/2", sub + "/3", missing} {
		args = append(args, "-P", filepath.Join(dir, name))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "strace", append(args, self)...)
	// The signals by which the runtime preempts interrupt system calls, and the
	// race detector sleeps for a second before it ends.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GORACE=atexit_sleep_ms=0", envWork+"="+work, envHow+"="+how, envDir+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	if err := json.Unmarshal(output, &r); err != nil {
		t.Fatalf("%v in %q", err, output)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	made, _ := os.ReadFile(filepath.Join(dir, out))
	return r, made, string(text)
}

// requireStrace skips the test where nothing can be traced.
func requireStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: apt-get install strace")
	}
	if b, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, b)
	}
}

// A line of strace -f begins with the thread. A call during which another thread
// is traced is on two lines.
var (
	whole   = regexp.MustCompile(`^\d+ +(\w+)\(.*\) += (-?\d+|\?|0x[0-9a-f]+)`)
	resumed = regexp.MustCompile(`^\d+ +<\.\.\. (\w+) resumed>.*\) += (-?\d+|\?|0x[0-9a-f]+)`)
)

// calls are the system calls of a trace, in order of their ends.
func calls(trace string) (all []syscall) {
	for line := range strings.Lines(trace) {
		m := whole.FindStringSubmatch(line)
		if m == nil {
			m = resumed.FindStringSubmatch(line)
		}
		if m != nil {
			n, _ := strconv.ParseInt(m[2], 0, 64)
			all = append(all, syscall{m[1], n})
		}
	}
	return all
}

// counted are how many of each there were.
func counted(all []syscall) map[string]int64 {
	n := map[string]int64{}
	for _, c := range all {
		n[c.name]++
	}
	return n
}

// tabled are the numbers of the table that strace -c prints: the calls are the
// column before that of the errors, which may be empty.
func tabled(t *testing.T, table string) map[string]int64 {
	t.Helper()
	n := map[string]int64{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 5 || f[len(f)-1] == "total" || f[0] == "%" || strings.HasPrefix(f[0], "---") {
			continue
		}
		count, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			t.Fatalf("not a line of strace -c: %q", line)
		}
		n[f[len(f)-1]] = count
	}
	if len(n) == 0 {
		t.Fatalf("nothing in the table of strace -c:\n%s", table)
	}
	return n
}

// moving are the calls that move bytes or open something: those that must be the
// same.
var moving = []string{"openat", "openat2", "open", "read", "pread64", "readv", "write", "pwrite64", "writev", "copy_file_range", "sendfile", "splice", "getdents64", "close", "ftruncate", "fsync", "newfstatat", "readlinkat"}

// asking are the calls that a wrapped copy may make more of: they ask what a
// descriptor is and where it stands.
var asking = []string{"fcntl", "fstat", "lseek", "getsockopt"}

// of are those of the calls that have one of the names. Which number a descriptor
// has does not matter.
func of(all []syscall, names []string) (some []syscall) {
	for _, c := range all {
		if slices.Contains(names, c.name) {
			if strings.HasPrefix(c.name, "open") {
				c.result = min(c.result, 0)
			}
			some = append(some, c)
		}
	}
	return some
}

// more are the calls of which b has more than a.
func more(a, b []syscall) map[string]int64 {
	n := counted(b)
	for name, k := range counted(a) {
		n[name] -= k
	}
	maps.DeleteFunc(n, func(_ string, k int64) bool { return k == 0 })
	return n
}
