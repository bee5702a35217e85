package inject

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// stopped sends SIGSTOP, and SIGCONT when the time has passed.
func stopped(*exec.Cmd) (stall func(pid int, d time.Duration) error, clean func(), err error) {
	return func(pid int, d time.Duration) error {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return os.NewSyscallError("kill", err)
		}
		time.Sleep(d)
		return os.NewSyscallError("kill", syscall.Kill(pid, syscall.SIGCONT))
	}, func() {}, nil
}

// schedIdle is the policy of a thread that runs when no other wants to.
const schedIdle = 5

// yieldToAll makes this process one that any other is preferred to. The policy
// is a thread's, and a program inherits it from the thread that executes it.
func yieldToAll() error {
	const mark = "TIDESTAFF_INJECT_IDLE"
	if os.Getenv(mark) != "" {
		return nil
	}
	runtime.LockOSThread()
	var priority int32
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle, uintptr(unsafe.Pointer(&priority))); errno != 0 {
		return os.NewSyscallError("sched_setscheduler", errno)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), mark+"=1"))
}

// starved computes on every CPU, which a child that yields to all then waits for.
// Each thread that does is bound to its CPU: the kernel would leave two on one for
// a while, and a child that has the other to itself is not stalled.
func starved(*exec.Cmd) (stall func(pid int, d time.Duration) error, clean func(), err error) {
	return func(_ int, d time.Duration) error {
		cpus, err := allowed()
		if err != nil {
			return err
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(len(cpus) + 1)) // and one to end it
		var done atomic.Bool
		errs := make(chan error)
		for _, cpu := range cpus {
			go func() {
				runtime.LockOSThread() // for good, so that the bound thread ends with the goroutine
				err := bind(cpu)
				for err == nil && !done.Load() {
				}
				errs <- err
			}()
		}
		time.Sleep(d)
		done.Store(true)
		for range cpus {
			err = errors.Join(err, <-errs)
		}
		return err
	}, func() {}, nil
}

// A cpuSet is the kernel's mask of CPUs.
type cpuSet [16]uint64

// allowed are the CPUs that this process may use.
func allowed() (cpus []int, err error) {
	var set cpuSet
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return nil, os.NewSyscallError("sched_getaffinity", errno)
	}
	for cpu := range 64 * len(set) {
		if set[cpu/64]>>(cpu%64)&1 != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// bind lets the calling thread run on one CPU only.
func bind(cpu int) error {
	var set cpuSet
	set[cpu/64] |= 1 << (cpu % 64)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return os.NewSyscallError("sched_setaffinity", errno)
	}
	return nil
}

// throttled starts the child in a cgroup of its own, which may use 15 ms of CPU
// time in each 100.
func throttled(child *exec.Cmd) (stall func(pid int, d time.Duration) error, clean func(), err error) {
	return inGroup(child, "")
}

// throttledAbove starts it in a group without a quota below that one, as a container
// is in a pod.
func throttledAbove(child *exec.Cmd) (stall func(pid int, d time.Duration) error, clean func(), err error) {
	return inGroup(child, "leaf")
}

// inGroup starts the child in a group with a quota, or in the one of that name below.
func inGroup(child *exec.Cmd, below string) (stall func(pid int, d time.Duration) error, clean func(), err error) {
	dir, limits, err := newGroup()
	if err != nil {
		return nil, nil, err
	}
	leaf := filepath.Join(dir, below)
	clean = func() { removeGroup(leaf); removeGroup(dir) }
	fail := func(err error) (func(int, time.Duration) error, func(), error) {
		clean()
		return nil, nil, fmt.Errorf("a CPU quota: %w: %w", errNotHere, err)
	}
	for name, value := range limits {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil {
			return fail(err)
		}
	}
	if err := os.Mkdir(leaf, 0o755); err != nil && !os.IsExist(err) {
		return fail(err)
	}
	// A shell enters the group and then becomes the child, which so finds itself
	// in it when it starts.
	sh, err := exec.LookPath("sh")
	if err != nil {
		return fail(err)
	}
	child.Args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(leaf, "cgroup.procs"), child.Path}, child.Args[1:]...)
	child.Path = sh
	return nil, clean, nil
}

// newGroup makes a cgroup in the mount of the cpu controller, version 1 or 2,
// and says what to write to it for a quota.
func newGroup() (dir string, limits map[string]string, err error) {
	const root = "/sys/fs/cgroup"
	parent, limits := root, map[string]string{"cpu.max": "15000 100000"}
	if b, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err != nil || !strings.Contains(string(b), "cpu") {
		parent = filepath.Join(root, "cpu")
		limits = map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "15000"}
		if _, err := os.Stat(filepath.Join(parent, "cpu.cfs_quota_us")); err != nil {
			return "", nil, fmt.Errorf("a CPU quota: %w: %w", errNotHere, err)
		}
	}
	dir = filepath.Join(parent, "tidestaff-inject-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return "", nil, fmt.Errorf("a CPU quota: %w: %w", errNotHere, err)
	}
	return dir, limits, nil
}

// removeGroup removes the group, which is busy for a moment after its last
// process has ended.
func removeGroup(dir string) {
	for range 100 {
		if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
