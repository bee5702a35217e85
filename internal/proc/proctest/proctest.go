// Package proctest builds folder trees that stand in for /proc and /sys.
//
// # What is measured
//
// Nothing: it serves the tests of the packages that read kernel files.
//
// # Accuracy and limits
//
// A fixture is an archive in the txtar form of the Go project: free text, then
// files, each introduced by a line "-- path --". A file ends where the next
// one begins. A file whose content lacks its trailing newline cannot be
// written that way; such a line ends in "\c", which is removed together with
// the newline.
package proctest

import (
	"os"
	"path/filepath"
	"strings"
)

// File is one file of a fixture.
type File struct {
	Name string // relative, with slashes
	Data string
}

// Parse splits an archive into its files. The text before the first file is a
// comment and is dropped.
func Parse(archive string) []File {
	var files []File
	for line := range strings.Lines(archive) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		if ok {
			name, ok = strings.CutSuffix(name, " --")
		}
		switch {
		case ok:
			files = append(files, File{Name: name})
		case len(files) > 0:
			if head, cut := strings.CutSuffix(line, "\\c\n"); cut {
				line = head
			}
			files[len(files)-1].Data += line
		}
	}
	return files
}

// Write writes the files of an archive under dir.
func Write(dir, archive string) error {
	for _, f := range Parse(archive) {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f.Data), 0o644); err != nil {
			return err
		}
	}
	return nil
}
