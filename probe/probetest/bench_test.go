package probetest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// casesVar turns on the benchmarks that tests run in a process of their own.
const casesVar = "PROBETEST_CASES"

// cases are benchmarks that tests run, since package testing prints its rows to
// nobody else. Each operation is three statements.
var cases = []struct {
	name string
	run  func(*testing.B, *ledger)
}{
	{"loop", func(b *testing.B, l *ledger) {
		l.query(100) // set-up
		defer l.query(100)
		Loop(b, func() { l.query(3) }, l)
	}},
	{"n", func(b *testing.B, l *ledger) {
		l.query(100)
		r := Start(b, l)
		for range b.N {
			l.query(3)
		}
		r.Stop()
		l.query(100)
	}},
	{"reset", func(b *testing.B, l *ledger) {
		r := Start(b, l)
		l.query(100)
		r.Reset()
		for range b.N {
			l.query(3)
		}
		r.Stop()
	}},
	{"parallel", func(b *testing.B, l *ledger) { Parallel(b, func() { l.query(3) }, l) }},
	{"latency", func(b *testing.B, l *ledger) {
		Bench{Probes: []probe.Probe{l}, Latency: true}.Loop(b, func() { l.query(3) })
	}},
	{"latencies", func(b *testing.B, l *ledger) {
		Bench{Probes: []probe.Probe{l}, Latency: true}.Parallel(b, func() { l.query(3) })
	}},
	{"sub", func(b *testing.B, l *ledger) {
		for _, name := range []string{"a", "b"} {
			b.Run(name, func(b *testing.B) { Loop(b, func() { l.query(3) }, l) })
		}
	}},
	{"late", func(b *testing.B, l *ledger) {
		// Longer than what opening and closing a window may take, however long the loop has taken.
		defer func() { l.query(100); time.Sleep(50*time.Millisecond + b.Elapsed()/10) }()
		Start(b, l)
		for b.Loop() {
			l.query(3)
		}
	}},
	{"fatal", func(b *testing.B, l *ledger) { Loop(b, func() { l.query(3); b.Fatal("gives up") }, l) }},
	{"skip", func(b *testing.B, l *ledger) { Start(b, l); b.Skip("not today") }},
	{"unit", func(b *testing.B, l *ledger) {
		Bench{Probes: []probe.Probe{l}, Units: []string{"querys/op"}}.Loop(b, func() {})
	}},
	{"some", func(b *testing.B, l *ledger) {
		Bench{Probes: []probe.Probe{l}, Units: []string{"queries/op", "p99-lag-ns"}}.Loop(b, func() { l.query(3) })
	}},
	{"panic", func(b *testing.B, l *ledger) { Loop(b, func() { panic("gives way") }, l) }},
	{"parent", func(b *testing.B, l *ledger) {
		Start(b, l)
		b.Run("child", func(b *testing.B) { Loop(b, func() { l.query(3) }, l) })
	}},
	{"peaks", func(b *testing.B, _ *ledger) {
		p := newLedger(testPeak)
		p.Sample = func() { p.Peak(testPeak).Sample(1000) }
		Loop(b, func() {}, p)
	}},
	{"nonsense", func(b *testing.B, l *ledger) {
		for i, v := range []float64{math.NaN(), math.Inf(1), -1} {
			l.GaugeFunc(&probe.Desc{Name: fmt.Sprint("a.level", i), Unit: "1", Help: "h",
				Bench: []probe.Bench{{Unit: fmt.Sprint("level", i), Stat: "value", Better: "lower"}}}, func() float64 { return v })
		}
		Loop(b, func() { l.query(3) }, l)
	}},
	{"items", func(b *testing.B, _ *ledger) { PerItem(b, 1000, func() any { return make([][64]byte, 1000) }) }},
}

func BenchmarkCases(b *testing.B) {
	if os.Getenv(casesVar) == "" {
		b.Skip("only for tests")
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			l := newLedger(testQueries, testTime, testLag)
			b.Cleanup(func() { // after those of the case
				if l.Watched() {
					b.Error("a window is open after the benchmark")
				}
			})
			c.run(b, l)
		})
	}
}

// TestMain prints the unit lines, and sees that no window is left.
func TestMain(m *testing.M) {
	os.Exit(Main(m, newLedger(testQueries, testTime, testLag)))
}

// A row is one line of a benchmark's output.
type row struct {
	name string
	n    int
	unit map[string]float64
}

