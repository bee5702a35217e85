// Package pagetest plays the page of an example within its tests.
//
// # What is measured
//
// What the page itself measures; beside that, that nothing is left behind: see
// package stagetest, for its limits too.
package pagetest

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/probe/report"
)

// Play plays all variants of a profile. It returns what was printed, which the
// test's log has too, and the report as it was read back from its file.
func Play(t *testing.T, p *page.Page, profile string) (table string, whole *report.Report) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "r.json")
	opt, err := p.Parse([]string{"-profile", profile, "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := p.Run(context.Background(), opt, &printed, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + printed.String())
	stagetest.NothingLeft(t, tmp)
	if whole, err = report.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	return printed.String(), whole
}
