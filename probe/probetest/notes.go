package probetest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// notes are what a person should know of a run before believing its numbers.
func (r *Run) notes(window time.Duration, missing []string) []string {
	var notes []string
	if note := windowNote(window, r.b.Elapsed()); note != "" {
		notes = append(notes, note)
	}
	if note := labelNote(labelledProcs(r.b.Name()), runtime.GOMAXPROCS(0)); note != "" {
		notes = append(notes, note)
	}
	return append(notes, missing...)
}

// windowNote says that a window is longer than what was timed, beyond what
// opening and closing it takes, or "".
func windowNote(window, timed time.Duration) string {
	if window <= timed+max(20*time.Millisecond, timed/20) {
		return ""
	}
	return fmt.Sprintf("the window holds %v, the timer %v: set-up or teardown is in the numbers. "+
		"Call Stop right after the loop, or use Loop. (Stopping the timer inside the loop does not stop the probes.)",
		window.Round(time.Millisecond), timed.Round(time.Millisecond))
}

// labelNote says that a row's label names another GOMAXPROCS than it ran with, or
// "".
func labelNote(label, real int) string {
	if label == 0 || label == real {
		return ""
	}
	return fmt.Sprintf("this row is labelled for GOMAXPROCS=%d and ran with %d: with several values of -cpu, "+
		"the first row of a b.Loop benchmark is (golang/go#49980). Run go test once for each value.", label, real)
}

// rows counts how often each benchmark has been reported, since the row that is
// labelled wrongly is a benchmark's first and testing does not say which one it is
// at. It belongs to the test binary.
var rows struct {
	sync.Mutex
	of map[string]int
}

// labelledProcs is the GOMAXPROCS in the label of a benchmark's row, or 0 if it
// cannot be wrong. The function of the first row is entered before package testing
// sets the first of several values.
func labelledProcs(name string) int {
	listed := listedProcs()
	if len(listed) < 2 {
		return 0
	}
	rows.Lock()
	defer rows.Unlock()
	if rows.of == nil {
		rows.of = map[string]int{}
	}
	rows.of[name]++
	if rows.of[name] > 1 {
		return 0
	}
	return listed[0]
}

// listedProcs are the values of -cpu.
func listedProcs() []int {
	var procs []int
	for s := range strings.SplitSeq(testFlag("cpu"), ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			procs = append(procs, n)
		}
	}
	return procs
}

// lastRun reports whether this run of the benchmark's function is the one whose
// numbers are printed, and no trial on the way to enough iterations.
func lastRun(b *testing.B) bool {
	want := testFlag("benchtime")
	if n, err := strconv.Atoi(strings.TrimSuffix(want, "x")); err == nil && strings.HasSuffix(want, "x") {
		return b.N >= n
	}
	d, err := time.ParseDuration(want)
	return err != nil || b.Elapsed() >= d || b.N >= 1e9
}

// testFlag is the value of a flag of package testing, "" if there is none.
func testFlag(name string) string {
	if f := flag.Lookup("test." + name); f != nil {
		return f.Value.String()
	}
	return ""
}

// Main is what a TestMain calls so that the output of its package's benchmarks
// says which units are exact counts and which direction is better; see
// [WriteUnits]. It prints these lines only if benchmarks were asked for, and
// returns the exit code of the tests. It adds the flag -update for [Snapshot], if
// the test binary has none of that name. m is TestMain's, or what runs that.
//
//	func TestMain(m *testing.M) { os.Exit(probetest.Main(m, sqlp, lagp)) }
func Main(m interface{ Run() int }, probes ...probe.Probe) int {
	if !flag.Parsed() { // else others have set flags, which a second Parse would undo
		if flag.Lookup(updateFlag) == nil {
			flag.Bool(updateFlag, false, "write the snapshots of probetest.Snapshot")
		}
		flag.Parse()
	}
	if testFlag("bench") != "" {
		_ = WriteUnits(os.Stdout, probes...) // the tests are worth running all the same
	}
	return m.Run()
}
