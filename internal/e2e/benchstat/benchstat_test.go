package benchstat

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/tidestaff/tidestaff/probe/probetest"
)

// measure runs benchmarks of this test binary in a process of their own and
// writes what they print to a file.
func measure(t *testing.T, variant, pattern string, flags ...string) (file string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.cpu=2"}, flags...)...)
	cmd.Env = append(os.Environ(), variantVar+"="+variant)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file = filepath.Join(t.TempDir(), variant)
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// results are the rows of a file, as benchstat reads them.
func results(t *testing.T, file string) []*benchfmt.Result {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []*benchfmt.Result
	for r := benchfmt.NewReader(f, file); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Errorf("benchstat cannot read it: %v", rec)
		}
	}
	return all
}

// build builds the real benchstat, at the version that go.mod has.
func build(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "benchstat")
	cmd := exec.Command("go", "build", "-o", exe, "golang.org/x/perf/cmd/benchstat")
	cmd.Env = append(os.Environ(), "GOFLAGS=") // -race is for what is tested
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// TestBenchstat: what `go test -bench` prints goes through benchstat as it is, and
// the exact counts are compared as such.
func TestBenchstat(t *testing.T) {
	exe := build(t)
	before := measure(t, "before", "List", "-test.benchtime=20x", "-test.count=4")
	after := measure(t, "after", "List", "-test.benchtime=20x", "-test.count=4")
	for _, tt := range []struct {
		unit string
		want []string // columns: benchmark, before, after, difference
	}{
		{"queries/op", []string{"7.000", "1.000", "-85.71%", "(n=4)"}},
		{"full-scans/op", []string{"1.000", "0.000", "-100.00%", "(n=4)"}},
		{"rows/op", []string{"6.000", "6.000", "0.00%", "(n=4)"}},
		{"fs-read-bytes/op", []string{"1000.0", "0.0", "-100.00%", "(n=4)"}},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(exe, "-filter", ".unit:"+tt.unit, "-ignore", ".file", "before="+before, "after="+after)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		for _, name := range []string{"List-2", "ListParallel-2"} {
			if got := line(string(out), name); !cmp.Equal(got, tt.want) {
				t.Errorf("%s of %s: got %q, want %q in\n%s%s", tt.unit, name, got, tt.want, out, &stderr)
			}
		}
	}
	times, err := exec.Command(exe, "before="+before, "after="+after).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, times)
	}
	for _, unit := range []string{"sec/op", "cpu-sec/op", "sql-sec/op", "peak-RSS-bytes", "p50-latency-sec"} {
		if !strings.Contains(string(times), unit) {
			t.Errorf("benchstat has no table of %s:\n%s", unit, times)
		}
	}
	if strings.Contains(string(times), "NaN") || strings.Contains(string(times), "Inf") {
		t.Errorf("a number is none:\n%s", times)
	}
}

// line is the words of a benchmark's line, but for its name and the spread.
func line(out, name string) []string {
	for l := range strings.Lines(out) {
		f := strings.Fields(l)
		if len(f) > 0 && f[0] == name {
			return slices.DeleteFunc(f[1:], func(w string) bool { return w == "±" || w == "0%" || w == "∞" || strings.Trim(w, "¹²³") == "" })
		}
	}
	return nil
}

