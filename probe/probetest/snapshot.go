package probetest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// updateVar is the environment variable that has snapshots written, for test
// binaries without the flag.
const updateVar = "TIDESTAFF_UPDATE"

// updateFlag is its name. A package may have a flag of that name, which is then
// asked; [Main] adds it where there is none.
const updateFlag = "update"

// Snapshot executes op in a window over p and compares the statements that it
// executed, with their count, method, role and whether they scan, with those in a
// file. A review then shows which statement a change has added, rather than that a
// number has grown. Literals and arguments are not in it.
//
//	probetest.Snapshot(t, sqlp, "testdata/list.sql.txt", func() { get(t, "/api/jobs") })
//
// With -update (of a test binary whose TestMain calls [Main], or that has a flag of
// that name), or with TIDESTAFF_UPDATE=1 in the environment, the file is written.
//
// It needs the statements' texts: with sqlitetrace, Options.Statements.
func Snapshot(t testing.TB, p probe.Probe, file string, op func()) {
	t.Helper()
	tr, ok := try(t, p, 1, op)
	if !ok {
		return
	}
	list, found := tr.statements("snapshot")
	if len(found) > 0 {
		t.Errorf("%s", found[0].text)
		return
	}
	if err := compare(file, snapshot(list), updating()); err != nil {
		t.Error(err)
	}
}

// snapshot is the statements as lines, in an order that a change of one of them
// does not alter.
func snapshot(list []*statement) []string {
	list = joined(list) // a line is another one after any change above it
	slices.SortFunc(list, func(a, b *statement) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.method, b.method), cmp.Compare(a.role, b.role))
	})
	var lines []string
	for _, s := range list {
		line := fmt.Sprintf("%dx %s (%s): %s", s.n, s.method, s.role, s.text)
		if s.scan {
			line += " -- FULL SCAN"
		}
		lines = append(lines, line)
	}
	return lines
}

// compare holds the lines to those of the file, or writes them.
func compare(file string, lines []string, update bool) error {
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(strings.Join(append(lines, ""), "\n")), 0o666)
	}
	const how = "run the test with -update, or " + updateVar + "=1, to write it"
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("snapshot %s does not exist: %s", file, how)
	case err != nil:
		return err
	}
	want := strings.FieldsFunc(strings.ReplaceAll(string(b), "\r\n", "\n"), func(r rune) bool { return r == '\n' })
	if slices.Equal(want, lines) {
		return nil
	}
	var diff strings.Builder
	for _, l := range want {
		if !slices.Contains(lines, l) {
			diff.WriteString("\n  -" + l)
		}
	}
	for _, l := range lines {
		if !slices.Contains(want, l) {
			diff.WriteString("\n  +" + l)
		}
	}
	if diff.Len() == 0 {
		diff.WriteString("\n  the same statements in another order")
	}
	return fmt.Errorf("the statements differ from snapshot %s (- there, + now):%s\n  %s", file, &diff, how)
}

// updating reports whether snapshots are to be written.
func updating() bool {
	f := flag.Lookup(updateFlag)
	return f != nil && f.Value.String() == "true" || os.Getenv(updateVar) != ""
}
