package main

import (
	"strings"
	"testing"
)

const output = `# kernel: 6.1
# load average before: 0.10 0.20 0.30
goos: linux
cpu: some CPU
BenchmarkRecord/to=atomic/cores=one-2      1000   2.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=atomic/cores=one-2      1000   9.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=atomic/cores=one-2      1000   1.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=atomic/cores=all-2      1000   5.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=tidestaff/cores=one-2   1000   8.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=tidestaff/cores=all-2   1000   4.0 ns/op   0 B/op   0 allocs/op
BenchmarkRecord/to=otel/cores=one-2        1000   200 ns/op   48 B/op  1 allocs/op
BenchmarkReader/do=Read                    10     2500000 ns/op
PASS
ok  	pkg	1s
`

func TestSummarize(t *testing.T) {
	var got strings.Builder
	if err := summarize(&got, []byte(output)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# kernel: 6.1",
		"cpu: some CPU",
		"Record ns of a core min max x first x tidestaff allocs/op",
		"to=atomic/cores=one 2 1 9 1 0.25 0",
		"to=atomic/cores=all 10 10 10 1 1.25 0",
		"to=tidestaff/cores=one 8 8 8 4 1 0",
		"to=tidestaff/cores=all 8 8 8 0.8 1 0",
		"to=otel/cores=one 200 200 200 100 25 1",
		"do=Read 2500000 2500000 2500000 1 0",
	} {
		if !hasLine(got.String(), want) {
			t.Errorf("no line %q in\n%s", want, got.String())
		}
	}
}

// hasLine looks for a line, whatever its blanks.
func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.Join(strings.Fields(line), " ") == want {
			return true
		}
	}
	return false
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
	} {
		if got := median(tt.of); got != tt.want {
			t.Errorf("median of %v: got %v, want %v", tt.of, got, tt.want)
		}
	}
}

func TestNotBenchmarks(t *testing.T) {
	for _, text := range []string{"", "PASS\n", "BenchmarkX-2 10 fast ns/op\n"} {
		if err := summarize(new(strings.Builder), []byte(text)); err == nil {
			t.Errorf("got no error for %q, want one", text)
		}
	}
}
