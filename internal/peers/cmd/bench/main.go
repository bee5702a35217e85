// Command bench runs the benchmarks of internal/peers, writes their output with
// the conditions under which it was made to bench/<date>-recorder.txt, in the
// benchmark format that benchstat reads, and prints the ratios of the medians,
// which is what the documentation may quote:
//
//	go run ./internal/peers/cmd/bench
//	go run ./internal/peers/cmd/bench -of bench/2026-11-30-recorder.txt
//
// The second form measures nothing and prints the ratios of a file.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	library = "github.com/tidestaff/tidestaff"
	peers   = library + "/internal/peers"
)

// flags are the command's.
type flags struct {
	of, out, bench, benchtime string
	count                     int
}

func main() {
	var f flags
	flag.StringVar(&f.of, "of", "", "print the ratios of this `file` and measure nothing")
	flag.StringVar(&f.out, "out", "", "write to this `file`; empty means bench/<date>-recorder.txt of the repository, - means nowhere")
	flag.StringVar(&f.bench, "bench", ".", "run the benchmarks that match this `pattern`")
	flag.StringVar(&f.benchtime, "benchtime", "500ms", "measure each for this `time`")
	flag.IntVar(&f.count, "count", 5, "measure each this many times")
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
	out := f.out
	if out == "" {
		root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", library).Output()
		if err != nil {
			return fmt.Errorf("go list -m %s: %w", library, err)
		}
		out = filepath.Join(strings.TrimSpace(string(root)), "bench", time.Now().UTC().Format(time.DateOnly)+"-recorder.txt")
	}
	text, err := measure(ctx, f)
	if err != nil {
		return err
	}
	if out != "-" {
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(out, text, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "written to", out)
	}
	return summarize(os.Stdout, text)
}

// measure runs the benchmarks and puts the conditions before their output. The
// conditions are comments: as configuration lines they would make benchstat
// refuse to compare two files. goos, goarch and the CPU's model are in the
// benchmarks' own output.
func measure(ctx context.Context, f flags) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tidestaff-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "peers.test")
	if err := command(ctx, os.Stderr, "go", "test", "-c", "-o", binary, peers); err != nil {
		return nil, err
	}
	before := loadAverage()
	var output bytes.Buffer
	// Pass by pass, and not each benchmark count times in a row, so that a busy
	// half minute of the machine falls on all of them alike.
	for range f.count {
		err := command(ctx, io.MultiWriter(&output, os.Stderr), binary,
			"-test.run", "^$", "-test.bench", f.bench, "-test.benchtime", f.benchtime)
		if err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	for _, line := range [][2]string{
		{"made by", "go run ./internal/peers/cmd/bench"},
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"go", fmt.Sprintf("%s, GOMAXPROCS %d", runtime.Version(), runtime.GOMAXPROCS(0))},
		{"kernel", firstLine("/proc/sys/kernel/osrelease")},
		{"load average before", before},
		{"load average after", loadAverage()},
	} {
		fmt.Fprintf(&text, "# %s: %s\n", line[0], line[1])
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

// loadAverage is that of the last minute, five and fifteen minutes.
func loadAverage() string {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	return strings.Join(fields[:min(len(fields), 3)], " ")
}

// firstLine of a kernel's file, or "unknown" where there is none.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
