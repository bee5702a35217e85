package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/page/pagetest"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestMain makes the test binary be the command too: the tests start it as a
// user does, and the stage starts it as a server.
func TestMain(m *testing.M) {
	profiles = append(profiles, smallSoak)
	if stagetest.IsCommand() || stage.Role() != "" {
		profiles = append(profiles, profile{name: "long", sandboxes: 100, jobs: 30, tokens: userCount,
			sessions: 1, turns: 2, turn: turnLength, userJobs: 1, speed: 20, load: time.Minute, cap: 2 * time.Minute}) // to be interrupted
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSmoke plays the small run and wants every count that does not depend on
// time to be exact, in both variants.
func TestSmoke(t *testing.T) {
	_, whole := pagetest.Play(t, command(), "smoke")
	smoke := profiles[0]
	var times []float64
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			column := whole.Part(variant)
			checkLoad(t, column.Part(page.PartLoad), smoke)
			checkRows(t, column.Part(page.PartServer), smoke, variant)
			checkRoles(t, column.Part(page.PartServer))
			checkLogs(t, column.Part(page.PartServer), smoke)
			times = append(times, page.Sum(column.Part(page.PartServer), metricSQL, onRequest...))
		})
	}
	t.Logf("SQL time on request goroutines: %.3f s before, %.3f s after", times[0], times[1])
}

