package page

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/probe/report"
)

// TestRuns wants the runs in an order in which what drifts is in all columns
// alike, repeats as one column, and one more for the last variant on a busy host.
func TestRuns(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var order []string
	p := example(func(_ context.Context, r *Run) ([]*report.Report, error) {
		order = append(order, filepath.Base(r.Dir)+strings.Repeat(" busy", busy(t, tmp, len(order) == 2 || len(order) == 3)))
		return parts(), nil
	})
	out := filepath.Join(t.TempDir(), "r.json")
	opt, err := p.Parse([]string{"-runs", "2", "-hogs", "1", "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	if err := p.Run(t.Context(), opt, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	want := []string{"slow", "fast", "fast busy", "fast busy", "fast", "slow"}
	if runtime.GOOS != "linux" {
		want = []string{"slow", "fast", "fast", "fast", "fast", "slow"}
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if want := "slow fast fast, busy host "; stdout.String() != want {
		t.Errorf("printed %q, want %q", stdout.String(), want)
	}
	whole, err := report.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, hogs := range map[string]bool{"slow": false, "fast": false, "fast, busy host": true} {
		column := whole.Part(name)
		if column == nil || len(column.Runs) != 2 {
			t.Fatalf("%s: got %+v, want two runs", name, column)
		}
		for _, run := range column.Runs {
			said := slices.ContainsFunc(run.Conditions, func(c report.Condition) bool { return c.Name == "-hogs" })
			if said != hogs || run.Part(PartServer) == nil {
				t.Errorf("%s: got conditions %v and %v, want the server, and hogs %v", name, run.Conditions, run.Part(PartServer), hogs)
			}
		}
	}
	stagetest.NothingLeft(t, tmp)
}

// busy counts the processes beside the server that compute, and waits for one
// if it is to come; none where the system does not tell of processes.
func busy(t *testing.T, tmp string, wait bool) (n int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		for _, pid := range stagetest.ProcessesIn(t, tmp) {
			env, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
			stat, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
			_, rest, _ := strings.Cut(string(stat), ") ")
			fields := strings.Fields(rest) // from the third on; the 14th is the time in user mode
			if !bytes.Contains(env, []byte(hogsVar+"=1\x00")) || len(fields) < 12 {
				continue
			}
			if ticks, _ := strconv.Atoi(fields[11]); ticks >= 5 { // of 10 ms
				n++
			}
		}
		if n > 0 || !wait || time.Now().After(deadline) { // nothing tells of it
			return n
		}
	}
}

// TestCPUProfile wants the server's functions in the report of each phase.
func TestCPUProfile(t *testing.T) {
	s := &Server{dir: t.TempDir(), profile: true}
	s.Begin = begin
	if _, err := s.start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	if err := s.open(PartServer); err != nil {
		t.Fatal(err)
	}
	n := uint64(1)
	for range 500_000_000 { // many ticks of the profiler's clock, whatever else the machine does
		n = n*6364136223846793005 + 1442695040888963407
	}
	t.Log(n)
	data, err := s.close()
	if err != nil {
		t.Fatal(err)
	}
	rep, err := report.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	columns := []report.Column{{Title: "x", Report: report.Join("x", rep)}}
	if err := Write(&table, Options{CPUProfile: true}, &report.Table{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Functions, x", "page.TestCPUProfile", "CPU time by method and role, x", "(unlabelled)"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in:\n%s", want, table.String())
		}
	}
}
