// Command bench runs a set of the benchmarks of internal/peers, writes their
// output with the conditions under which it was made to bench/<date>-<set>.txt,
// in the benchmark format that benchstat reads, and prints ratios, which is what
// the documentation may quote:
//
//	go run ./internal/peers/cmd/bench
//	go run ./internal/peers/cmd/bench -set sql
//	go run ./internal/peers/cmd/bench -set memory
//	go run ./internal/peers/cmd/bench -set files
//	go run ./internal/peers/cmd/bench -of bench/2026-11-30-recorder.txt
//
// The set "recorder" is package probe beside other recorders, "sql" is package
// sqlitetrace beside other wrappers of drivers, "memory" is package cgroup beside
// other readers of the kernel's files, "files" is package fsstat beside package os.
// The last form measures nothing and prints the ratios of a file.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/tidestaff/tidestaff/internal/peers/conditions"
)

const (
	library = "github.com/tidestaff/tidestaff"
	peers   = library + "/internal/peers"
)

// A set is the benchmarks of some packages, and how long and how often each is
// measured if the command is not told.
type set struct {
	packages  []string
	benchtime string
	count     int
}

var sets = map[string]set{
	"recorder": {[]string{peers}, "500ms", 5},
	// What is compared here is the least of many short looks: one of them finds a
	// quiet moment also on a machine that is never quiet for long.
	"sql": {[]string{peers + "/wrappers"}, "20ms", 30},
	// The package's own benchmarks are beside it: what the sampler reads, and how much
	// of that is the kernel's.
	"memory": {[]string{peers + "/memory", library + "/cgroup"}, "20ms", 30},
	"files":  {[]string{peers + "/files"}, "20ms", 30},
}

// flags are the command's.
type flags struct {
	of, out, set, bench, benchtime string
	count                          int
}

func main() {
	var f flags
	flag.StringVar(&f.of, "of", "", "print the ratios of this `file` and measure nothing")
	flag.StringVar(&f.out, "out", "", "write to this `file`; empty means bench/<date>-<set>.txt of the repository, - means nowhere")
	flag.StringVar(&f.set, "set", "recorder", "measure this `set`: recorder, sql, memory or files")
	flag.StringVar(&f.bench, "bench", ".", "run the benchmarks that match this `pattern`")
	flag.StringVar(&f.benchtime, "benchtime", "", "measure each for this `time`; empty means the set's own, 20ms to 500ms")
	flag.IntVar(&f.count, "count", 0, "measure each this many `times`; 0 means the set's own, 5 to 30")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	if f.of != "" {
		text, err := os.ReadFile(f.of)
		if err != nil {
			return err
		}
		return summarize(os.Stdout, text)
	}
	if err := f.complete(); err != nil {
		return err
	}
	text, err := measure(ctx, f)
	if err != nil {
		return err
	}
	if err := conditions.Save(ctx, f.out, f.set, text); err != nil {
		return err
	}
	return summarize(os.Stdout, text)
}

// complete takes from the set what was not said.
func (f *flags) complete() error {
	s, ok := sets[f.set]
	if !ok {
		return fmt.Errorf("-set %q: want one of %q", f.set, slices.Sorted(maps.Keys(sets)))
	}
	f.benchtime, f.count = cmp.Or(f.benchtime, s.benchtime), cmp.Or(f.count, s.count)
	return nil
}

// measure runs the benchmarks and puts the conditions before their output. goos,
// goarch and the CPU's model are in the benchmarks' own output.
func measure(ctx context.Context, f flags) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tidestaff-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var binaries []string
	for i, pkg := range sets[f.set].packages {
		binary := filepath.Join(dir, fmt.Sprintf("peers%d.test", i))
		if err := command(ctx, os.Stderr, "go", "test", "-c", "-o", binary, pkg); err != nil {
			return nil, err
		}
		binaries = append(binaries, binary)
	}
	before := conditions.Load()
	var output bytes.Buffer
	// Pass by pass, and not each benchmark count times in a row, so that a busy
	// half minute of the machine falls on all of them alike.
	for range f.count {
		for _, binary := range binaries {
			err := command(ctx, io.MultiWriter(&output, os.Stderr), binary,
				"-test.run", "^$", "-test.bench", f.bench, "-test.benchtime", f.benchtime)
			if err != nil {
				return nil, err
			}
		}
	}
	var text bytes.Buffer
	if err := conditions.Write(&text, "go run ./internal/peers/cmd/bench -set "+f.set, before); err != nil {
		return nil, err
	}
	text.Write(output.Bytes())
	return text.Bytes(), nil
}

func command(ctx context.Context, out io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}
