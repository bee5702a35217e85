package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
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

	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// asCommand makes the test binary be the command: the tests start it as a user
// does, and the stage starts it as a server.
const asCommand = "TIDESTAFF_TEAM_TEST"

func TestMain(m *testing.M) {
	profiles = append(profiles, smallSoak)
	if os.Getenv(asCommand) != "" || stage.Role() != "" {
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
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "r.json")
	opt, err := parseOptions([]string{"-profile", "smoke", "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := run(context.Background(), opt, &table, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	whole, err := report.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for _, variant := range []string{before, after} {
		t.Run(variant, func(t *testing.T) {
			column := whole.Part(variant)
			checkLoad(t, column.Part(partLoad), opt.profile)
			checkRows(t, column.Part(partServer), opt.profile, variant)
			checkRoles(t, column.Part(partServer))
			checkLogs(t, column.Part(partServer), opt.profile)
			times = append(times, sum(column.Part(partServer), metricSQL, onRequest))
		})
	}
	t.Logf("SQL time on request goroutines: %.3f s before, %.3f s after", times[0], times[1])
	stagetest.NothingLeft(t, tmp)
}

// checkLoad wants all work done, nothing failed, and each fixed count.
func checkLoad(t *testing.T, load *report.Report, p profile) {
	t.Helper()
	if done, planned := sum(load, metricDone, nil), sum(load, metricPlanned, nil); done != planned || planned == 0 {
		t.Errorf("work: got %v done, want %v", done, planned)
	}
	if n := sum(load, metricFailures, nil); n != 0 {
		t.Errorf("failures: got %v, want 0", n)
	}
	periodic := func(every int) uint64 { return uint64(userCount * int(p.load.Seconds()*float64(p.speed)) / every) }
	sessions := uint64(userCount * p.sessions)
	got, want := map[string]uint64{}, map[string]uint64{
		opListSessions: periodic(10), opListBoxes: periodic(10), opExec: periodic(4),
		opRESTSessions: periodic(5), opRESTBoxes: periodic(5), opRESTJobs: periodic(5),
		opStartSession: sessions, opSend: uint64(p.turns) * sessions, opSubmitJob: uint64(userCount * p.userJobs),
	}
	counts := countsOf(load, metricResponse, attrOperation)
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
	counts, got := countsOf(server, metricOperation, attrOperation), map[string]float64{}
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
			got[i] = sum(report.Of(w.Close()), metricRows, nil)
		}
		if got != want {
			t.Errorf("%s: a listing, a look-up and a creation stepped %v rows, want %v", variant, got, want)
		}
	}
}

// command is the command as a user starts it, in a temporary folder of its own.
func command(t *testing.T, tmp string, args ...string) *exec.Cmd {
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
	cmd = command(t, tmp, "-profile", "long", "-variant", "after")
	stdout, said = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	measured := regexp.MustCompile(` [1-9][0-9]* of [0-9]+ done`)
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
	if !strings.Contains(said.String(), "team: interrupted") {
		t.Errorf("standard error does not say that it was interrupted:\n%s", said)
	}
	for _, want := range []string{"after (interrupted, ", "get_session (MCP)", "(*Store).Tokens"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the table does not have %q:\n%s", want, stdout)
		}
	}
	stagetest.NothingLeft(t, tmp)
}

// TestKilled kills the command, which then can do nothing: the server notices
// that its pipe has closed, removes its database and ends.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells whether a process has gone that is nobody's child")
	}
	tmp := t.TempDir()
	cmd, _, _, _ := startLong(t, tmp)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says that it was killed
	deadline := time.Now().Add(2 * time.Minute)
	for len(stagetest.ProcessesIn(t, tmp)) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond) // nothing tells of it
	}
	if pids := stagetest.ProcessesIn(t, tmp); len(pids) > 0 {
		t.Errorf("left behind: processes %v", pids)
	}
	if files, err := filepath.Glob(filepath.Join(tmp, "*", "*")); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v, want no file", files, err)
	}
}

// TestClosedPipe runs the command into a pipe that nobody reads.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	tmp := t.TempDir()
	cmd := command(t, tmp, "-profile", "smoke", "-variant", "after")
	cmd.Stdout = w
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want exit status 1", err)
	}
	stagetest.NothingLeft(t, tmp)
}

// TestOneLineErrors wants what a user gets wrong to be said in one line.
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
		"flag":     {tmp, []string{"-frobnicate"}, "-frobnicate"},
		"profile":  {tmp, []string{"-profile", "huge"}, `-profile "huge": want smoke, quick, full or soak`},
		"variant":  {tmp, []string{"-variant", "during"}, `-variant "during": want before, after or both`},
		"argument": {tmp, []string{"fast"}, `unexpected argument "fast"`},
		"address":  {tmp, []string{"-addr", "192.0.2.1:80"}, "not a loopback address"},
		"port":     {tmp, []string{"-profile", "smoke", "-addr", taken.Addr().String()}, taken.Addr().String()},
		"out":      {tmp, []string{"-out", filepath.Join(nowhere, "r.json")}, nowhere},
		"folder":   {nowhere, []string{"-profile", "smoke"}, nowhere},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, c.tmp, c.args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("got %v, want exit status 1", err)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, before) }) // progress
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "team: ") || !strings.Contains(lines[0], c.want) {
				t.Errorf("got %q, want one line with %q", stderr.String(), c.want)
			}
		})
	}
	stagetest.NothingLeft(t, tmp)
}
