package cgroup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// These helpers join those of the commands' tests.
var _ = func() struct{} {
	helpers["file"], helpers["peak"], helpers["lazy"], helpers["reuse"] = fileHelper, peakHelper, lazyHelper, reuseHelper
	helpers["heap"] = heapHelper
	return struct{}{}
}()

// fileHelper enters the group of the first argument, writes 64 MiB to the file of
// the second when it is told to, and waits.
func fileHelper(args []string) error {
	if err := os.WriteFile(filepath.Join(args[0], "cgroup.procs"), []byte("0"), 0o644); err != nil {
		return err
	}
	fmt.Println("in")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	b := make([]byte, mib)
	for range 64 {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	fmt.Println("written")
	_, err = io.Copy(io.Discard, in)
	return err
}

// talk starts a helper and gives what it says, line by line.
func talk(t *testing.T, words ...string) (cmd *exec.Cmd, in io.WriteCloser, hear func(string)) {
	t.Helper()
	cmd = helper(context.Background(), words...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return cmd, in, func(want string) {
		t.Helper()
		if got, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
			t.Fatalf("got %q, %v from the helper, want %q", got, err, want)
		}
	}
}

// TestRealFiles: a file that is written fills the group's page cache and moves
// its peak, and not the process's, nor what counts as uncached. In a tmpfs it is
// shared memory, which cannot be dropped, and counts as uncached.
func TestRealFiles(t *testing.T) {
	for _, tt := range []struct {
		name, dir string
		tmpfs     bool
	}{
		{"disk", t.TempDir(), false},
		{"tmpfs", "/dev/shm", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if isTmpfs(tt.dir) != tt.tmpfs {
				t.Skipf("needs a %s at %s", tt.name, tt.dir)
			}
			g := ownMemoryGroup(t)
			cmd, in, hear := talk(t, "file", g.Dir, filepath.Join(tt.dir, filepath.Base(g.Dir)))
			hear("in")
			w := watch(t, New(Options{Path: g.Path, PID: cmd.Process.Pid}))
			fmt.Fprintln(in, "go")
			hear("written")
			var r probe.Reading
			w.Read(&r)
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			s, _ := StatsOf(&r)
			moved := func(what string, v float64, want bool) {
				t.Helper()
				if got := v > 56*mib; got != want {
					t.Errorf("%s: got %.1f MiB for a file of 64, want %t", what, v/mib, want)
				}
			}
			moved("charge's peak", s.Charge.Growth.V, true)
			moved("resident set's peak", s.RSS.Growth.V, false)
			moved("uncached", s.Uncached.Usage.V-s.Uncached.Course.Base, tt.tmpfs)
			for m := range r.Find(descGroupStat.Name) {
				switch m.Attr(attrCgroupMemory) {
				case "file":
					moved("file", m.Value, !tt.tmpfs)
				case "shmem":
					moved("shmem", m.Value, tt.tmpfs)
				}
			}
		})
	}
}

// isTmpfs tells whether a folder keeps its files in memory.
func isTmpfs(dir string) bool {
	const magic = 0x01021994
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && int64(fs.Type) == magic
}

// peakHelper says what its own peak is.
func peakHelper([]string) error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	st, err := proc.ParseStatus(b)
	fmt.Println(st.HWM.V)
	return err
}

// TestRealFatParent: a child of a process with 256 MiB has its own peak, a tenth
// of that, while getrusage says that it had its parent's. That is why ru_maxrss
// is used nowhere.
func TestRealFatParent(t *testing.T) {
	fat := make([]byte, 256*mib)
	for i := 0; i < len(fat); i += os.Getpagesize() {
		fat[i] = 1
	}
	cmd := helper(t.Context(), "peak")
	out, err := cmd.Output()
	runtime.KeepAlive(fat)
	if err != nil {
		t.Fatal(err)
	}
	var own float64
	if _, err := fmt.Sscan(string(out), &own); err != nil {
		t.Fatal(err)
	}
	if own <= 0 || own > 128*mib {
		t.Errorf("got a peak of %.1f MiB of the child, want its own", own/mib)
	}
	if inherited := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; inherited < 200*mib {
		t.Logf("this kernel or Go release gives a child its own ru_maxrss, %d MiB", inherited/mib)
	}
}

// lazyHelper frees 64 MiB and says by how much that lowered its resident set.
func lazyHelper([]string) error {
	w, err := New(Options{Interval: -1}).Watch()
	if err != nil {
		return err
	}
	defer w.Close()
	b := make([]byte, 64*mib)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	var full, freed probe.Reading
	w.Read(&full)
	runtime.KeepAlive(b)
	b = nil
	debug.FreeOSMemory()
	w.Read(&freed)
	was, _ := StatsOf(&full)
	is, _ := StatsOf(&freed)
	fmt.Println(was.RSS.Usage.V-is.RSS.Usage.V > 48*mib, was.Heap.Usage.V-is.Heap.Usage.V > 48*mib)
	return nil
}

