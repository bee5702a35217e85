package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fsstattest"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe/report"
)

// asCommand makes the test binary be the command: the tests start it as a user
// does, and the stage starts it as a server.
const asCommand = "TIDESTAFF_BROKER_TEST"

// smoke is the size of the tests' own files.
var smoke = profiles[0]

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" || stage.Role() != "" {
		profiles = append(profiles, profile{name: "long", steps: 1, lines: 4, speed: 20, load: time.Minute, cap: 2 * time.Minute}) // to be interrupted
		main()
		return
	}
	// Under -race a process sleeps for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(fsstattest.Run(m))
}

// The folders that a walk opens: that of all runs, one a manager and ten
// batches in each.
const runFolders = 1 + managerCount + 10*managerCount

// TestSmoke plays the small run and wants every count that does not depend on
// time to be exact, in both variants.
func TestSmoke(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "r.json")
	p := command()
	opt, err := p.Parse([]string{"-profile", "smoke", "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := p.Run(context.Background(), opt, &table, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	whole, err := report.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			column := whole.Part(variant)
			checkLoad(t, column)
			checkFiles(t, column, variant)
			loop, ok := lag.LoopStatsOf(column.Part(page.PartServer).Reading(), "")
			if !ok || loop.Total.Count == 0 || loop.BeatGap == 0 {
				t.Errorf("the loop's lag: got %+v, %v, want some", loop, ok)
			}
		})
	}
	stagetest.NothingLeft(t, tmp)
}

