package sqlitetrace

import (
	"net/url"
	"path/filepath"
	"strings"
)

// A dsn is what is known of a database from its data source name.
type dsn struct {
	key      string // tells one database file from another; "" for none
	path     string // of the file, absolute; "" if there is none
	txlock   txlock
	readOnly bool // the write lock is never taken, not even if it is asked for
}

// parseDSN reads the form that modernc.org/sqlite, mattn/go-sqlite3 and
// ncruces/go-sqlite3 share: a path or a file: URI, with parameters after a
// question mark. A database in memory has no key: its connections either have
// nothing in common, or share a cache, whose locks are not the file's.
func parseDSN(name string) dsn {
	rest, isURI := strings.CutPrefix(name, "file:")
	if isURI {
		rest, _, _ = strings.Cut(rest, "#") // SQLite ignores a fragment
	}
	path, query, _ := strings.Cut(rest, "?")
	params, _ := url.ParseQuery(query) // what cannot be read counts as absent
	if isURI {
		path = uriPath(path)
	}
	d := dsn{txlock: txlockOf(params), readOnly: isURI && (params.Get("mode") == "ro" || params.Get("immutable") == "1")}
	// Drivers take the vfs from any name; the mode is SQLite's, which sees URIs only.
	if path == "" || path == ":memory:" || isURI && params.Get("mode") == "memory" || params.Get("vfs") == "memdb" {
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

// fileKey makes one name of the ways to write a path. Neither the file nor its
// folder need exist yet: links are followed as far as there is anything.
func fileKey(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return resolve(path)
}

func resolve(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(resolve(dir), filepath.Base(path))
}
