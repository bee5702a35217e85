package budgets

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/probe/report"
)

// runsFolder is a folder with two files, and a probe that watches it.
func runsFolder(t *testing.T) (files *fsstat.Probe, jobs, log string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux does the kernel name who is opened")
	}
	dir := t.TempDir()
	jobs, log = filepath.Join(dir, "jobs.json"), filepath.Join(dir, "7.log")
	for _, path := range []string{jobs, log} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fsstat.New(fsstat.Options{WatchDirs: []string{dir}}), jobs, log
}

func read(t *testing.T, read func(string) ([]byte, error), path string) {
	t.Helper()
	if _, err := read(path); err != nil {
		t.Error(err)
	}
}

// TestReportNamesAround: a report says what went around the probe, in each of its
// forms, and after it was on disk; one of which nothing did says that too.
func TestReportNamesAround(t *testing.T) {
	files, jobs, log := runsFolder(t)
	run, err := report.Start(files, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read(t, files.ReadFile, jobs)
	read(t, os.ReadFile, jobs)
	read(t, os.ReadFile, jobs)
	read(t, os.ReadFile, log)
	rep := run.Close()
	path := filepath.Join(t.TempDir(), "report.json")
	if err := rep.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "3 opens went around the probe: " + jobs + " (2), " + log
	for name, r := range map[string]*report.Report{"fresh": rep, "read back": back} {
		var term, md bytes.Buffer
		if err := r.WriteTerminal(&term); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteMarkdown(&md); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"terminal": term.String(), "Markdown": strings.ReplaceAll(md.String(), "\\", "")} {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: want %q in\n%s", name, form, want, text)
			}
		}
		if s, ok := fsstat.StatsOf(r.Reading()); !ok || s.Around == nil || s.Around.String() != want {
			t.Errorf("%s: got %v, want %q", name, s.Around, want)
		}
	}

	run, err = report.Start(files, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read(t, files.ReadFile, jobs)
	var term bytes.Buffer
	if err := run.Close().WriteTerminal(&term); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(term.String(), "no open is known to have gone around the probe") {
		t.Errorf("of nothing: got\n%s", &term)
	}
}

// TestToldAround: without a log of the test's, what the probe itself was told of
// is judged.
func TestToldAround(t *testing.T) {
	files, jobs, _ := runsFolder(t)
	j := &judged{TB: t}
	probetest.Within(j, files, 2, func() { read(t, os.ReadFile, jobs) }, probetest.NoReadsAround(nil))
	j.want(t, "opened around the probe 2x: "+jobs+", want never")
}
