package main

import (
	"strings"
	"testing"
)

const wrapped = `# made by: go run ./internal/peers/cmd/bench -set sql
BenchmarkExec/on=fake/by=bare-2       1000   220 ns/op   200 cpu-ns/op   64 B/op   2 allocs/op
BenchmarkExec/on=fake/by=sqlmw-2      1000   350 ns/op   300 cpu-ns/op   96 B/op   4 allocs/op
BenchmarkExec/on=fake/by=sqlmw-2      1000   360 ns/op   320 cpu-ns/op   96 B/op   4 allocs/op
BenchmarkExec/on=fake/by=sqlmw-2      1000   320 ns/op   290 cpu-ns/op   96 B/op   4 allocs/op
BenchmarkExec/on=mattn/by=bare-2      1000   3000 ns/op  3000 cpu-ns/op  96 B/op   7 allocs/op
BenchmarkExec/on=mattn/by=sqlmw-2     1000   2900 ns/op  2940 cpu-ns/op  96 B/op   9 allocs/op
BenchmarkQuery100/on=fake/by=bare-2   1000   5000 ns/op  5500 cpu-ns/op  96 B/op   8 allocs/op
BenchmarkQuery100/on=fake/by=sqlmw-2  1000   6000 ns/op  6500 cpu-ns/op  96 B/op   10 allocs/op
BenchmarkFloor-2                      1000   70 ns/op    60 cpu-ns/op    0 B/op    0 allocs/op
`

func TestOverheads(t *testing.T) {
	var got strings.Builder
	if err := summarize(&got, []byte(wrapped)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Exec least CPU ns median most over bare x bare wall ns allocs/op over bare",
		"on=fake/by=bare 200 200 200 +0 1 220 2 +0",
		"on=fake/by=sqlmw 290 300 320 +90 1.45 320 4 +2",
		"on=mattn/by=sqlmw 2940 2940 2940 -60 0.98 2900 9 +2",
		"Query100 least CPU ns median most over bare x bare wall ns allocs/op over bare",
		"fake, CPU ns over bare (allocs) Exec Query100",
		"bare 200 (2) 5500 (8)",
		"sqlmw +90 (+2) +1000 (+2)",
		"mattn, CPU ns over bare (allocs) Exec Query100",
		"sqlmw -60 (+2)",
		"floor, two readings of the clock and a record 60 CPU ns",
		"fake, floors over bare Exec Query100",
		"sqlmw 1.5 16.7",
	} {
		if !hasLine(got.String(), want) {
			t.Errorf("no line %q in\n%s", want, got.String())
		}
	}
}

// TestOverheadsOfWallTime is a system on which the process has no CPU time, and
// a part of the set that lacks what it is compared with.
func TestOverheadsOfWallTime(t *testing.T) {
	const text = `BenchmarkExec/on=fake/by=bare-2       1000   200 ns/op   2 allocs/op
BenchmarkExec/on=fake/by=sqlmw-2      1000   350 ns/op   4 allocs/op
BenchmarkExec/on=mattn/by=sqlmw-2     1000   2900 ns/op  9 allocs/op
`
	var got strings.Builder
	if err := summarize(&got, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Exec least wall ns median most over bare x bare wall ns allocs/op over bare",
		"on=fake/by=sqlmw 350 350 350 +150 1.75 350 4 +2",
		"on=mattn/by=sqlmw 2900 2900 2900 2900 9",
		"sqlmw 2900 (9)",
	} {
		if !hasLine(got.String(), want) {
			t.Errorf("no line %q in\n%s", want, got.String())
		}
	}
	if hasLine(got.String(), "bare") {
		t.Errorf("a line of a wrapper that is not around this driver in\n%s", got.String())
	}
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		in, want flags
		ok       bool
	}{
		{flags{set: "recorder"}, flags{set: "recorder", benchtime: "500ms", count: 5}, true},
		{flags{set: "sql"}, flags{set: "sql", benchtime: "20ms", count: 30}, true},
		{flags{set: "memory"}, flags{set: "memory", benchtime: "20ms", count: 30}, true},
		{flags{set: "sql", benchtime: "2x", count: 1}, flags{set: "sql", benchtime: "2x", count: 1}, true},
		{flags{set: "files"}, flags{set: "files", benchtime: "20ms", count: 30}, true},
		{flags{set: "none"}, flags{set: "none"}, false},
	} {
		got := tt.in
		if err := got.complete(); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%+v: got %+v and error %v, want %+v and no error %t", tt.in, got, err, tt.want, tt.ok)
		}
	}
}
