package proc

import (
	"bytes"
	"fmt"
	"time"
)

// tick is the unit of CPU times and of the start time in /proc: USER_HZ,
// which is 100 on every architecture that Go supports whatever the kernel's
// own tick is.
const tick = time.Second / 100

// Status is the memory of a process in bytes, all from one read of
// /proc/PID/status, so that HWM >= RSS = Anon + File + Shmem holds as far as
// the kernel's counters do. Kernel threads and processes that have ended their
// memory have none of the fields; the split is Linux 4.5 and newer.
//
// The kernel keeps these counters per CPU and folds them in batches of at
// least 32 pages (two pages per CPU from 17 CPUs up), so a reading may be off
// by a batch for each CPU.
type Status struct {
	HWM   Value // VmHWM: largest RSS since start or since 5 was written to clear_refs
	RSS   Value // VmRSS: resident now
	Anon  Value // RssAnon: heap, stacks, private writable pages
	File  Value // RssFile: mapped files, the program's text among them
	Shmem Value // RssShmem: shared memory and mapped tmpfs files
	Swap  Value // VmSwap: anonymous memory in swap, not part of RSS
}

var statusKeys = []string{"VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem", "VmSwap"}

// ParseStatus parses /proc/PID/status.
func ParseStatus(b []byte) (Status, error) {
	var v [6]Value
	if err := parseColon(b, statusKeys, v[:]); err != nil {
		return Status{}, fmt.Errorf("status: %w", err)
	}
	return Status{HWM: v[0], RSS: v[1], Anon: v[2], File: v[3], Shmem: v[4], Swap: v[5]}, nil
}

// Statm is the part of /proc/PID/statm that status does not give six times
// dearer, in bytes.
type Statm struct {
	Size   uint64 // address space
	RSS    uint64 // resident
	Shared uint64 // resident and backed by a file or shared memory
}

// ParseStatm parses /proc/PID/statm, which counts pages of pageSize bytes
// (os.Getpagesize).
func ParseStatm(b []byte, pageSize int) (Statm, error) {
	var v [3]uint64
	rest := b
	for i := range v {
		var f []byte
		f, rest = nextField(rest)
		n, ok := digits(f)
		if !ok || n > (1<<63)/uint64(pageSize) {
			return Statm{}, fmt.Errorf("statm: not three numbers of pages: %q", clip(b))
		}
		v[i] = n * uint64(pageSize)
	}
	return Statm{Size: v[0], RSS: v[1], Shared: v[2]}, nil
}

// IO is what a process asked of files, pipes and sockets since it started,
// from /proc/PID/io, which may be missing (CONFIG_TASK_IO_ACCOUNTING) or
// denied. It counts neither mapped files nor recvmsg and sendmsg.
type IO struct {
	ReadChars, WriteChars Value // rchar, wchar: bytes through read(2), write(2) and their kin
	ReadCalls, WriteCalls Value // syscr, syscw
	ReadBytes, WriteBytes Value // read_bytes, write_bytes: what had to come from or go to a device
}

var ioKeys = []string{"rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"}

// ParseIO parses /proc/PID/io.
func ParseIO(b []byte) (IO, error) {
	var v [6]Value
	if err := parseColon(b, ioKeys, v[:]); err != nil {
		return IO{}, fmt.Errorf("io: %w", err)
	}
	return IO{v[0], v[1], v[2], v[3], v[4], v[5]}, nil
}

// Stat is the part of /proc/PID/stat that no other file has.
type Stat struct {
	State       byte          // of the main thread: R running, S sleeping, D waiting for IO, Z ended, T stopped
	MinorFaults uint64        // page faults served without a device
	MajorFaults uint64        // page faults that waited for a device
	User        time.Duration // CPU time in user mode, in steps of 10 ms
	System      time.Duration // CPU time in the kernel, in steps of 10 ms
	Start       time.Duration // when the process started, after the machine did
}

// Positions in /proc/PID/stat, counted as proc(5) does after the second
// field, the command, which may itself contain spaces and parentheses.
const (
	statState  = 3
	statMinflt = 10
	statMajflt = 12
	statUtime  = 14
	statStime  = 15
	statStart  = 22
)

// ParseStat parses /proc/PID/stat.
func ParseStat(b []byte) (Stat, error) {
	rest := b[bytes.LastIndexByte(b, ')')+1:]
	if len(rest) == len(b) {
		return Stat{}, fmt.Errorf("stat: no command in parentheses: %q", clip(b))
	}
	var s Stat
	for field := statState; field <= statStart; field++ {
		var f []byte
		f, rest = nextField(rest)
		if !s.set(field, f) {
			return Stat{}, fmt.Errorf("stat: field %d is %q in %q", field, clip(f), clip(b))
		}
	}
	return s, nil
}

func (s *Stat) set(field int, f []byte) bool {
	if field == statState {
		if len(f) != 1 {
			return false
		}
		s.State = f[0]
		return true
	}
	var (
		dst *uint64
		at  *time.Duration
	)
	switch field {
	case statMinflt:
		dst = &s.MinorFaults
	case statMajflt:
		dst = &s.MajorFaults
	case statUtime:
		at = &s.User
	case statStime:
		at = &s.System
	case statStart:
		at = &s.Start
	default: // not wanted, and some of them are negative
		return len(f) > 0
	}
	n, ok := digits(f)
	if ok && at != nil {
		*at, ok = duration(n, tick)
	} else if ok {
		*dst = n
	}
	return ok
}

// Sched is how long a thread ran and how long it was ready to run but waited
// for a CPU, from /proc/PID/task/TID/schedstat. It needs CONFIG_SCHED_INFO
// only, not the costly CONFIG_SCHEDSTATS.
//
// Note: /proc/PID/schedstat is the main thread's, not the process's sum.
type Sched struct {
	Ran    time.Duration
	Waited time.Duration
	Slices uint64 // times it was put on a CPU
}

// ParseSchedstat parses a schedstat file of a thread.
//
// The time spent waiting for a CPU is what tells a busy machine from a busy
// process; see [Threads].
func ParseSchedstat(b []byte) (Sched, error) {
	var v [3]uint64
	rest := b
	for i := range v {
		var f []byte
		f, rest = nextField(rest)
		n, ok := digits(f)
		if !ok {
			return Sched{}, fmt.Errorf("schedstat: not three numbers: %q", clip(b))
		}
		v[i] = n
	}
	ran, ok1 := duration(v[0], 1)
	waited, ok2 := duration(v[1], 1)
	if !ok1 || !ok2 {
		return Sched{}, fmt.Errorf("schedstat: out of range: %q", clip(b))
	}
	return Sched{Ran: ran, Waited: waited, Slices: v[2]}, nil
}
