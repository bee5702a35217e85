package fsstat

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// With no window open nothing is counted and nobody is found out: a window
// that is opened afterwards has no series.
func TestUnwatched(t *testing.T) {
	p := New(Options{})
	path := tempFile(t, 100)
	for _, v := range []View{p.here(), p.In(probe.WithRole(t.Context(), "request"))} {
		must[[]byte](t)(v.ReadFile(path))
		must[os.FileInfo](t)(v.Stat(path))
		must[os.FileInfo](t)(v.Lstat(path))
		must[[]os.DirEntry](t)(v.ReadDir(filepath.Dir(path)))
		f := must[*File](t)(v.Open(path))
		must[int](t)(f.Read(make([]byte, 10)))
		must[int64](t)(io.Copy(io.Discard, f))
		to := must[*File](t)(v.Create(path + ".copy"))
		must[int64](t)(io.Copy(to, f))
		must[int64](t)(to.ReadFrom(io.LimitReader(f, 1)))
		if l := f.label.Load(); l != nil {
			t.Errorf("got the label %+v, want none", l)
		}
		f.Close()
		to.Close()
	}
	if s, ok := StatsOf(watch(t, p).Close()); !ok || len(s.Roles) > 0 || !cmp.Equal(s.Counts, Counts{}) {
		t.Errorf("got %+v of operations that nobody watched, want nothing", s)
	}
}

// A File that was opened while nobody watched has the role of its view, or else
// of whoever first uses it in a window.
func TestOpenedUnwatched(t *testing.T) {
	p := New(Options{})
	path := tempFile(t, 100)
	plain := must[*File](t)(p.Open(path))
	defer plain.Close()
	request := must[*File](t)(p.In(probe.WithRole(t.Context(), "request")).Open(path))
	defer request.Close()
	w := watch(t, p)
	for _, role := range []string{"sweeper", "later"} {
		probe.Do(t.Context(), role, func(context.Context) {
			must[int](t)(plain.Read(make([]byte, 10)))
			must[int](t)(request.Read(make([]byte, 7)))
		})
	}
	want := map[string]Counts{"sweeper": {Reads: 2, BytesRead: 20}, "request": {Reads: 2, BytesRead: 14}}
	if diff := cmp.Diff(want, statsOf(t, w.Close()).Roles); diff != "" {
		t.Errorf("counts by role (-want +got):\n%s", diff)
	}
}
