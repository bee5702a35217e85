package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// played is a column of a load of five operations, one of which fails. With a
// cap that ends it, it never gets to the last.
func played(t *testing.T, limit time.Duration) *report.Report {
	t.Helper()
	d := drive.New(drive.Options{Cap: limit})
	n := 0
	d.Add(drive.User{Scripts: []drive.Script{{Work: 5, Do: func(_ context.Context, s *drive.Session) error {
		for i := range 5 {
			err := s.Do("work", func(ctx context.Context) error {
				if n++; n == 2 {
					return errors.New("failed")
				}
				if i == 4 && limit > 0 {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			})
			if i == 4 && err != nil {
				return err // cut off
			}
			s.Done()
		}
		return nil
	}}}})
	load, err := play(t.Context(), PartLoad, d, progress.New(io.Discard, "test"))
	if err != nil {
		t.Fatal(err)
	}
	server := report.Of(new(probe.Reading))
	server.Name = PartServer
	return report.Join("slow", server, load)
}

// TestTable wants the rows that every table has, in both forms.
func TestTable(t *testing.T) {
	columns := Columns([]*report.Report{played(t, 0)})
	if got := columns[0].Title; got != "slow" {
		t.Errorf("got title %q, want slow", got)
	}
	table := &report.Table{Columns: columns, Rows: slices.Concat([]report.Row{Waited("Work", "work", "count")}, Cost(), Outcome())}
	for _, md := range []bool{false, true} {
		var out bytes.Buffer
		if err := Write(&out, Options{Markdown: md}, table, Requests); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Work", "Requests answered", "Requests failed or cut off", "Requests, slow", "achieved"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in:\n%s", want, out.String())
			}
		}
		if got := strings.Contains(out.String(), "| Work"); got != md {
			t.Errorf("Markdown: got %v, want %v:\n%s", got, md, out.String())
		}
	}
	load := columns[0].Report.Part(PartLoad)
	if got := answered(load); got != 4 {
		t.Errorf("got %v answered, want 4", got)
	}
	if _, _, ok := cpuPerRequest(columns[0].Report); ok {
		t.Error("there is CPU time per request of a server that was not measured")
	}
}

// TestCapped wants the column of a run that did not get to its end to say so.
func TestCapped(t *testing.T) {
	columns := Columns([]*report.Report{played(t, 50*time.Millisecond)})
	if got := columns[0].Title; !strings.HasPrefix(got, "slow (capped, ") {
		t.Errorf("got title %q, want that it was capped", got)
	}
}

// TestServer wants a phase's report to hold the data at rest, and the end to
// close what is open and to remove the folder.
func TestServer(t *testing.T) {
	ended := 0
	s := &Server{dir: filepath.Join(t.TempDir(), "x"), End: func() error { ended++; return nil }}
	s.Begin = func(dir string) (http.Handler, probe.Probe, error) {
		s.AtRest.Add("jobs", 3, "{job}")
		return http.NotFoundHandler(), new(probe.Ops), os.Mkdir(dir, 0o700)
	}
	addr, err := s.start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	want := report.Conditions{{Name: "jobs", Value: int64(3), Unit: "{job}"}}
	_ = want.FileSystem(s.dir) // where the system tells it
	for range 2 {
		if err := s.open("server"); err != nil {
			t.Fatal(err)
		}
		data, err := s.close()
		if err != nil {
			t.Fatal(err)
		}
		rep, err := report.Read(bytes.NewReader(data))
		if err != nil || rep.Name != "server" || !slices.Equal(rep.Conditions, want) {
			t.Errorf("got %q with %v, %v, want server with %v", rep.Name, rep.Conditions, err, want)
		}
	}
	if err := errors.Join(s.open("server"), s.stop()); err != nil || ended != 1 {
		t.Errorf("stop: got %v, %d ends", err, ended)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody still listens")
	}
}

// TestServerFails wants a start that fails half-way to leave nothing.
func TestServerFails(t *testing.T) {
	wrong, ended := errors.New("wrong"), 0
	s := &Server{dir: t.TempDir(), End: func() error { ended++; return nil }}
	s.Begin = func(string) (http.Handler, probe.Probe, error) { return nil, nil, wrong }
	if _, err := s.start("127.0.0.1:0"); !errors.Is(err, wrong) || ended != 1 {
		t.Errorf("got %v and %d ends, want wrong and 1", err, ended)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
