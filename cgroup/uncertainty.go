package cgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// processUncertainty bounds how far the kernel's count of a process's pages may
// be off, in bytes. Each CPU counts by itself and folds its count into the
// common one when it has reached a batch of 32 pages, or of two per CPU where
// that is more (percpu_counter, Linux 6.2; before, 64 pages per thread). It is a
// bound, and half a megabyte in practice: not all CPUs are a batch off in the
// same direction.
func processUncertainty(cpus int) float64 {
	return float64(max(32, 2*cpus) * cpus * os.Getpagesize())
}

// groupUncertainty bounds how far the charge of a group may be above what its
// processes use: each CPU charges 64 pages at a time and keeps what it does not
// use yet (MEMCG_CHARGE_BATCH).
func groupUncertainty(cpus int) float64 { return float64(64 * cpus * os.Getpagesize()) }

// cpus counts the machine's CPUs. The process may use fewer (runtime.NumCPU), but
// the kernel's counters have a part for each.
func cpus(root string) int {
	b, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/possible"))
	if n := countList(b); err == nil && n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// countList counts the members of a list such as "0-3,8"; 0 if it is none.
func countList(b []byte) int {
	n := 0
	for part := range bytes.SplitSeq(bytes.TrimSpace(b), []byte(",")) {
		first, last, isRange := bytes.Cut(part, []byte("-"))
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(string(first))
		to, err2 := strconv.Atoi(string(last))
		if err1 != nil || err2 != nil || to < from {
			return 0
		}
		n += to - from + 1
	}
	return n
}