// rowsOf runs benchmarks of this test binary in a process of their own.
func rowsOf(t *testing.T, pattern string, flags ...string) (rows []row, output string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^$", "-test.bench=^BenchmarkCases$/" + pattern}, flags...)...)
	cmd.Env = append(os.Environ(), casesVar+"=1")
	// Apart, since a panic is printed beside the row that has begun.
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	output = stdout.String() + stderr.String()
	if err != nil && !strings.Contains(output, "FAIL") && !strings.Contains(output, "panic: gives way") {
		t.Fatalf("%v: %s", err, output)
	}
	for line := range strings.Lines(stdout.String()) {
		if f := strings.Fields(line); len(f) >= 4 && strings.HasPrefix(f[0], "BenchmarkCases/") {
			rows = append(rows, parseRow(t, f))
		}
	}
	return rows, output
}

func parseRow(t *testing.T, fields []string) row {
	t.Helper()
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatalf("no row: %q", fields)
	}
	r := row{name: strings.TrimPrefix(fields[0], "BenchmarkCases/"), n: n, unit: map[string]float64{}}
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if _, twice := r.unit[fields[i+1]]; err != nil || twice {
			t.Fatalf("%q: %v, there twice: %t", fields, err, twice)
		}
		r.unit[fields[i+1]] = v
	}
	return r
}

// TestRows: whatever the form of a benchmark and however often it is repeated,
// each row has what its own iterations did and nothing else.
func TestRows(t *testing.T) {
	forms := map[string]int{"loop-2": 3, "n-2": 3, "reset-2": 3, "parallel-2": 3, "latency-2": 3, "latencies-2": 3, "sub/a-2": 3, "sub/b-2": 3}
	for _, time := range []string{"50x", "1x", "5ms"} {
		rows, out := rowsOf(t, "^(loop|n|reset|parallel|latency|latencies|sub)$", "-test.benchtime="+time, "-test.count=3", "-test.cpu=2")
		got := map[string]int{}
		for _, r := range rows {
			got[r.name]++
			if r.unit["queries/op"] != 3 || r.unit["sql-ns/op"] != 3000 || r.unit["cpu-ns/op"] <= 0 {
				t.Errorf("%s: got %v, want 3 queries/op of 1000 ns, and CPU time", time, r)
			}
			_, p50 := r.unit["p50-latency-ns"]
			_, p99 := r.unit["p99-latency-ns"]
			if timed := strings.HasPrefix(r.name, "latenc"); p50 != timed || p99 != (timed && r.n >= 100) {
				t.Errorf("%s %s: p50 there: %t, p99 there: %t, of %d operations", r.name, time, p50, p99, r.n)
			}
		}
		if diff := cmp.Diff(forms, got); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s\n%s", time, diff, out)
		}
	}
}

// TestLateRow: a window that is closed behind the benchmark's deferred calls says
// so, in every row.
func TestLateRow(t *testing.T) {
	rows, out := rowsOf(t, "^late$", "-test.benchtime=20x", "-test.count=2")
	if len(rows) != 2 || rows[0].unit["queries/op"] != 8 {
		t.Errorf("got %v, want two rows of (20*3+100)/20 = 8 queries/op", rows)
	}
	if n := strings.Count(out, "set-up or teardown is in the numbers"); n != 2 {
		t.Errorf("%d notes, want 2:\n%s", n, out)
	}
}

// TestProcsRow: with several values of -cpu the first row of a benchmark with
// b.Loop is that of the last value, which its label does not say.
func TestProcsRow(t *testing.T) {
	rows, out := rowsOf(t, "^loop$", "-test.benchtime=20x", "-test.count=2", "-test.cpu=1,4")
	var got []float64
	for _, r := range rows {
		got = append(got, r.unit["gomaxprocs"])
	}
	if len(got) != 4 || got[1] != 1 || got[2] != 4 || got[3] != 4 {
		t.Fatalf("gomaxprocs are %v, want something, 1, 4, 4:\n%s", got, out)
	}
	notes := strings.Count(out, "labelled for GOMAXPROCS=1 and ran with 4")
	if wrong := got[0] != 1; wrong != (notes == 1) {
		t.Errorf("the first row ran with %v, and there are %d notes:\n%s", got[0], notes, out)
	}
	// Not with b.N, whose first run is a trial.
	if _, out := rowsOf(t, "^n$", "-test.benchtime=20x", "-test.cpu=1,4"); strings.Contains(out, "labelled") {
		t.Errorf("a row with b.N is said to be labelled wrongly:\n%s", out)
	}
}

func TestLabelNote(t *testing.T) {
	for _, tt := range []struct {
		label, real int
		want        bool
	}{{0, 4, false}, {4, 4, false}, {1, 4, true}} {
		if got := labelNote(tt.label, tt.real) != ""; got != tt.want {
			t.Errorf("label %d, real %d: a note: %t, want %t", tt.label, tt.real, got, tt.want)
		}
	}
}

