package main

import (
	"strings"
	"testing"
)

const asked = `# made by: go run ./internal/peers/cmd/bench -set memory
BenchmarkRSS/by=kernel-2          1000   1300 ns/op   1200 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkRSS/by=kernel-2          1000   1100 ns/op   1000 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkRSS/by=tidestaff-2       1000  25000 ns/op  25000 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkRSS/by=tidestaff-part-2  1000   1300 ns/op   1250 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkRSS/by=procfs-2          1000  31000 ns/op  30000 cpu-ns/op   1000 B/op   29 allocs/op
BenchmarkAll/by=kernel-2          1000  20000 ns/op  20000 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkAll/by=tidestaff-2       1000  25000 ns/op  25000 cpu-ns/op      0 B/op    0 allocs/op
BenchmarkAll/by=gopsutil-2        1000 300000 ns/op 250000 cpu-ns/op  50000 B/op  300 allocs/op
`

func TestBesides(t *testing.T) {
	var got strings.Builder
	if err := summarize(&got, []byte(asked)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"RSS least CPU ns median most x kernel x part x reading wall ns allocs/op",
		"by=kernel 1000 1100 1200 1 0.8 0.04 1100 0",
		"by=tidestaff-part 1250 1250 1250 1.25 1 0.05 1300 0",
		"by=procfs 30000 30000 30000 30 24 1.2 31000 29",
		"by=gopsutil 250000 250000 250000 12.5 10 300000 300", // no part has everything
		"CPU ns (allocs) RSS All",
		"kernel 1000 (0) 20000 (0)",
		"procfs 30000 (29)",
		"gopsutil 250000 (300)",
	} {
		if !hasLine(got.String(), want) {
			t.Errorf("no line %q in\n%s", want, got.String())
		}
	}
}
