package fshttp

import (
	"cmp"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/tidestaff/tidestaff/fsstat"
)

// Dir is http.Dir with its operations counted by the view of a probe, such as
// files.As("static"):
//
//	http.Handle("/", http.FileServer(fshttp.Dir(files.As("static"), "public")))
//
// Files count under the names that http.Dir gives them, missing ones under the
// name that was asked for.
func Dir(v fsstat.View, dir string) http.FileSystem { return fileSystem{v, http.Dir(dir)} }

type fileSystem struct {
	view fsstat.View
	dir  http.Dir
}

// Open implements [http.FileSystem].
func (s fileSystem) Open(name string) (http.File, error) {
	dir := cmp.Or(string(s.dir), ".") // as http.Dir takes it
	f, err := s.view.OpenBy(filepath.Join(dir, filepath.FromSlash(path.Clean("/"+name))), func() (*os.File, error) {
		f, err := s.dir.Open(name)
		if err != nil {
			return nil, err
		}
		return f.(*os.File), nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}
