package main

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestNoRequestScans plays the smoke run with a look at each statement's plan,
// and wants no request to read the sandboxes from end to end: a requirement on
// the window's metrics, which the variant "before" does not meet.
func TestNoRequestScans(t *testing.T) {
	smoke := profiles[0]
	for variant, want := range map[string][]string{
		before: {"(*Store).CreateSandbox", "(*Store).ListSandboxes", "(*Store).SandboxByName"},
		after:  nil,
	} {
		t.Run(variant, func(t *testing.T) {
			r := playPlanned(t, smoke, variant)
			if got := scanners(r, "sandboxes"); !slices.Equal(got, want) {
				t.Errorf("requests that read all sandboxes are of %q, want %q", got, want)
			}
			// The look itself has to have worked, or nothing would ever be found:
			// every request reads all tokens, in both variants, to find its own.
			if got, want := scanners(r, "tokens"), []string{"(*Store).Tokens"}; !slices.Equal(got, want) {
				t.Errorf("requests that read all tokens are of %q, want %q", got, want)
			}
			for i := range r.Metrics { // what could hide a scan
				m := &r.Metrics[i]
				if m.Value > 0 && (m.Attr(sqlitetrace.AttrTable) == "(other)" || m.Attr(sqlitetrace.AttrPlan) == "unknown") {
					t.Errorf("%s of %s (%s): %v", m.Name, m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole), m.Value)
				}
			}
		})
	}
}

// scanners are the methods that have read a table from end to end on a request's
// goroutine.
func scanners(r *probe.Reading, table string) (methods []string) {
	for m := range r.Find("tidestaff.sqlite.full_scans", probe.Attr{Key: probe.AttrRole, Value: "request"},
		probe.Attr{Key: sqlitetrace.AttrTable, Value: table}) {
		if m.Value > 0 {
			methods = append(methods, m.Attr(probe.AttrMethod))
		}
	}
	slices.SortFunc(methods, strings.Compare)
	return slices.Compact(methods)
}

// playPlanned plays a profile's load in this process, and looks at the plans of
// the server's statements.
func playPlanned(t *testing.T, prof profile, variant string) *probe.Reading {
	t.Helper()
	path := filepath.Join(t.TempDir(), "team.db")
	if err := Seed(path, 1, prof); err != nil {
		t.Fatal(err)
	}
	p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
	s, err := OpenStore(watched(p), path, variant == before)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := &loops{store: s, ops: new(probe.Ops), files: fsstat.New(fsstat.Options{}), logs: t.TempDir(), profile: prof, batch: archiveBatch}
	l.run(1)
	defer l.stop()
	srv := httptest.NewServer(newServer(s, l.ops, l).Handler())
	defer srv.Close()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	client := drive.Client(64)
	defer client.CloseIdleConnections()
	if _, err := newLoad(prof, 1, srv.URL, client).Run(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w.Close()
}
