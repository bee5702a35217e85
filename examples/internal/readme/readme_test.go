package readme

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// TestCode: every line of Go in README.md stands in readme.go, in order.
func TestCode(t *testing.T) {
	source := lines(t, "readme.go")
	blocks := blocks(t, "```go")
	if len(blocks) < 2 {
		t.Errorf("README.md has %d blocks of Go, want a service and a benchmark", len(blocks))
	}
	for _, b := range blocks {
		if line := missing(b, source); line != "" {
			t.Errorf("README.md shows %q, which is not in readme.go at that place", line)
		}
	}
}

// TestSample: the output that README.md shows is in a file under bench/ that
// the command it names has made.
func TestSample(t *testing.T) {
	files, err := filepath.Glob(root + "/bench/*-team.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bench/*-team.txt: %v", err)
	}
	output := lines(t, files[len(files)-1]) // the newest: the names begin with the date
	blocks := blocks(t, "```text")
	if len(blocks) == 0 {
		t.Error("README.md has no block of output")
	}
	for _, b := range blocks {
		if line := missing(b, output); line != "" {
			t.Errorf("README.md shows %q, which is not in %s at that place", line, files[len(files)-1])
		}
	}
}

// blocks are README.md's fenced blocks that open with a line.
func blocks(t *testing.T, opening string) (all [][]string) {
	t.Helper()
	var block []string
	inside := false
	for _, line := range lines(t, root+"/README.md") {
		switch {
		case line == opening:
			inside, block = true, nil
		case inside && line == "```":
			inside = false
			all = append(all, block)
		case inside:
			block = append(block, line)
		}
	}
	return all
}

// lines are a file's lines without the space around them.
func lines(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// missing is the first line of block that is not in text after the one before
// it, or "". Empty lines and lines of dots stand for what is left out.
func missing(block, text []string) string {
	at := 0
	for _, line := range block {
		if line == "" || line == "…" {
			continue
		}
		for at < len(text) && text[at] != line {
			at++
		}
		if at == len(text) {
			return line
		}
	}
	return ""
}

func TestService(t *testing.T) {
	if err := service(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// query is the one of an operation.
func query(ctx context.Context) error {
	db, err := sqlp.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "SELECT 1")
	return err
}

func TestBenchmark(t *testing.T) {
	list = query
	if got := testing.Benchmark(BenchmarkList).Extra["queries/op"]; got != 1 {
		t.Errorf("queries/op = %v, want 1", got)
	}
}

func TestBudget(t *testing.T) {
	load = func(ctx context.Context) {
		if err := query(ctx); err != nil {
			t.Error(err)
		}
	}
	budget(t)
}
