package fsstat

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A wrapped file system does what the original does with each set of the optional
// interfaces, since package io/fs makes some of what is lacking of what is there.
func TestFSSets(t *testing.T) {
	type plain = plainFS
	m := plain{fstest.MapFS{"a.txt": {Data: []byte("hello\n")}, "sub/b.txt": {Data: []byte("below\n")}}}
	p := New(Options{})
	watch(t, p)
	all := fileSystems(m)
	seen := map[[6]bool]bool{}
	for _, inner := range all {
		seen[fsInterfaces(inner)] = true
		if diff := cmp.Diff(everything(inner), everything(p.FS(inner))); diff != "" {
			t.Errorf("%T (-bare +wrapped):\n%s", inner, diff)
		}
	}
	if len(seen) != 64 {
		t.Errorf("got %d sets, want 64", len(seen))
	}
}

// fsInterfaces are the optional ones that a file system has.
func fsInterfaces(fsys fs.FS) (has [6]bool) {
	_, has[0] = fsys.(fs.ReadFileFS)
	_, has[1] = fsys.(fs.ReadDirFS)
	_, has[2] = fsys.(fs.StatFS)
	_, has[3] = fsys.(fs.GlobFS)
	_, has[4] = fsys.(fs.SubFS)
	_, has[5] = fsys.(fs.ReadLinkFS)
	return has
}

// fileSystems are m with each set of the optional interfaces.
func fileSystems(m plainFS) []fs.FS {
	return []fs.FS{
		m,
		struct {
			plainFS
			onlyReadFile
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
		}{plainFS: m},
		struct {
			plainFS
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyGlob
		}{plainFS: m},
		struct {
			plainFS
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyGlob
			onlySub
		}{plainFS: m},
		struct {
			plainFS
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyGlob
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyStat
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyStat
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadDir
			onlyStat
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
		struct {
			plainFS
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyGlob
			onlySub
			onlyReadLink
		}{plainFS: m},
	}
}
