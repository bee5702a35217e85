package fsstat

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// paths are files of all kinds, by a word for each.
func paths(t *testing.T) map[string]string {
	dir := t.TempDir()
	all := map[string]string{
		"missing":           filepath.Join(dir, "none", "such"),
		"nothing":           "",
		"directory":         dir,
		"name with a zero":  "a\x00b",
		"name too long":     strings.Repeat("x", 5000),
		"below a file":      filepath.Join(dir, "512", "x"),
		"dangling link":     filepath.Join(dir, "dangling"),
		"link":              filepath.Join(dir, "link"),
		"null device":       os.DevNull,
		"kernel's file":     "/proc/version", // says that it is empty; missing elsewhere
		"kernel's long one": "/proc/self/mountinfo",
		"unreadable kernel": "/proc/self/mem",
		"no permission":     filepath.Join(dir, "denied"),
	}
	for _, size := range []int{0, 1, 511, 512, 513, 4096, 100_000} {
		path := filepath.Join(dir, strconv.Itoa(size))
		all[strconv.Itoa(size)+" bytes"] = path
		write(t, path, content(size), 0o600)
	}
	write(t, all["no permission"], nil, 0)
	for _, link := range [][2]string{{"4096", all["link"]}, {"gone", all["dangling link"]}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Logf("no symbolic links here: %v", err)
		}
	}
	return all
}

// Results and errors are those of package os, with a probe and without.
func TestSameAsOS(t *testing.T) {
	for name, v := range map[string]interface {
		ReadFile(string) ([]byte, error)
		ReadDir(string) ([]fs.DirEntry, error)
		Stat(string) (fs.FileInfo, error)
		Lstat(string) (fs.FileInfo, error)
	}{
		"probe": New(Options{}), "view": New(Options{}).In(context.Background()), "nil": (*Probe)(nil), "zero": View{},
	} {
		for kind, path := range paths(t) {
			what := name + ": " + kind + ": "

			got, err := v.ReadFile(path)
			want, wantErr := os.ReadFile(path)
			sameError(t, what+"ReadFile", err, wantErr)
			if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("%sReadFile: got %d bytes, nil %v, want %d, %v", what, len(got), got == nil, len(want), want == nil)
			}

			entries, err := v.ReadDir(path)
			wantEntries, wantErr := os.ReadDir(path)
			sameError(t, what+"ReadDir", err, wantErr)
			if diff := cmp.Diff(names(wantEntries), names(entries)); diff != "" {
				t.Errorf("%sReadDir (-want +got):\n%s", what, diff)
			}

			info, err := v.Stat(path)
			wantInfo, wantErr := os.Stat(path)
			sameError(t, what+"Stat", err, wantErr)
			sameInfo(t, what+"Stat", info, wantInfo)

			info, err = v.Lstat(path)
			wantInfo, wantErr = os.Lstat(path)
			sameError(t, what+"Lstat", err, wantErr)
			sameInfo(t, what+"Lstat", info, wantInfo)
		}
	}
}

func names(entries []fs.DirEntry) (all []string) {
	for _, e := range entries {
		all = append(all, fs.FormatDirEntry(e))
	}
	return all
}