// TestTidyNames: benchstat rescales ns to sec and MB to B. Two units that it would
// give one name would be taken for one.
func TestTidyNames(t *testing.T) {
	var b strings.Builder
	if err := probetest.WriteUnits(&b, set); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{"sec/op": "ns/op", "B/op": "B/op", "allocs/op": "allocs/op"}
	n := 0
	for r := benchfmt.NewReader(strings.NewReader(b.String()), "units"); r.Scan(); {
		m, ok := r.Result().(*benchfmt.UnitMetadata)
		if !ok {
			t.Fatalf("no line about a unit: %v", r.Result())
		}
		n++
		if m.Key != "better" {
			continue
		}
		_, tidy := benchunit.Tidy(1, m.OrigUnit)
		if other := seen[tidy]; other != "" {
			t.Errorf("%s and %s are both %s to benchstat", other, m.OrigUnit, tidy)
		}
		seen[tidy] = m.OrigUnit
		if strings.Contains(tidy, "_") || strings.Contains(m.OrigUnit, "bytes") != (benchunit.ClassOf(tidy) == benchunit.Binary) {
			t.Errorf("%s: %s is of class %v to benchstat", m.OrigUnit, tidy, benchunit.ClassOf(tidy))
		}
	}
	if n < 30 {
		t.Errorf("%d lines, want some for every unit of every probe", n)
	}
}

// TestRow: every unit of the probes that has data is in a real row, once.
func TestRow(t *testing.T) {
	rows := results(t, measure(t, "before", "List$", "-test.benchtime=200x"))
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1", len(rows))
	}
	got := units(t, rows[0])
	for unit, want := range map[string]float64{
		"queries/op": 7, "rows/op": 6, "full-scans/op": 1, "fs-read-bytes/op": 1000,
	} {
		if got[unit] != want {
			t.Errorf("%s = %v, want %v", unit, got[unit], want)
		}
	}
	for _, unit := range []string{"ns/op", "cpu-ns/op", "sql-ns/op", "p50-latency-ns", "p99-latency-ns", "peak-RSS-bytes", "fs-reads/op"} {
		if got[unit] <= 0 && !(runtime.GOOS != "linux" && unit == "peak-RSS-bytes") {
			t.Errorf("%s = %v, want more", unit, got[unit])
		}
	}
	if _, there := got["max-lag-ns"]; there {
		t.Error("a maximum is reported without being asked for")
	}
}

// units are the numbers of a row by the units that we gave them.
func units(t *testing.T, row *benchfmt.Result) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, v := range row.Values {
		unit := v.Unit
		if v.OrigUnit != "" {
			unit = v.OrigUnit
		}
		if _, twice := got[unit]; twice {
			t.Errorf("%s is there twice", unit)
		}
		got[unit] = v.Value
	}
	return got
}

// TestLagRow: the percentiles of lag are in a row, and its maximum if it is asked for.
func TestLagRow(t *testing.T) {
	rows := results(t, measure(t, "after", "Lag", "-test.benchtime=200x"))
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	usual, asked := units(t, rows[0]), units(t, rows[1])
	if p50, p95, p99 := usual["p50-lag-ns"], usual["p95-lag-ns"], usual["p99-lag-ns"]; p50 <= 0 || p95 < p50 || p99 < p95 {
		t.Errorf("got %v, %v and %v, want percentiles of lag", p50, p95, p99)
	}
	if v, there := usual["max-lag-ns"]; there {
		t.Errorf("got a maximum of %v without asking for it", v)
	}
	if p99, most := asked["p99-lag-ns"], asked["max-lag-ns"]; p99 <= 0 || most < p99*0.999 { // a percentile is the end of its bucket
		t.Errorf("got a maximum of %v over the percentile %v, want both", most, p99)
	}
}

// TestMemoryIsolated: a benchmark of 200 MiB leaves nothing in the peak of the one
// behind it.
func TestMemoryIsolated(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux sets the resident set's peak back")
	}
	rows := results(t, measure(t, "after", "Memory", "-test.benchtime=10x"))
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	peak := func(i int) float64 {
		for _, v := range rows[i].Values {
			if v.Unit == "peak-RSS-bytes" {
				return v.Value / (1 << 20)
			}
		}
		t.Fatalf("no peak in %s", rows[i].Name)
		return 0
	}
	if big, small := peak(1), peak(2); big < 200 || small > big-150 {
		t.Errorf("peaks are %.0f MiB of 200 and %.0f MiB of 2 behind it, want at least 150 less", big, small)
	}
}
