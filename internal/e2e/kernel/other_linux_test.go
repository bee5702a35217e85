package kernel

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// otherChecks: another process, seen from this one.
var otherChecks = []check{
	{name: "another process", leaf: "leaf", run: checkAnother,
		files: map[string]string{"memory.max": "200M"}},
}

// A resident is a hog that stays, in a group of its own beside the check's.
type resident struct {
	dir   string // of its group
	pid   int
	leave func() // ends it and waits
}

func startResident(t *testing.T, n int) resident {
	t.Helper()
	r := resident{dir: filepath.Join(filepath.Dir(ownDir(t)), "resident")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	fd, err := os.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	cmd := newHog(t, n)
	cmd.Env = append(cmd.Env, envStay+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(fd.Fd())}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("full"))); err != nil {
		t.Fatal(err)
	}
	r.pid = cmd.Process.Pid
	r.leave = func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	return r
}

// checkAnother: by its number and by its group's path, a process that was found
// has its own numbers and not ours. When it has ended it has none, and its group
// has what is left in it.
func checkAnother(t *testing.T) {
	defer hold(t, fat)()
	other := startResident(t, 24*mib)
	byNumber := watch(t, cgroup.Options{PID: other.pid})
	byPath := watch(t, cgroup.Options{Path: "/another process/resident"})
	var r, p probe.Reading
	byNumber.Read(&r)
	byPath.Read(&p)
	usage := number(t, other.dir+"/memory.current")
	near(t, "usage by number", one(t, &r, groupUsage).Value, usage, mib)
	near(t, "usage by path", one(t, &p, groupUsage).Value, usage, mib)
	if rss := one(t, &r, processRSS).Value; !(rss >= 24*mib && rss < fat) {
		t.Errorf("got a resident set of %.1f MiB, want at least 24 and not ours", rss/mib)
	}
	if got, want := one(t, &r, processPeak).Prov, (probe.Provenance{Method: markReset}); got != want {
		t.Errorf("got a process's peak by %+v, want it by %+v", got, want)
	}
	if got, want := one(t, &p, groupPeak).Prov, one(t, &r, groupPeak).Prov; got.Method != want.Method || got.How != want.How {
		t.Errorf("got the group's peak by %+v by its path, and by %+v by the process's number", got, want)
	}
	if got := one(t, &r, groupLimit).Value; got != 200*mib {
		t.Errorf("got a limit of %v, want that of the group above, %v", got, 200*mib)
	}
	other.leave()
	byNumber.Read(&r)
	wantAbsent(t, &r, "has ended", processRSS, processPeak)
	byPath.Read(&p)
	for what, reading := range map[string]*probe.Reading{"number": &r, "path": &p} {
		if got := one(t, reading, groupUsage).Value; !(got < mib) {
			t.Errorf("by %s: got a usage of %v of an empty group", what, got)
		}
	}
}
