// Package conditions writes down where and when something was measured, for the
// files of bench/, whose numbers mean nothing without.
package conditions

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const library = "github.com/tidestaff/tidestaff"

// Load is the machine's load average of the last minute, five and fifteen
// minutes, or "" where there is none.
func Load() string {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	return strings.Join(fields[:min(len(fields), 3)], " ")
}

// Write writes one comment line for each condition. madeBy is the command line
// that measures again, before is the Load before it began. They are comments
// because as configuration lines they would make benchstat refuse to compare two
// files.
func Write(w io.Writer, madeBy, before string) error {
	for _, line := range [][2]string{
		{"made by", madeBy},
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"go", fmt.Sprintf("%s, GOMAXPROCS %d", runtime.Version(), runtime.GOMAXPROCS(0))},
		{"kernel", firstLine("/proc/sys/kernel/osrelease")},
		{"load average before", before},
		{"load average after", Load()},
	} {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

// File is the path of the file that holds today's measurements of what: it is
// <date>-<what>.txt in the folder bench of the repository.
func File(ctx context.Context, what string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", library).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", library, err)
	}
	name := time.Now().UTC().Format(time.DateOnly) + "-" + what + ".txt"
	return filepath.Join(strings.TrimSpace(string(root)), "bench", name), nil
}

// Save writes text to the file out, or to [File] if out is empty, or nowhere if
// it is "-", and says where on the standard error output.
func Save(ctx context.Context, out, what string, text []byte) error {
	if out == "-" {
		return nil
	}
	if out == "" {
		var err error
		if out, err = File(ctx, what); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "written to", out)
	return nil
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
