package fsstat_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// tempFile makes a file of a thousand bytes in a folder of its own.
func tempFile() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "fsstat")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, "run.log")
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

func Example() {
	path, remove := tempFile()
	defer remove()

	files := fsstat.New(fsstat.Options{}) // one for the program
	w, err := files.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := files.ReadFile(path) // where it said os.ReadFile
	fmt.Println(len(b), err)

	stats, _ := fsstat.StatsOf(w.Close())
	fmt.Println(stats.Opens, "open,", stats.Reads, "reads,", stats.BytesRead, "bytes")
	// Output:
	// 1000 <nil>
	// 1 open, 2 reads, 1000 bytes
}

// Reads per request: the operation in the context counts what is read through
// a View, and so do the files that it opened.
func ExampleProbe_In() {
	path, remove := tempFile()
	defer remove()

	files, ops := fsstat.New(fsstat.Options{}), new(probe.Ops)
	w, err := probe.NewSet(files, ops).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := func(ctx context.Context) {
		ctx, op := ops.Begin(ctx, "dashboard")
		defer op.End(nil)
		var v fsstat.View = files.In(ctx)
		_, _ = v.ReadFile(path)
		_, _ = v.ReadFile(path)
	}
	handle(context.Background())
	for m := range w.Close().Find("tidestaff.operation.file.reads") {
		fmt.Println(m.Dist.Mean(), "reads per", m.Attr("tidestaff.operation.name"))
	}
	// Output: 4 reads per dashboard
}

func ExampleFile() {
	path, remove := tempFile()
	defer remove()

	files := fsstat.New(fsstat.Options{}).As("backup")
	from, err := files.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer from.Close()
	to, err := files.Create(path + ".copy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer to.Close()
	n, err := io.Copy(to, from) // on Linux, the kernel copies
	fmt.Println(n, err)
	// Output: 1000 <nil>
}

func ExampleStatsOf() {
	path, remove := tempFile()
	defer remove()

	files := fsstat.New(fsstat.Options{})
	w, err := files.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = files.As("request").ReadFile(path)
	_, _ = files.As("retention").ReadDir(filepath.Dir(path))
	_, _ = files.As("retention").Stat(path + ".gone")

	stats, _ := fsstat.StatsOf(w.Close())
	var r fsstat.Counts = stats.Roles["retention"]
	fmt.Println(r.ReadDirs, "directory read,", r.Stats, "stat, errors", r.Errors)
	// Output: 1 directory read, 1 stat, errors map[ENOENT:1]
}

// A service that keeps to one folder.
func ExampleRoot() {
	path, remove := tempFile()
	defer remove()

	files := fsstat.New(fsstat.Options{}).As("tenant")
	root, err := files.OpenRoot(filepath.Dir(path))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	b, err := root.ReadFile("run.log")
	fmt.Println(len(b), err)
	_, err = root.ReadFile("../../etc/passwd")
	fmt.Println(err != nil)
	// Output:
	// 1000 <nil>
	// true
}

// What is read again though it has not changed, and by which path.
func ExamplePasses() {
	path, remove := tempFile()
	defer remove()

	files := fsstat.New(fsstat.Options{})
	w, err := files.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		_, _ = files.ReadFile(path)
	}
	stats, _ := fsstat.StatsOf(w.Close())
	var p fsstat.Passes = stats.Passes
	fmt.Println(p.First, "first,", p.Unchanged, "unchanged,", p.Avoidable, "bytes that a cache would spare")
	var c fsstat.PathCounts = stats.Paths[0]
	fmt.Println(filepath.Base(c.Path), "was read", c.Scans(), "times over")
	// Output:
	// 1 first, 2 unchanged, 2000 bytes that a cache would spare
	// run.log was read 3 times over
}

// How much of what the process reads goes through the probe.
func ExampleCoverage() {
	c := fsstat.Coverage{Seen: 750, Process: 1000}
	fmt.Println(c.Share())
	fmt.Println(c)
	fmt.Println(fsstat.Coverage{Reason: "/proc/self/io is denied"})
	// Output:
	// 0.75
	// at least 75.0 % of what the process read from files (750 of 1000 bytes, sockets and pipes among them)
	// coverage unavailable: /proc/self/io is denied
}

// What there is to read, before anybody reads it.
func ExampleTree() {
	path, remove := tempFile()
	defer remove()

	var size fsstat.TreeSize
	size, err := fsstat.Tree(filepath.Dir(path))
	fmt.Println(size.Files, "file,", size.Bytes, "bytes", err)
	// Output: 1 file, 1000 bytes <nil>
}

func ExampleGap() {
	g := fsstat.Gap{Opens: 3, Paths: map[string]int64{"runs/7.log": 1, "jobs.json": 2}}
	fmt.Println(g)
	// Output: 3 opens went around the probe: jobs.json (2), runs/7.log
}
