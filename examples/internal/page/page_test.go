package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// example is a page that plays nothing: the parts of each variant are what play
// returns, and the table the columns' names.
func example(play func(context.Context, *Run) ([]*report.Report, error)) *Page {
	return &Page{
		Name: "example", Sizes: "small or usual",
		Profiles:   []Profile{{"small", []string{"slow", "fast"}}, {"usual", []string{"slow", "fast"}}, {"odd", []string{"red", "blue"}}},
		Deviations: func(Options) []string { return []string{"nothing is played"} },
		Play:       play,
		Print: func(w io.Writer, _ Options, columns []*report.Report) error {
			for _, c := range columns {
				if _, err := fmt.Fprint(w, c.Name, " "); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// parts are those of a run of which nothing was measured.
func parts() []*report.Report {
	server := report.Of(new(probe.Reading))
	server.Name = PartServer
	server.Conditions.Set("data", "none")
	return []*report.Report{server}
}

func TestParse(t *testing.T) {
	p := example(nil)
	opt, err := p.Parse(nil)
	if err != nil || opt.Profile != "usual" || len(opt.Variants) != 2 || opt.Seed != 1 || opt.Markdown {
		t.Errorf("no flags: got %+v, %v", opt, err)
	}
	args := []string{"-profile", "small", "-variant", "fast", "-seed", "7", "-addr", "localhost:80"}
	opt, err = p.Parse(append(slices.Clone(args), "-md", "-cpu-profile", "-runs", "3", "-hogs", "2"))
	if err != nil || !opt.Markdown || opt.Runs != 3 || opt.Hogs != 2 {
		t.Fatalf("got %+v, %v", opt, err)
	}
	again := append(args, "-cpu-profile=true")
	if diff := cmp.Diff(again, opt.args("fast")); diff != "" {
		t.Errorf("the server's command line (-want +got):\n%s", diff)
	}
	var names []string
	for _, c := range opt.conditions() {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"-profile", "-seed", "-addr", "-cpu-profile"}, names); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"flag":     {[]string{"-frobnicate"}, "-frobnicate"},
		"profile":  {[]string{"-profile", "huge"}, `-profile "huge": want one of small, usual, odd`},
		"variant":  {[]string{"-variant", "during"}, `-variant "during": want slow, fast or both`},
		"other":    {[]string{"-profile", "odd", "-variant", "fast"}, `-variant "fast": want red, blue or both`},
		"runs":     {[]string{"-runs", "0"}, "-runs 0"},
		"hogs":     {[]string{"-hogs", "-1"}, "-hogs -1"},
		"argument": {[]string{"quickly"}, `unexpected argument "quickly"`},
		"address":  {[]string{"-addr", "192.0.2.1:80"}, "not a loopback address"},
		"port":     {[]string{"-addr", "localhost"}, "missing port"},
		"out":      {[]string{"-out", filepath.Join(nowhere, "r.json")}, nowhere},
	} {
		_, err := example(nil).Parse(c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", name, err, c.want)
		}
	}
}

// TestRun wants the variants one after the other, each in a folder of its own
// that is gone at the end, and what there is to be printed whatever happened.
func TestRun(t *testing.T) {
	wrong := errors.New("wrong")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name    string
		play    func(context.Context, *Run) ([]*report.Report, error)
		printed string
		err     error
	}{
		{"both", func(_ context.Context, r *Run) ([]*report.Report, error) {
			return parts(), os.WriteFile(filepath.Join(r.Dir, "y"), nil, 0o600)
		}, "slow fast ", nil},
		{"first fails", func(context.Context, *Run) ([]*report.Report, error) { return nil, wrong }, "", wrong},
		{"first fails late", func(context.Context, *Run) ([]*report.Report, error) { return parts(), wrong }, "slow ", wrong},
		{"interrupted", func(context.Context, *Run) ([]*report.Report, error) {
			cancel()
			return parts(), context.Canceled
		}, "slow ", ErrInterrupted},
	} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		p := example(c.play)
		out := filepath.Join(t.TempDir(), "r.json")
		opt, err := p.Parse([]string{"-out", out})
		if err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		if err := p.Run(ctx, opt, &stdout, io.Discard); !errors.Is(err, c.err) || stdout.String() != c.printed {
			t.Errorf("%s: got %v and %q, want %v and %q", c.name, err, stdout.String(), c.err, c.printed)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", c.name, left, err)
		}
		whole, err := report.ReadFile(out)
		if c.printed == "" {
			if err == nil {
				t.Errorf("%s: there is a report", c.name)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: the report: %v", c.name, err)
		}
		var conditions []string
		for _, c := range whole.Part("slow").Conditions {
			conditions = append(conditions, c.Name)
		}
		if diff := cmp.Diff([]string{"data", "-profile", "-seed"}, conditions); diff != "" || len(whole.Part("slow").Deviations) != 1 {
			t.Errorf("%s: deviations %q, conditions (-want +got):\n%s", c.name, whole.Part("slow").Deviations, diff)
		}
	}
}

// TestNothingToPrint is an interrupt before there is anything.
func TestNothingToPrint(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := example(func(context.Context, *Run) ([]*report.Report, error) {
		t.Error("a variant was played")
		return nil, nil
	})
	opt, err := p.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(ctx, opt, io.Discard, io.Discard); err == nil || errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v, want that it was interrupted before the load", err)
	}
}