// checkLoad wants all work done, nothing failed, and each fixed count.
func checkLoad(t *testing.T, load *report.Report, p profile) {
	t.Helper()
	if done, planned := page.Sum(load, page.MetricDone), page.Sum(load, page.MetricPlanned); done != planned || planned == 0 {
		t.Errorf("work: got %v done, want %v", done, planned)
	}
	if n := page.Sum(load, page.MetricFailures); n != 0 {
		t.Errorf("failures: got %v, want 0", n)
	}
	periodic := func(every int) uint64 { return uint64(userCount * int(p.load.Seconds()*float64(p.speed)) / every) }
	sessions := uint64(userCount * p.sessions)
	got, want := map[string]uint64{}, map[string]uint64{
		opListSessions: periodic(10), opListBoxes: periodic(10), opExec: periodic(4),
		opRESTSessions: periodic(5), opRESTBoxes: periodic(5), opRESTJobs: periodic(5),
		opStartSession: sessions, opSend: uint64(p.turns) * sessions, opSubmitJob: uint64(userCount * p.userJobs),
	}
	counts := countsOf(load, page.MetricResponse, page.AttrOperation)
	for name := range want {
		got[name] = counts[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if counts[opCreate] == 0 || counts[opCreate] != counts[opDestroy] {
		t.Errorf("sandboxes: got %d created and %d destroyed, want as many, and some", counts[opCreate], counts[opDestroy])
	}
}

// checkRows wants the rows that the store's methods stepped: what tells the
// variants apart, whatever the machine is busy with.
func checkRows(t *testing.T, server *report.Report, p profile, variant string) {
	t.Helper()
	counts, got := countsOf(server, page.MetricOperation, page.AttrOperation), map[string]float64{}
	for m := range server.Reading().Find(metricRows) {
		got[m.Attr(probe.AttrMethod)] += m.Value
	}
	listings := float64(counts[opListBoxes] + counts[opRESTBoxes])
	named := float64(counts[opExec] + counts[opDestroy])
	created := float64(counts[opCreate] + counts[opStartSession])
	want := map[string]float64{
		"(*Store).ListSandboxes": listings * pageSize, "(*Store).SandboxByName": named, "(*Store).CreateSandbox": 2 * created,
	}
	if variant == before {
		n := float64(p.sandboxes)
		want = map[string]float64{
			"(*Store).ListSandboxes": listings * n, "(*Store).SandboxByName": named * n, "(*Store).CreateSandbox": 2 * created * n,
		}
	}
	maps.DeleteFunc(got, func(method string, _ float64) bool { _, asked := want[method]; return !asked })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows stepped (-want +got):\n%s", diff)
	}
}

// checkRoles wants each method's SQL on the goroutines that it belongs to.
func checkRoles(t *testing.T, server *report.Report) {
	t.Helper()
	want := map[string][]string{
		"(*Store).Tokens":        {"request"},
		"(*Store).ListSandboxes": {"request"},
		"(*Store).SandboxByName": {"request"},
		"(*Store).CreateSandbox": {"request"},
		"(*Store).Sandbox":       {"request"},
		"(*Store).SettleSandbox": {"request"},
		"(*Store).CreateSession": {"request"},
		"(*Store).Session":       {"request"},
		"(*Store).ListSessions":  {"request"},
		"(*Store).PutSession":    {"background:turns", "request"},
		"(*Store).CreateJob":     {"request"},
		"(*Store).PutJob":        {"background:jobs"},
		"(*Store).ListJobs":      {"request"},
		"(*Store).ArchiveJobs":   {"background:retention"},
		"(*Store).CountStates":   {"background:gauges"},
	}
	got := map[string][]string{}
	for m := range server.Reading().Find(metricSQL) {
		if method, role := m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole); m.Dist.Count() > 0 && !slices.Contains(got[method], role) {
			got[method] = append(got[method], role)
			slices.Sort(got[method])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles by method (-want +got):\n%s", diff)
	}
}

// checkLogs wants an event of every turn in the event logs, written by the
// loop that tails the agents.
func checkLogs(t *testing.T, server *report.Report, p profile) {
	t.Helper()
	turns := userCount * p.sessions * p.turns
	got, want := map[string]float64{}, map[string]float64{
		"open": float64(turns), "write": float64(turns * int(p.turn/eventEvery)),
	}
	for m := range server.Reading().Find("tidestaff.file.operations", probe.Attr{Key: probe.AttrRole, Value: "background:turns"}) {
		if m.Value > 0 {
			got[m.Attr("tidestaff.file.operation")] += m.Value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file operations (-want +got):\n%s", diff)
	}
}

// countsOf counts a distribution's values by an attribute.
func countsOf(r *report.Report, metric, attr string) map[string]uint64 {
	counts := map[string]uint64{}
	for m := range r.Reading().Find(metric) {
		counts[m.Attr(attr)] += m.Dist.Count()
	}
	return counts
}

// TestRowsStepped counts the rows of single calls: what a listing, a look-up
// by name and a creation step, without any load.
func TestRowsStepped(t *testing.T) {
	const n = 100
	for variant, want := range map[string][3]float64{before: {n, n, 2 * n}, after: {pageSize, 1, 2}} {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := Seed(path, 1, profile{sandboxes: n, jobs: 5}); err != nil {
			t.Fatal(err)
		}
		p := sqlitetrace.New(sqlitetrace.Options{})
		s, err := OpenStore(watched(p), path, variant == before)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		ctx := context.Background()
		var got [3]float64
		for i, call := range []func() error{
			func() error { _, err := s.ListSandboxes(ctx, 0); return err },
			func() error { _, err := s.SandboxByName(ctx, deskOf(0)); return err },
			func() error { return s.CreateSandbox(ctx, &Sandbox{Name: "new", Owner: userName(0)}) },
		} {
			w, err := p.Watch()
			if err != nil {
				t.Fatal(err)
			}
			if err := call(); err != nil {
				t.Fatal(err)
			}
			got[i] = page.Sum(report.Of(w.Close()), metricRows)
		}
		if got != want {
			t.Errorf("%s: a listing, a look-up and a creation stepped %v rows, want %v", variant, got, want)
		}
	}
}

// TestInterrupt interrupts the command in the middle of its load: it still
// prints what it measured, and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	stagetest.Interrupt(t, "team", []string{"-profile", "long", "-variant", "after"},
		[]string{"after (interrupted, ", "get_session (MCP)", "(*Store).Tokens"})
}

// TestKilled kills the command, which then can do nothing: the server notices
// that its pipe has closed, removes its database and ends.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells whether a process has gone that is nobody's child")
	}
	stagetest.Kill(t, []string{"-profile", "long", "-variant", "after"}, 2*time.Minute)
}

// TestVariants wants each profile to have servers of its own; what else a user
// gets wrong is package page's.
func TestVariants(t *testing.T) {
	for profile, want := range map[string]string{"smoke": "want before, after or both", "soak": "want 500-rows, 100-rows or both"} {
		c := stagetest.New(t, "-profile", profile, "-variant", "during")
		c.Start(t)
		c.Fails(t, "team", want)
	}
}
