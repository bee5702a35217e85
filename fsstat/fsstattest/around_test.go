package fsstattest

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// envRuns makes of the test binary a child that runs its tests so many times.
const envRuns = "TIDESTAFF_FSSTATTEST_RUNS"

func TestMain(m *testing.M) {
	if os.Getenv(envRuns) == "2" {
		if code := Run(m); code != 0 {
			os.Exit(code)
		}
	}
	os.Exit(Run(m))
}

// around is what went around a new probe, or the end of the test.
func around(t *testing.T, o fsstat.Options, do func(p *fsstat.Probe)) fsstat.Gap {
	t.Helper()
	p := fsstat.New(o)
	g, err := Around(p, func() { do(p) })
	if errors.Is(err, probe.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// folder has three files, one of them an archive.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, "archive.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, read func(string) ([]byte, error), path string) {
	t.Helper()
	if _, err := read(path); err != nil {
		t.Error(err)
	}
}

// What goes around the probe is named, and nothing else, be it opened by us or in
// a package that knows nothing of the probe.
func TestAround(t *testing.T) {
	dir := folder(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	archive, gone := filepath.Join(dir, "archive.zip"), filepath.Join(dir, "gone")
	got := around(t, fsstat.Options{}, func(p *fsstat.Probe) {
		read(t, p.ReadFile, a)
		read(t, os.ReadFile, dir+"/./a")
		read(t, os.ReadFile, b)
		read(t, os.ReadFile, b)
		_, _ = p.Open(gone)
		_, _ = os.Open(gone)
		z, err := zip.OpenReader(archive)
		if err != nil {
			t.Error(err)
			return
		}
		z.Close()
	})
	want := fsstat.Gap{Opens: 5, Paths: map[string]int64{a: 1, b: 2, gone: 1, archive: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gap (-want +got):\n%s", diff)
	}
	if want := fmt.Sprintf("5 opens went around the probe: %s (2), %s, %s, %s", b, a, archive, gone); got.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every way to open a file that the probe has is known by the name in the log.
func TestAroundNothing(t *testing.T) {
	dir := folder(t)
	bare, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	got := around(t, fsstat.Options{}, func(p *fsstat.Probe) {
		read(t, p.ReadFile, filepath.Join(dir, "a"))
		f, err := p.CreateTemp(dir, "x*")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := p.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
			t.Error(err)
		}
		_, _ = p.ReadDir(dir)
		_, _ = p.Stat(dir)
		read(t, func(name string) ([]byte, error) { return fs.ReadFile(p.DirFS(dir), name) }, "b")
		p.Opened(func() {}) // one within another
		for _, fsys := range []fs.FS{os.DirFS(dir), bare.FS()} {
			fsys := p.FS(fsys)
			_ = fs.WalkDir(fsys, ".", func(string, fs.DirEntry, error) error { return nil })
			_, _ = fs.ReadFile(fsys, "a")
			_, _ = fs.ReadFile(fsys, "gone")
			_, _ = fs.Glob(fsys, "*")
			_, _ = fs.Stat(fsys, "gone")
		}
		_, _ = p.ReadFile(filepath.Join(dir, "gone"))
		_, _ = p.CreateTemp(filepath.Join(dir, "gone"), "x*")
		_, _ = p.OpenInRoot(dir, "a")
		_, _ = p.OpenInRoot(filepath.Join(dir, "gone"), "a")
		_, _ = p.OpenRoot(filepath.Join(dir, "gone"))
		_, _ = fs.ReadFile(p.DirFS(dir), "gone")
		_, _ = fs.ReadDir(p.DirFS(dir), ".")
		if err := p.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "gone"))); err == nil {
			t.Error("a folder that is missing was copied")
		}
		if err := p.CopyFS(filepath.Join(t.TempDir(), "copy"), os.DirFS(dir)); err != nil {
			t.Error(err)
		}
		root, err := p.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		read(t, root.ReadFile, "a")
		_, _ = root.OpenRoot("gone")
		_, _ = root.Open("../outside")
		if err := root.Mkdir("below", 0o700); err != nil {
			t.Error(err)
		}
		below, err := root.OpenRoot("below")
		if err != nil {
			t.Fatal(err)
		}
		defer below.Close()
		if err := below.WriteFile("c", nil, 0o600); err != nil {
			t.Error(err)
		}
		read(t, func(name string) ([]byte, error) { return fs.ReadFile(root.FS(), name) }, "b")
	})
	if len(got.Paths) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// The names that are compared are those of the opens, whatever the probe keeps:
// no paths or few of them, under other names, long ones that end alike.
func TestAroundOptions(t *testing.T) {
	dir := folder(t)
	long := filepath.Join(dir, strings.Repeat("x/", 200)) + "/a"
	for name, o := range map[string]fsstat.Options{
		"no paths":   {MaxPaths: -1},
		"one path":   {MaxPaths: 1},
		"one name":   {Path: func(string) string { return "all" }},
		"no passing": {NoIdentity: true},
	} {
		got := around(t, o, func(p *fsstat.Probe) {
			read(t, p.ReadFile, filepath.Join(dir, "a"))
			read(t, p.ReadFile, filepath.Join(dir, "b"))
			read(t, os.ReadFile, filepath.Join(dir, "b"))
			_, _ = p.Open(long)
			_, _ = os.Open("y" + long)
		})
		want := fsstat.Gap{Opens: 2, Paths: map[string]int64{filepath.Join(dir, "b"): 1, filepath.Clean("y" + long): 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: gap (-want +got):\n%s", name, diff)
		}
	}
}

// Through a nil probe nothing is opened: all goes around it.
func TestAroundNil(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	a := filepath.Join(folder(t), "a")
	var p *fsstat.Probe
	got, err := Around(p, func() { read(t, p.ReadFile, a) })
	if want := (fsstat.Gap{Opens: 1, Paths: map[string]int64{a: 1}}); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
}

// A test that ends in the middle, or panics, leaves nothing behind.
func TestAroundGoexit(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	dir := folder(t)
	started := 0
	p := fsstat.New(fsstat.Options{})
	for _, end := range []func(){runtime.Goexit, func() { panic("mine") }} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_, _ = Around(p, func() { started++; end() })
		}()
		<-done
	}
	if started != 2 {
		t.Fatalf("%d began", started)
	}
	// Nobody watches: nothing finds out who does it, and no row is made.
	read(t, p.ReadFile, filepath.Join(dir, "a"))
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := fsstat.StatsOf(w.Close()); len(s.Roles) > 0 {
		t.Errorf("got the roles %v: a window was left open", s.Roles)
	}
	got, err := Around(p, func() { read(t, os.ReadFile, filepath.Join(dir, "b")) })
	if err != nil || got.Opens != 1 {
		t.Errorf("afterwards: got %v, error %v, want one open", got, err)
	}
}