func TestWindowNote(t *testing.T) {
	for _, tt := range []struct {
		window, timed time.Duration
		want          bool
	}{
		{time.Second, time.Second, false},
		{1040 * time.Millisecond, time.Second, false}, // 5 % of it
		{1060 * time.Millisecond, time.Second, true},
		{19 * time.Millisecond, 0, false}, // opening and closing
		{21 * time.Millisecond, 0, true},
		{time.Millisecond, time.Second, false}, // the timer held set-up
	} {
		if got := windowNote(tt.window, tt.timed) != ""; got != tt.want {
			t.Errorf("window %v, timer %v: a note: %t, want %t", tt.window, tt.timed, got, tt.want)
		}
	}
}

// TestRowsOfFailures: nothing is reported of what failed or was skipped, and no
// window is left open (BenchmarkCases looks).
func TestRowsOfFailures(t *testing.T) {
	for name, want := range map[string]string{
		"fatal": "gives up",
		"skip":  "", // package testing shows a reason with -v only
		"unit":  `no probe here has the unit "querys/op"; they have alloc-bytes/item, cpu-ns/op,`,
	} {
		rows, out := rowsOf(t, "^"+name+"$", "-test.benchtime=20x", "-test.count=2")
		if len(rows) != 0 || !strings.Contains(out, want) || strings.Contains(out, "window is open") || strings.Contains(out, "NaN") {
			t.Errorf("%s: got %v, want no row, and %q in:\n%s", name, rows, want, out)
		}
	}
}

// TestPanicRow: a panic passes through, and nothing is reported on its way. (What
// package testing itself may still print of it is a row of 0 iterations.)
func TestPanicRow(t *testing.T) {
	rows, out := rowsOf(t, "^panic$", "-test.benchtime=20x", "-test.count=2")
	if !strings.Contains(out, "panic: gives way") {
		t.Errorf("no panic in:\n%s", out)
	}
	for _, r := range rows {
		if _, there := r.unit["queries/op"]; there || r.n != 0 {
			t.Errorf("got %v, want no number of ours:\n%s", r, out)
		}
	}
}

// TestParentRow: a benchmark that only runs others prints no row, and its window
// does not change theirs.
func TestParentRow(t *testing.T) {
	rows, out := rowsOf(t, "^parent$", "-test.benchtime=20x")
	if len(rows) != 1 || !strings.HasPrefix(rows[0].name, "parent/child") || rows[0].unit["queries/op"] != 3 {
		t.Errorf("got %v, want the child's row only:\n%s", rows, out)
	}
}

// TestSampledPeak: a peak that the kernel did not keep says so.
func TestSampledPeak(t *testing.T) {
	rows, out := rowsOf(t, "^peaks$", "-test.benchtime=20x")
	if len(rows) != 1 || rows[0].unit["peak-RSS-bytes"] != 1000 || !strings.Contains(out, "peak-RSS-bytes is sampled, not exact") {
		t.Errorf("got %v, want a peak of 1000 and a word about it:\n%s", rows, out)
	}
}

// TestNonsenseRow: what is no number is not in a row.
func TestNonsenseRow(t *testing.T) {
	rows, out := rowsOf(t, "^nonsense$", "-test.benchtime=20x")
	if len(rows) != 1 || len(rows[0].unit) != 4 || strings.Contains(out, "level0") || strings.Contains(out, "NaN") || strings.Contains(out, "Inf ") {
		t.Errorf("got %v, want ns/op, cpu-ns/op, queries/op and sql-ns/op:\n%s", rows, out)
	}
}

// TestPicked: units that are asked for are the only ones, and one without data has
// a reason.
func TestPicked(t *testing.T) {
	rows, out := rowsOf(t, "^some$", "-test.benchtime=20x")
	if len(rows) != 1 || len(rows[0].unit) != 2 || rows[0].unit["queries/op"] != 3 {
		t.Errorf("got %v, want ns/op and queries/op only", rows)
	}
	if want := "p99-lag-ns is not reported: tidestaff.scheduler.lag.duration: nothing went through"; !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
}

func TestPerItem(t *testing.T) {
	rows, out := rowsOf(t, "^items$", "-test.benchtime=5x")
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1:\n%s", len(rows), out)
	}
	// Exactly one large object is allocated; its size is rounded up to whole pages.
	if got := rows[0].unit["alloc-bytes/item"]; got < 64 || got > 64+8 {
		t.Errorf("alloc-bytes/item = %v, want 64 and less than a page in 1000 more", got)
	}
	if got := rows[0].unit["heap-bytes/item"]; got < 48 || got > 80 {
		t.Errorf("heap-bytes/item = %v, want about 64", got)
	}
}

// TestItemCost: what somebody else lets go of in one of the tries is no item's.
func TestItemCost(t *testing.T) {
	const size = 64 << 10
	other, calls := make([]byte, 1<<20), 0
	heap, alloc := itemCost(func() any {
		if calls++; calls == 3 {
			other = nil
		}
		return make([]byte, size)
	})
	runtime.KeepAlive(other)
	if heap < size-8<<10 || heap > size+8<<10 || alloc < size {
		t.Errorf("got %d bytes live and %d allocated, want %d", heap, alloc, size)
	}
}