func sameInfo(t *testing.T, what string, got, want fs.FileInfo) {
	t.Helper()
	if (got == nil) != (want == nil) || want != nil && !os.SameFile(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestOpenSameAsOS(t *testing.T) {
	for _, p := range []*Probe{New(Options{}), nil} {
		for kind, path := range paths(t) {
			got, err := p.Open(path)
			want, wantErr := os.Open(path)
			sameError(t, kind, err, wantErr)
			if (got == nil) != (want == nil) {
				t.Errorf("%s: got %v, want %v", kind, got, want)
			}
			if got != nil && got.Name() != want.Name() {
				t.Errorf("%s: got name %q, want %q", kind, got.Name(), want.Name())
			}
			sameError(t, kind+": Close", got.Close(), want.Close())
		}
	}
}

func TestCreate(t *testing.T) {
	files, check := counting(t)
	path := tempFile(t, 100)
	f := must[*File](t)(files.Create(path))
	defer f.Close()
	must[int](t)(f.WriteString("new"))
	wantFile(t, path, []byte("new"))
	check(Counts{Opens: 1, Writes: 1, BytesWritten: 3})

	if _, err := files.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got error %v, want that it exists", err)
	}
	check(Counts{Opens: 1, Errors: map[string]int64{"EEXIST": 1}})
}

func TestCounts(t *testing.T) {
	all := paths(t)
	for _, tt := range []struct {
		what string
		do   func(View)
		want Counts
	}{
		{"nothing", func(View) {}, Counts{}},
		{"an empty file", func(v View) { v.ReadFile(all["0 bytes"]) },
			Counts{Opens: 1, Reads: 1}},
		// The buffer has room for one more byte, so that the end is found by
		// the second read.
		{"a file", func(v View) { v.ReadFile(all["100000 bytes"]) },
			Counts{Opens: 1, Reads: 2, BytesRead: 100_000}},
		{"a file that is missing", func(v View) { v.ReadFile(all["missing"]) },
			Counts{Opens: 1, Errors: map[string]int64{"ENOENT": 1}}},
		{"a file that is a directory", func(v View) { v.ReadFile(all["directory"]) },
			Counts{Opens: 1, Reads: 1, Errors: map[string]int64{"EISDIR": 1}}},
		{"a directory", func(v View) { v.ReadDir(all["directory"]) },
			Counts{Opens: 1, ReadDirs: 1}},
		{"a directory that is missing", func(v View) { v.ReadDir(all["missing"]) },
			Counts{Opens: 1, Errors: map[string]int64{"ENOENT": 1}}},
		{"stats", func(v View) { v.Stat(all["link"]); v.Lstat(all["link"]); v.Lstat(all["missing"]) },
			Counts{Stats: 3, Errors: map[string]int64{"ENOENT": 1}}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			files, check := counting(t)
			tt.do(files)
			check(tt.want)
		})
	}
}

func write(t *testing.T, path string, b []byte, perm fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, b, perm); err != nil {
		t.Fatal(err)
	}
}

// WriteFile, CreateTemp and Readlink are those of package os.
func TestWriteSameAsOS(t *testing.T) {
	for _, p := range []*Probe{New(Options{}), nil} {
		if p != nil {
			watch(t, p)
		}
		for kind, path := range paths(t) {
			if kind == "null device" {
				continue
			}
			sameError(t, kind+": WriteFile", p.WriteFile(path, []byte("new"), 0o600), os.WriteFile(path, []byte("new"), 0o600))
			got, err := p.Readlink(path)
			want, wantErr := os.Readlink(path)
			sameError(t, kind+": Readlink", err, wantErr)
			if got != want {
				t.Errorf("%s: Readlink: got %q, want %q", kind, got, want)
			}
		}
		dir := t.TempDir()
		f := must[*File](t)(p.CreateTemp(dir, "x*y"))
		if ok, _ := filepath.Match(filepath.Join(dir, "x*y"), f.Name()); !ok {
			t.Errorf("got the name %q, want one like x*y", f.Name())
		}
		f.Close()
		if _, err := p.CreateTemp(dir, "x/y"); err == nil {
			t.Error("a bad pattern makes a file")
		}
	}
}

func TestWriteCounts(t *testing.T) {
	files, check := counting(t)
	path := filepath.Join(t.TempDir(), "file")
	if err := files.WriteFile(path, content(5000), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, content(5000))
	check(Counts{Opens: 1, Writes: 1, BytesWritten: 5000})
	f := must[*File](t)(files.CreateTemp(filepath.Dir(path), ""))
	f.Close()
	_ = files.WriteFile(filepath.Dir(path), nil, 0)
	check(Counts{Opens: 2, Errors: map[string]int64{"EISDIR": 1}})
}