// More opens than a pipe holds, none of them lost.
func TestAroundMany(t *testing.T) {
	path := filepath.Join(folder(t), strings.Repeat("long", 20))
	const n = 5000
	got := around(t, fsstat.Options{}, func(p *fsstat.Probe) {
		for range n {
			_, _ = os.Open(path)
			_, _ = p.Open(path)
		}
	})
	if got.Opens != n {
		t.Errorf("got %d opens, want %d", got.Opens, n)
	}
}

// What cannot be known is an error.
func TestAroundUnknown(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	l := testLog{reason: errors.New("not yet")}
	if _, err := l.record(func() {}); err == nil {
		t.Error("a log that has not begun records")
	}
	// A Go that has no such flag.
	if code := l.run(runs(7), nil); code != 7 {
		t.Errorf("got exit code %d, want that of m.Run, 7", code)
	}
	if _, err := l.record(func() {}); !errors.Is(err, probe.ErrUnsupported) {
		t.Errorf("got error %v, want that it is not supported", err)
	}
}

// A run that has ended leaves neither the pipe's number in the flag, which may soon
// be another file's, nor anything unread.
func TestRunSetsBack(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	for _, asked := range []string{"", filepath.Join(t.TempDir(), "log")} {
		flags := flag.NewFlagSet("", flag.PanicOnError)
		value := flags.String(flagName, asked, "")
		var l testLog
		pipe := ""
		code := l.run(runFunc(func() int {
			pipe = *value
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // as package testing does
			if err != nil {
				t.Error(err)
				return 1
			}
			_, _ = io.WriteString(w, "# test log\nopen x\nopen half a li") // and no line break
			_ = w.Close()
			return 3
		}), flags.Lookup(flagName))
		if code != 3 || *value != asked || !strings.HasPrefix(pipe, "/proc/self/fd/") {
			t.Errorf("got exit code %d, the flag %q during the run and %q after it, want 3, a pipe, and %q", code, pipe, *value, asked)
		}
		if b, err := os.ReadFile(asked); asked != "" && (err != nil || string(b) != "# test log\nopen x\nopen half a li\n") {
			t.Errorf("got %q, error %v, want the go command's log whole", b, err)
		}
		if _, err := l.record(func() {}); err == nil {
			t.Error("a log that has ended records")
		}
	}
}

