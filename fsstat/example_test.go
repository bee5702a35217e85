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
	// Output: 1 directory read, 1 stat, errors map[not_exist:1]
}