// checkLoad wants all work done and nothing failed.
func checkLoad(t *testing.T, column *report.Report) {
	t.Helper()
	got, want := map[string]uint64{}, map[string]uint64{
		opSend:      runnerCount * uint64(smoke.load/smoke.scaled(sendEvery)),
		opPeers:     sessionCount * uint64(smoke.load/smoke.scaled(peersEvery)),
		opProgress:  managerCount * uint64(smoke.load/smoke.scaled(progressEvery)),
		opDashboard: uint64(smoke.load / smoke.scaled(dashboardEvery)),
		opSummaries: coldReads + warmReads,
	}
	for _, part := range []string{page.PartLoad, partReaders} {
		load := column.Part(part)
		for m := range load.Reading().Find(page.MetricResponse) {
			got[m.Attr(page.AttrOperation)] += m.Dist.Count()
		}
		if n := page.Sum(load, "drive.failures"); n != 0 {
			t.Errorf("%s: got %v failures, want 0", part, n)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// checkFiles wants the files that were opened and asked about. Which logs a
// dashboard finds changed depends on when it looks: at most each append makes
// one be read.
func checkFiles(t *testing.T, column *report.Report, variant string) {
	t.Helper()
	sends := runnerCount * int64(smoke.load/smoke.scaled(sendEvery))
	dashboards := int64(smoke.load / smoke.scaled(dashboardEvery))
	saves := managerCount * int64(smoke.load/smoke.scaled(progressEvery))
	reads, server := filesOf(t, column.Part(partReads)), filesOf(t, column.Part(page.PartServer))
	type counts struct{ Cold, Opens, Stats int64 }
	got := counts{reads.Opens, server.Opens, server.Stats}
	// A send opens the archive's folder and each file; a save the lock, the jobs
	// and the new jobs.
	want := counts{(coldReads + warmReads) * (runFolders + runCount),
		sends*(2+archiveCount) + dashboards*(runFolders+runCount) + saves*3, 0}
	if variant == after {
		// A save asks about the jobs before and after it.
		want = counts{coldReads * (runFolders + runCount), 2 + archiveCount + saves*2,
			sends*(2+archiveCount) + dashboards*(runFolders+runCount) + saves*2}
		appends := saves * runnersEach
		if again := got.Opens - want.Opens; 0 <= again && again <= appends {
			got.Opens = want.Opens
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file operations (-want +got):\n%s", diff)
	}
	// Under load the archives after the first send, and most of the logs.
	least := (sends-1)*archiveCount + dashboards*(runCount-runnerCount)
	if n := server.Passes.Unchanged; variant == before && n < least || variant == after && n != 0 {
		t.Errorf("got %d files read again unchanged, want 0 after, %d or more before", n, least)
	}
	logs := map[string]int64{before: (coldReads + warmReads - 1) * runCount, after: (coldReads - 1) * runCount}[variant]
	if n := reads.Passes.Unchanged; n != logs {
		t.Errorf("got %d logs read again unchanged, want %d", n, logs)
	}
	checkCoverage(t, server, variant)
	if server.Writes != saves || reads.Writes != 0 {
		t.Errorf("got %d and %d writes, want %d and 0", server.Writes, reads.Writes, saves)
	}
	for role := range server.Roles {
		if role != roleDispatcher {
			t.Errorf("files were used in the role %q, want only %q", role, roleDispatcher)
		}
	}
}

// checkCoverage wants the probe to have seen what it counts of what the process
// read, which before is most: the rest are requests and the kernel's
// files.
func checkCoverage(t *testing.T, server fsstat.Stats, variant string) {
	t.Helper()
	c := server.Coverage
	if runtime.GOOS != "linux" {
		if c.Reason == "" {
			t.Error("the coverage is known, and should not be")
		}
		return
	}
	if c.Reason != "" || c.Seen != server.BytesRead || c.Process < c.Seen {
		t.Errorf("got %+v, want the %d bytes read of at least as many", c, server.BytesRead)
	}
	if variant == before && c.Share() < 0.5 {
		t.Errorf("got %v, want half or more", c)
	}
}

func filesOf(t *testing.T, r *report.Report) fsstat.Stats {
	t.Helper()
	s, ok := fsstat.StatsOf(r.Reading())
	if !ok {
		t.Fatal("the report has no file operations")
	}
	return s
}

// started is the command as a user starts it, in a temporary folder of its own.
func started(t *testing.T, tmp string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
	return cmd
}

// startLong starts the command on a run that lasts a minute and returns when
// something has been measured.
func startLong(t *testing.T, tmp string) (cmd *exec.Cmd, stdout, said *bytes.Buffer, stderr io.Reader) {
	t.Helper()
	cmd = started(t, tmp, "-profile", "long", "-variant", "after")
	stdout, said = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Not what follows the five reads at the beginning: those are 1 of 1.
	measured := regexp.MustCompile(` [1-9][0-9]* of [0-9]{2,} done`)
	for buf := make([]byte, 256); !measured.Match(said.Bytes()); {
		n, err := stderr.Read(buf)
		if said.Write(buf[:n]); err != nil {
			t.Fatalf("ended before its load: %s", said)
		}
	}
	return cmd, stdout, said, stderr
}

// TestInterrupt interrupts the command in the middle of its load: it still
// prints what it measured, and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from here on Windows")
	}
	tmp := t.TempDir()
	cmd, stdout, said, stderr := startLong(t, tmp)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	io.Copy(said, stderr)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want exit status 1\n%s", err, said)
	}
	if !strings.Contains(said.String(), "broker: interrupted") {
		t.Errorf("standard error does not say that it was interrupted:\n%s", said)
	}
	for _, want := range []string{"after (interrupted, ", "Loop lag", "On the dispatcher"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the table does not have %q:\n%s", want, stdout)
		}
	}
	stagetest.NothingLeft(t, tmp)
}

// TestOneLineErrors wants what goes wrong in the server's process to be said in
// one line; the flags are package page's.
func TestOneLineErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tmp := t.TempDir()
	nowhere := filepath.Join(tmp, "nowhere")
	for name, c := range map[string]struct {
		tmp  string
		args []string
		want string
	}{
		"flag":   {tmp, []string{"-frobnicate"}, "-frobnicate"},
		"port":   {tmp, []string{"-profile", "smoke", "-addr", taken.Addr().String()}, taken.Addr().String()},
		"folder": {nowhere, []string{"-profile", "smoke"}, nowhere},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := started(t, c.tmp, c.args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("got %v, want exit status 1", err)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, before) }) // progress
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "broker: ") || !strings.Contains(lines[0], c.want) {
				t.Errorf("got %q, want one line with %q", stderr.String(), c.want)
			}
		})
	}
	stagetest.NothingLeft(t, tmp)
}
