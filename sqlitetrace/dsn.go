package sqlitetrace

import (
	"net/url"
	"path/filepath"
	"strings"
)

// A dsn is what is known of a database from its data source name.
type dsn struct {
	key       string // tells one database file from another; "" for none
	path      string // of the file, absolute; "" if there is none
	immediate bool   // transactions take the write lock when they begin
}

// parseDSN reads the form that modernc.org/sqlite, mattn/go-sqlite3 and
// ncruces/go-sqlite3 share: a path or a file: URI, with parameters after a
// question mark. A database in memory has no key: its connections either have
// nothing in common, or share a cache, whose locks are not the file's.
func parseDSN(name string) dsn {
	path, query, _ := strings.Cut(name, "?")
	params, _ := url.ParseQuery(query) // what cannot be read counts as absent
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		path = uriPath(rest)
	}
	d := dsn{}
	switch strings.ToLower(params.Get("_txlock")) {
	case "immediate", "exclusive":
		d.immediate = true
	}
	if path == "" || path == ":memory:" || params.Get("mode") == "memory" || params.Get("vfs") == "memdb" {
		return d
	}
	d.path = fileKey(path)
	d.key = d.path
	return d
}

// uriPath is the path of a file: URI without its scheme: //host/path or path,
// with escapes.
func uriPath(s string) string {
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			s = rest[slash:]
		}
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if s != "" && filepath.VolumeName(s[1:]) != "" { // Windows: /C:/path
		s = s[1:]
	}
	return s
}

// fileKey makes one name of the ways to write a path. The file need not exist
// yet, its folder must for links to be followed.
func fileKey(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