// TestRealLazilyFreed: with madvdontneed=0 what the runtime has released stays
// resident until the kernel wants it: the resident set is then no measure of what
// the program needs, and the heap's live bytes are beside it for that reason. It
// has some tries, since a kernel that is short of memory wants it at once.
func TestRealLazilyFreed(t *testing.T) {
	for _, tt := range []struct{ godebug, want string }{
		{"madvdontneed=1", "true true"},
		{"madvdontneed=0", "false true"},
	} {
		var got string
		for tries := 0; tries < 5 && got != tt.want; tries++ {
			cmd := helper(t.Context(), "lazy")
			cmd.Env = append(cmd.Env, "GODEBUG="+tt.godebug)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got = strings.TrimSpace(string(out))
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q: resident set lower, live bytes lower", tt.godebug, got, tt.want)
		}
	}
}

// heapHelper has 64 MiB of objects, then has them dead, and then not at all, and
// is content if the probe says so.
func heapHelper([]string) error {
	w, err := New(Options{Interval: -1}).Watch()
	if err != nil {
		return err
	}
	defer w.Close()
	var r probe.Reading
	heap := func() map[string]float64 {
		w.Read(&r)
		of := map[string]float64{}
		for m := range r.Find(descGo.Name) {
			of[m.Attr(attrGoMemory)] = m.Value / mib
		}
		return of
	}
	b := make([]byte, 64*mib)
	live := heap()
	runtime.KeepAlive(b)
	b = nil
	runtime.GC()
	// The runtime may have begun to return it to the system by itself.
	dead := heap()
	debug.FreeOSMemory() // which returns all of it
	gone := heap()
	if live["live"] < 64 || dead["live"] > 32 || dead["free"]+dead["released"] < 64 || dead["free"] == 0 ||
		gone["free"] > 16 || gone["released"] < 48 || live["stack"] == 0 {
		return fmt.Errorf("got, in MiB, %v with 64 that are live, %v with 64 that are dead, %v when they have been returned", live, dead, gone)
	}
	return nil
}

// TestRealHeap: what is live, what is free and what has been returned to the
// system are three things, each under its own name.
func TestRealHeap(t *testing.T) {
	if out, err := helper(t.Context(), "heap").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRealBusySampler: a sampler that is held up says so, in its own distribution
// and in what is sampled.
func TestRealBusySampler(t *testing.T) {
	const held = 30 * time.Millisecond
	p := New(Options{NoReset: true, Interval: time.Millisecond})
	w := watch(t, p)
	p.mu.Lock()
	for begin := time.Now(); time.Since(begin) < held; {
	}
	p.mu.Unlock()
	var r probe.Reading
	for limit := time.Now().Add(time.Minute); ; runtime.Gosched() { // the late sample may come behind readings
		w.Read(&r)
		gap := largestGap(&r)
		if gap >= held {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("got a largest gap of %v, want at least %v", gap, held)
		}
	}
	s, _ := StatsOf(&r)
	if s.RSS.Course.MaxGap <= 0 || s.RSS.Course.N == 0 {
		t.Errorf("got a course of %+v", s.RSS.Course)
	}
	if v, _ := one(t, w.Close(), descSamplerCPU); v <= 0 {
		t.Errorf("got %v s of the sampler's own, want some", v)
	}
}

// TestRealNoProcessor: so does one whose process has all its processors busy with
// something else. The runtime takes a busy one away after some 10 ms only, so that
// samples every millisecond come late; a load that leaves room by chance has another
// try.
func TestRealNoProcessor(t *testing.T) {
	const interval, late = time.Millisecond, 5 * time.Millisecond
	w := watch(t, New(Options{NoReset: true, Interval: interval}))
	var stop atomic.Bool
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop.Store(true)
	for range 4 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	var r probe.Reading
	for limit := time.Now().Add(time.Minute); ; {
		time.Sleep(100 * interval) // a reading is a look as well, and makes gaps shorter
		w.Read(&r)
		gap := largestGap(&r)
		s, _ := StatsOf(&r)
		if gap >= late && s.RSS.Course.MaxGap >= late {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got a largest gap of %v, and of %v in the course, want %v", gap, s.RSS.Course.MaxGap, late)
		}
	}
}

// largestGap is the longest time between two samples.
func largestGap(r *probe.Reading) (gap time.Duration) {
	for m := range r.Find(descInterval.Name) {
		gap = time.Duration(m.Dist.Max())
	}
	return gap
}
