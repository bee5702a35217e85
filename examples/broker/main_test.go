package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/page/pagetest"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fsstattest"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe/report"
)

// smoke is the size of the tests' own files.
var smoke = profiles[0]

// TestMain makes the test binary be the command too: the tests start it as a
// user does, and the stage starts it as a server.
func TestMain(m *testing.M) {
	if stagetest.IsCommand() || stage.Role() != "" {
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
	_, whole := pagetest.Play(t, command(), "smoke")
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
}

// checkLoad wants all work done and nothing failed.
func checkLoad(t *testing.T, column *report.Report) {
	t.Helper()
	got, want := map[string]uint64{}, map[string]uint64{
		"load " + opSend:         runnerCount * uint64(smoke.load/smoke.scaled(sendEvery)),
		"load " + opPeers:        sessionCount * uint64(smoke.load/smoke.scaled(peersEvery)),
		"load " + opProgress:     managerCount * uint64(smoke.load/smoke.scaled(progressEvery)),
		"load " + opDashboard:    uint64(smoke.load / smoke.scaled(dashboardEvery)),
		"readers " + opDashboard: coldReads + warmReads,
	}
	for _, part := range []string{page.PartLoad, partReaders} {
		load := column.Part(part)
		for m := range load.Reading().Find(page.MetricResponse) {
			got[part+" "+m.Attr(page.AttrOperation)] += m.Dist.Count()
		}
		if n := page.Sum(load, page.MetricFailures); n != 0 {
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
	// A walk asks about its root and opens each folder. A send reads the jobs and
	// each archive; a save the jobs, and writes the lock and the new jobs.
	want := counts{(coldReads + warmReads) * (runFolders + runCount),
		sends*(1+1+archiveCount) + dashboards*(runFolders+runCount) + saves*3, sends + dashboards}
	if variant == after {
		// Each looks at its files instead, and a save at the jobs before and after it.
		want = counts{(coldReads+warmReads)*runFolders + coldReads*runCount,
			sends + 1 + archiveCount + dashboards*runFolders + saves*2,
			sends*(2+archiveCount) + dashboards*(1+runCount) + saves*2}
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

// TestInterrupt interrupts the command in the middle of its load: it still
// prints what it measured, and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	stagetest.Interrupt(t, "broker", []string{"-profile", "long", "-variant", "after"},
		[]string{"after (interrupted, ", "Loop lag", "On the dispatcher"})
}

// TestVariants wants a variant that there is not to be refused; what else a user
// gets wrong is package page's.
func TestVariants(t *testing.T) {
	c := stagetest.New(t, "-variant", "during")
	c.Start(t)
	c.Fails(t, "broker", "want before, after or both")
}