type runFunc func() int

func (r runFunc) Run() int { return r() }

type runs int

func (r runs) Run() int { return int(r) }

// The go command gets the log that it asks for, once for several runs, and
// without our marks: results are cached as ever.
func TestGoCommandsLog(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	if os.Getenv(envRuns) != "" {
		return
	}
	for _, n := range []string{"1", "2"} {
		log := filepath.Join(t.TempDir(), "log")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout=60s", "-test.run=^TestAround$", "-test.testlogfile="+log)
		cmd.Env = append(os.Environ(), envRuns+"="+n)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if !strings.HasPrefix(text, "# test log\n") || strings.Count(text, "# test log\n") != 1 {
			t.Errorf("%s runs: got the beginning %.40q, want the go command's header, once", n, text)
		}
		if got, want := fmt.Sprint(strings.Count(text, "/archive.zip\n")), map[string]string{"1": "2", "2": "4"}[n]; got != want {
			t.Errorf("%s runs: got %s opens of the archive, want %s:\n%s", n, got, want, text)
		}
		if strings.Contains(text, markPrefix) {
			t.Errorf("%s runs: the go command would look for our marks", n)
		}
	}
}

// In a benchmark, in repeated tests and without a cache the log is the same.
func TestGoCommandsFlags(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	if os.Getenv(envRuns) != "" {
		return
	}
	for _, flags := range [][]string{
		{"-test.run=^$", "-test.bench=^BenchmarkAround$", "-test.benchtime=100x", "-test.count=2"},
		{"-test.run=^TestAround$", "-test.count=3"},
		{"-test.run=^TestAround$", "-test.shuffle=on", "-test.cpu=1,2"},
	} {
		for _, n := range []string{"1", "2"} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], append(flags, "-test.timeout=60s", "-test.v")...)
			cmd.Env = append(os.Environ(), envRuns+"="+n)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "SKIP") || !strings.Contains(string(out), "Around") {
				t.Errorf("%s runs with %q: %v\n%s", n, flags, err, out)
			}
		}
	}
}

// BenchmarkAround is what the log and the notes cost an open, with its read.
func BenchmarkAround(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	got, err := Around(fsstat.New(fsstat.Options{}), func() {
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Error(err)
			}
		}
	})
	if errors.Is(err, probe.ErrUnsupported) {
		b.Skip(err)
	}
	if err != nil || got.Opens != int64(b.N) {
		b.Errorf("got %v, error %v, want %d opens", got, err, b.N)
	}
}

func ExampleAround() {
	files := fsstat.New(fsstat.Options{})
	gap, err := Around(files, func() {
		_, _ = files.ReadFile("jobs.json") // counted
		_, _ = os.ReadFile("runs.json")    // not
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var g fsstat.Gap = gap
	fmt.Println(g)
	// Output: 1 open went around the probe: runs.json
}

// What the service opens through the probe on another goroutine, also while the
// log begins and ends, did not go around it.
func TestAroundBackground(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	p := fsstat.New(fsstat.Options{})
	path := filepath.Join(t.TempDir(), "polled")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = p.ReadFile(path)
				_, _ = p.ReadDir(filepath.Dir(path))
			}
		}
	}()
	for range 10 {
		g, err := Around(p, func() { time.Sleep(time.Millisecond) })
		if err != nil {
			t.Error(err)
		}
		if g.Opens != 0 {
			t.Errorf("got %v, want no open", g)
		}
	}
	close(stop)
	<-done
}

// An open that began before and ends after did not go around the probe either,
// though package os tells of it in between.
func TestAroundSlow(t *testing.T) {
	around(t, fsstat.Options{}, func(*fsstat.Probe) {}) // or skip
	p := fsstat.New(fsstat.Options{})
	path := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begun, open, opened, end := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	var caller sync.WaitGroup
	caller.Go(func() {
		f, err := p.In(t.Context()).OpenBy(path, func() (*os.File, error) {
			close(begun)
			<-open
			f, err := os.Open(path)
			close(opened)
			<-end
			return f, err
		})
		if err != nil {
			t.Error(err)
			return
		}
		_ = f.Close()
	})
	<-begun
	g, err := Around(p, func() {
		close(open)
		<-opened
	})
	close(end)
	caller.Wait()
	if err != nil || g.Opens != 0 {
		t.Errorf("got %v, error %v, want no open", g, err)
	}
}
