package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

// TestLookup runs every fixture of testdata/detect. Its "want" file has one
// line per controller: the place, or the kind of refusal.
func TestLookup(t *testing.T) {
	names, err := filepath.Glob("testdata/detect/*.txtar")
	if err != nil || len(names) < 15 {
		t.Fatalf("got %d fixtures and error %v, want all of them", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			if err := proctest.Write(root, string(archive)); err != nil {
				t.Fatal(err)
			}
			c, err := Detect(root)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(root, "want"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for line := range strings.Lines(string(want)) {
				got.WriteString(describe(c, root, strings.Fields(line)[0]) + "\n")
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReports: programs that looked for their cgroup have been wrong in public, and
// each way in which they were has a fixture that names the reports. The cause of
// golang/go#76810 has not been found; it stands beside the one that it resembles.
// That a limit may be an ancestor's (golang/go#81180, KimMachineGun/automemlimit#31)
// is TestLimit's, and how numbers are written (komuw/ong#148,
// containerd/containerd#12503) is that of TestParseUint and TestParseCPUMax.
func TestReports(t *testing.T) {
	want := map[string]string{
		// The root of a mount is not "/".
		"v1_container": "golang/go#76390 golang/go#76810",
		// Version 2 is there, and memory is not.
		"hybrid": "cockroachdb/cockroach#59236 cockroachdb/cockroach#92032 GuillaumeGomez/sysinfo#1669 GuillaumeGomez/sysinfo#1723",
		"colons": "open-telemetry/opentelemetry-collector#6389 coder/clistat#34 coder/coder#22087 spiffe/spire#1580",
		// The process is not in what is mounted.
		"outside_mount":  "uber-go/automaxprocs#85",
		"several_mounts": "uber-go/automaxprocs#49",
		// The host's path appended to a mount of the group itself.
		"kubelet": "envoyproxy/envoy#47321 moby/moby#34584",
		// Limits above a namespace's root.
		"v2_container": "hashicorp/nomad-driver-exec2#82",
		// The other version's files.
		"v2_service": "coder/clistat#16 coder/coder#15779 coder/coder#17945 containerd/cgroups#299",
		// An empty last line.
		"escapes": "containers/podman#14146",
		// The machine's numbers for the group's.
		"v2_host_root": "crate/crate#11197 shirou/gopsutil#1416 shirou/gopsutil#1758",
	}
	names, err := filepath.Glob("testdata/detect/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range names {
		archive, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(string(archive), "\n-- ")
		var reports []string
		for line := range strings.Lines(comment) {
			if list, ok := strings.CutPrefix(line, "Reports: "); ok {
				reports = append(reports, strings.Fields(list)...)
			}
		}
		if len(reports) > 0 {
			got[strings.TrimSuffix(filepath.Base(name), ".txtar")] = strings.Join(reports, " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// describe is a line of a fixture's "want" file.
func describe(c *Cgroups, root, controller string) string {
	name := controller
	if name == "unified" {
		name = ""
	}
	g, err := c.Lookup(name)
	for text, kind := range map[string]error{
		"no cgroup": ErrNoCgroup, "no controller": ErrNoController, "hidden": ErrHidden,
		"foreign": ErrForeignNamespace, "detached": ErrDetached,
	} {
		if errors.Is(err, kind) {
			return controller + " " + text
		}
	}
	if err != nil {
		return controller + " " + err.Error()
	}
	dir, _ := filepath.Rel(root, g.Dir)
	return controller + " v" + string(rune('0'+g.Version)) + " " + g.Scope.String() + " " + dir
}

func TestDetectErrors(t *testing.T) {
	mountinfo := "-- proc/self/mountinfo --\n28 24 0:25 / /c rw - cgroup2 cgroup2 rw\n"
	for _, tt := range []struct {
		name, archive string
		kind          error
		text          string
	}{
		{"no proc", "", ErrNoCgroup, "proc/self/cgroup"},
		{"no mountinfo", "-- proc/self/cgroup --\n0::/\n", fs.ErrNotExist, "mountinfo"},
		{"no path", mountinfo + "-- proc/self/cgroup --\n0:memory\n", nil, `"0:memory"`},
		{"relative", mountinfo + "-- proc/self/cgroup --\n0::a\n", nil, `"0::a"`},
		{"no number", mountinfo + "-- proc/self/cgroup --\nx:memory:/a\n", nil, `"x:memory:/a"`},
		{"no dash", "-- proc/self/cgroup --\n0::/\n-- proc/self/mountinfo --\n1 2 0:1 / /c rw cgroup2\n", nil, `"1 2 0:1`},
		{"cut", "-- proc/self/cgroup --\n0::/\n-- proc/self/mountinfo --\n1 2 0:1 / /c rw -\n", nil, "not a mount"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			if err := proctest.Write(root, tt.archive); err != nil {
				t.Fatal(err)
			}
			_, err := Detect(root)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got error %v, want one with %s", err, tt.text)
			}
			if tt.kind != nil && !errors.Is(err, tt.kind) {
				t.Errorf("got error %v, want %v", err, tt.kind)
			}
		})
	}
}

// TestMountinfoLongLine: an overlay with many layers makes a line longer than
// bufio.Scanner's limit, before the line that matters.
func TestMountinfoLongLine(t *testing.T) {
	long := "500 400 0:50 / / rw - overlay overlay rw,lowerdir=" + strings.Repeat("/layer:", 20_000) + "\n"
	mounts, err := parseMountinfo([]byte(long + "510 500 0:25 / /c rw - cgroup2 cgroup rw\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := visible(mounts)
	if len(got) != 1 || got[0].point != "/c" {
		t.Errorf("got %v, want the mount at /c", got)
	}
}

func TestGroupDirs(t *testing.T) {
	for _, tt := range []struct {
		dir, mount string
		want       []string
	}{
		{"/c", "/c", []string{"/c"}},
		{"/c/a/b", "/c", []string{"/c/a/b", "/c/a", "/c"}},
	} {
		got := Group{Dir: tt.dir, Mount: tt.mount}.Dirs()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Dirs of %s in %s (-want +got):\n%s", tt.dir, tt.mount, diff)
		}
	}
}

func TestUnescape(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`/plain`, "/plain"},
		{`/a\040b`, "/a b"},
		{`\011\012\134`, "\t\n\\"},
		{`/cut\04`, `/cut\04`},
		{`/no\999`, `/no\999`},
		{`/big\777`, `/big\777`},
		{`\`, `\`},
	} {
		if got := unescape([]byte(tt.in)); got != tt.want {
			t.Errorf("unescape(%q): got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestScopeString(t *testing.T) {
	if got, want := Scope(0).String(), "Scope(0)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzDetect feeds both lists at once: whatever they say, the answer is a
// folder under the root or an error.
func FuzzDetect(f *testing.F) {
	names, _ := filepath.Glob("testdata/detect/*.txtar")
	for _, name := range names {
		archive, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var cgroup, mountinfo string
		for _, file := range proctest.Parse(string(archive)) {
			switch file.Name {
			case "proc/self/cgroup":
				cgroup = file.Data
			case "proc/self/mountinfo":
				mountinfo = file.Data
			}
		}
		f.Add(cgroup, mountinfo)
	}
	f.Fuzz(func(t *testing.T, cgroup, mountinfo string) {
		members, err := parseMembership([]byte(cgroup))
		if err != nil {
			return
		}
		mounts, err := parseMountinfo([]byte(mountinfo))
		if err != nil {
			return
		}
		c := &Cgroups{root: "/nonexistent", members: members, mounts: visible(mounts)}
		for _, name := range []string{"memory", "cpuacct", ""} {
			if g, err := c.Lookup(name); err == nil {
				t.Errorf("%s: got %+v from a root that does not exist", name, g)
			}
		}
	})
}

// TestAt: another group in place of the process's, in each hierarchy.
func TestAt(t *testing.T) {
	archive, err := os.ReadFile("testdata/detect/v2_service.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := proctest.Write(root, string(archive)+"-- sys/fs/cgroup/db/cgroup.procs --\n-- sys/fs/cgroup/db/cgroup.controllers --\nmemory\n"+
		"-- proc/42/cgroup --\n0::/db\n"); err != nil {
		t.Fatal(err)
	}
	self, err := Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	at, err := self.At("/db")
	if err != nil {
		t.Fatal(err)
	}
	of, err := DetectOf(root, 42)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]*Cgroups{"path": at, "process": of} {
		if g, err := c.LookupOwn("memory"); err != nil || g.Dir != filepath.Join(root, "sys/fs/cgroup/db") || g.Path != "/db" {
			t.Errorf("%s: got %+v, %v", what, g, err)
		}
	}
	if g, err := self.LookupOwn("memory"); err != nil || g.Path != "/system.slice/app.service" {
		t.Errorf("got %+v, %v of the process itself", g, err)
	}
	for _, path := range []string{"", "db", "/db/", "/a/../db", "/../x"} {
		if _, err := self.At(path); err == nil {
			t.Errorf("%q: got no error", path)
		}
	}
	if _, err := DetectOf(root, 43); !errors.Is(err, ErrNoCgroup) {
		t.Errorf("got %v of a process that is not there, want ErrNoCgroup", err)
	}
}
