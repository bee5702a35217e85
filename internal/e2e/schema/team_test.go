package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// TestMainJob runs the command that the README begins with, whole, and judges
// its report: that it is valid, and what it counted. The times in it are
// logged and not judged. A host that is so busy that no listing and no look-up
// comes to its end in the command's time has some tries.
func TestMainJob(t *testing.T) {
	dir := t.TempDir()
	team := filepath.Join(dir, "team.exe")
	if out, err := exec.Command("go", "-C", "../../../examples", "build", "-o", team, "./team").CombinedOutput(); err != nil {
		t.Fatalf("build examples/team: %v\n%s", err, out)
	}
	const listings, byName, rows = "(*Store).ListSandboxes", "(*Store).SandboxByName", 20_000
	var before, after *report.Report
	var n, stepped, found, scanned int64
	for tries := 0; tries < 3 && n+found == 0; tries++ {
		whole := play(t, team, filepath.Join(dir, "r.json"))
		before, after = whole.Part("before").Part("server"), whole.Part("after").Part("server")
		n, stepped = executed(before, listings)
		found, scanned = executed(before, byName)
	}
	if stepped != rows*n {
		t.Errorf("before: %d listings stepped %d rows, want %d each", n, stepped, rows)
	}
	if scanned != rows*found || n+found == 0 { // a busy host may not get to one of the two
		t.Errorf("before: %d look-ups by name stepped %d rows, want %d each; %d listings", found, scanned, rows, n)
	}
	if n, stepped := executed(after, listings); n == 0 || stepped > 50*n {
		t.Errorf("after: %d listings stepped %d rows, want at most a page of 50 each", n, stepped)
	}
	was, is := requestSeconds(before), requestSeconds(after)
	t.Logf("SQL time on request goroutines: before %.2f s, after %.2f s, ratio %.1f", was, is, was/is)
}

// play runs the command and returns its report, which must be valid.
func play(t *testing.T, team, path string) *report.Report {
	t.Helper()
	out, err := exec.Command(team, "-out", path).CombinedOutput()
	t.Logf("\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t).Validate(any(decode(t, raw))); err != nil {
		t.Error(err)
	}
	whole, err := report.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// executed counts a method's queries and the rows that they stepped.
func executed(r *report.Report, method string) (queries, rows int64) {
	for m := range r.Reading().Find("db.client.response.returned_rows", probe.Attr{Key: probe.AttrMethod, Value: method}) {
		queries += int64(m.Dist.Count())
		rows += m.Dist.Sum()
	}
	return queries, rows
}

// requestSeconds is the time in the driver on goroutines that answer requests.
func requestSeconds(r *report.Report) (s float64) {
	for m := range r.Reading().Find("db.client.operation.duration", probe.Attr{Key: probe.AttrRole, Value: "request"}) {
		s += m.Value
	}
	return s
}