// TestLiveHeap: clean-ups run outside of a test with a fake clock, which must not mind.
func TestLiveHeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := liveHeap(); got <= 0 {
			t.Errorf("got %d bytes", got)
		}
	})
}

// TestUnitLines: TestMain prints them with benchmarks and not without.
func TestUnitLines(t *testing.T) {
	_, out := rowsOf(t, "^loop$", "-test.benchtime=1x")
	if !strings.HasPrefix(out, "Unit alloc-bytes/item better=lower\n") || !strings.Contains(out, "\nUnit queries/op better=lower assume=exact\n") {
		t.Errorf("the output does not begin with the unit lines:\n%s", out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := exec.Command(self, "-test.run=^TestLabelNote$").CombinedOutput()
	if err != nil || strings.Contains(string(plain), "Unit ") {
		t.Errorf("%v: unit lines without benchmarks:\n%s", err, plain)
	}
}

// benchmark runs f as package testing would, for n iterations.
func benchmark(t *testing.T, n int, f func(*testing.B)) testing.BenchmarkResult {
	t.Helper()
	set := func(v string) {
		if err := flag.Set("test.benchtime", v); err != nil {
			t.Fatal(err)
		}
	}
	old := testFlag("benchtime")
	set(strconv.Itoa(n) + "x")
	defer set(old)
	return testing.Benchmark(f)
}

// TestAllocs: the adapter adds nothing to what an operation allocates.
func TestAllocs(t *testing.T) {
	l := newLedger(testQueries)
	c := l.Counter(testQueries)
	for name, f := range map[string]func(*testing.B){
		"loop":     func(b *testing.B) { Loop(b, func() { c.Add(1) }, l) },
		"latency":  func(b *testing.B) { Bench{Probes: []probe.Probe{l}, Latency: true}.Loop(b, func() { c.Add(1) }) },
		"parallel": func(b *testing.B) { Parallel(b, func() { c.Add(1) }, l) },
		"start": func(b *testing.B) {
			r := Start(b, l)
			for b.Loop() {
				c.Add(1)
			}
			r.Stop()
		},
	} {
		if r := benchmark(t, 100_000, f); r.N != 100_000 || r.AllocsPerOp() != 0 || r.Extra["queries/op"] != 1 {
			t.Errorf("%s: %d operations, %d allocs/op, %v queries/op; want 100,000, 0, 1", name, r.N, r.AllocsPerOp(), r.Extra["queries/op"])
		}
	}
}

// TestFailureIsZero: package testing hands back nothing of a benchmark that
// failed when it runs one for a program.
func TestFailureIsZero(t *testing.T) {
	l := newLedger(testQueries)
	r := benchmark(t, 10, func(b *testing.B) {
		Loop(b, func() { l.query(1); b.FailNow() }, l)
	})
	if r.N != 0 || len(r.Extra) != 0 || l.Watched() {
		t.Errorf("got %+v, still watched: %t; want nothing", r, l.Watched())
	}
}

// TestStopTwice: a second Stop, and the one of the clean-up, do nothing.
func TestStopTwice(t *testing.T) {
	l := newLedger(testQueries)
	r := benchmark(t, 10, func(b *testing.B) {
		run := Start(b, l)
		for b.Loop() {
			l.query(1)
		}
		run.Stop()
		l.query(10)
		run.Stop()
	})
	if got := r.Extra["queries/op"]; got != 1 {
		t.Errorf("queries/op = %v, want 1", got)
	}
}

// TestIsolation: before a window over a probe of the resident set, freed memory
// goes back to the system, so that an earlier benchmark is not in the peak.
func TestIsolation(t *testing.T) {
	if !watchesMemory([]probe.Probe{newLedger(testPeak)}) || watchesMemory([]probe.Probe{newLedger(testQueries)}) {
		t.Error("only a probe whose unit is a resident set is one of memory")
	}
}

// TestGoroutines: nothing of a benchmark runs on behind it.
func TestGoroutines(t *testing.T) {
	l := newLedger(testQueries)
	before := running()
	benchmark(t, 10, func(b *testing.B) { Parallel(b, func() { l.query(1) }, l) })
	if err := leakedGoroutines(before); err != nil {
		t.Error(err)
	}
}

// The cost of the adapter: the difference to the bare loop.
func BenchmarkAdapter(b *testing.B) {
	var n atomic.Int64
	op := func() { n.Add(1) }
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			op()
		}
	})
	b.Run("loop", func(b *testing.B) { Loop(b, op) })
	b.Run("latency", func(b *testing.B) { Bench{Latency: true}.Loop(b, op) })
	runtime.KeepAlive(&n)
}
