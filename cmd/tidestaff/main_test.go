package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

var queries = &probe.Desc{Name: "x.queries", Unit: "{query}", Kind: probe.KindCounter,
	Bench: []probe.Bench{{Unit: "queries/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}

// file writes a report of one operation with n queries, at most 10 of which are
// wanted, beside a part without a benchmark's metrics.
func file(t *testing.T, dir, name string, n float64) string {
	t.Helper()
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	server := report.Of(&probe.Reading{Start: start, End: start.Add(time.Second),
		Metrics: []probe.Metric{{Desc: queries, Value: n}, {Desc: &probe.Desc{Name: "x.plain", Unit: "{thing}", Kind: probe.KindCounter}, Value: n}}})
	server.Name, server.Operations = "server", 1
	server.AtMost(report.Row{Label: "queries", Metric: "x.queries"}, 10)
	idle := report.Of(&probe.Reading{Start: start, End: start})
	idle.Name = "idle"
	path := filepath.Join(dir, name)
	if err := report.Join(strings.TrimSuffix(name, ".json"), server, idle).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	eight, nine, many := file(t, dir, "eight.json", 8), file(t, dir, "nine.json", 9), file(t, dir, "many.json", 11)
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, tt := range []struct {
		args   string
		status int
		stdout string // in it
		stderr string // all of it begins with it, after "tidestaff"
	}{
		{"", 2, "", " shows and compares"},
		{"help", 0, "tidestaff compare", ""},
		{"show -h", 0, "-exclude file=reason", ""},
		{"sho", 2, "", `: there is no command "sho"`},

		{"show EIGHT", 0, "≤ 10      8  pass", ""},
		{"show MANY", 1, "fail", ""},
		{"show -md EIGHT", 0, "| server: queries | ≤ 10 | 8 | pass |", ""},
		{"show -html EIGHT", 0, "<title>eight, ", ""},
		{"show -html -md EIGHT", 2, "", " show: -md and -html: one of them"},
		{"show -html -bench EIGHT", 2, "", " show: -bench is a form of its own"},
		{"show -bench EIGHT#server", 0, "BenchmarkServer 1 8 queries/op\n", ""},
		{"show -name both EIGHT NINE", 0, "both, ", ""},
		{"show EIGHT NINE", 0, "8, 9", ""},
		{"show -exclude MANY=a_backup EIGHT MANY", 0, "a_backup", ""},
		{"show -exclude NINE=x EIGHT", 2, "", " show: -exclude NINE: it is not one of the reports"},
		{"show -exclude NINE EIGHT", 2, "", ` show: invalid value "NINE" for flag -exclude: want file=reason`},
		{"show", 2, "", " show: no report is named"},
		{"show -nope EIGHT", 2, "", " show: flag provided but not defined: -nope"},
		{"show EIGHT -md", 2, "", " show: flag -md stands behind the reports"},
		{"show DIR/none.json", 2, "", " show: report: open DIR/none.json:"},
		{"show BROKEN", 2, "", " show: report: BROKEN: byte 1: unexpected end of JSON"},
		{"show EIGHT#load", 2, "", ` show: EIGHT: there is no part "load" in it, but "server", "idle"`},
		{"show -o DIR/no/out EIGHT", 2, "", " show: open DIR/no/out:"},
		{"show -o OUT EIGHT", 0, "", ""},

		{"compare EIGHT EIGHT", 0, "0 worse, 0 improved, 0 unclear, 0 not comparable, 1 same", ""},
		{"compare EIGHT NINE", 1, "worse    counted exactly", ""},
		{"compare NINE EIGHT", 0, "improved  counted exactly", ""},
		{"compare NINE -- EIGHT EIGHT", 0, "eight (2 runs)", ""},
		{"compare -md EIGHT NINE", 1, "| worse | counted exactly |", ""},
		{"compare -html EIGHT NINE", 1, "bad\">worse</td>", ""},
		{"compare -all EIGHT EIGHT", 0, "same", ""},
		{"compare EIGHT#server NINE#server", 1, "x.queries per operation", ""},
		{"compare EIGHT#idle NINE#idle", 2, "", " compare: nothing to compare"},
		{"compare NINE MANY", 1, "worse", ""},
		{"compare -metric x.plain EIGHT MANY", 1, "x.plain", ""}, // a target of many.json failed
		{"compare -metric x.plain -higher x.plain EIGHT NINE", 0, "improved", ""},
		{"compare -metric x.plain EIGHT NINE", 0, "1 unclear", ""},
		{"compare -strict -metric x.plain EIGHT NINE", 3, "1 unclear", ""},
		{"compare -strict EIGHT NINE", 1, "worse", ""},
		{"compare -strict NINE EIGHT", 0, "improved", ""},
		{"compare -lower x.plain -higher x.plain EIGHT NINE", 2, "", " compare: invalid value"},
		{"compare -floor -1 EIGHT NINE", 2, "", " compare: -alpha is from 0 to 1"},
		{"compare EIGHT", 2, "", " compare: 1 reports and no --"},
		{"compare EIGHT NINE MANY", 2, "", " compare: 3 reports and no --"},
		{"compare EIGHT --", 2, "", " compare: want some reports on both sides of one --"},
		{"compare EIGHT BROKEN", 2, "", " compare: report: BROKEN:"},

		{"repeat EIGHT", 2, "", " repeat: -o is missing"},
		{"repeat -o OUT", 2, "", " repeat: no report is named"},
		{"repeat -o OUT -name three -exclude NINE=x EIGHT NINE MANY", 0, "", ""},
		{"show OUT", 1, "three, ", ""},

		{"merge -o DIR/fleet -name fleet EIGHT NINE", 0, "", ""},
		{"show DIR/fleet", 0, "replicas 2", ""},
		{"show DIR/fleet#server", 0, "x.queries     17", ""},
		{"merge EIGHT", 2, "", " merge: -o is missing"},
		{"merge -o DIR/fleet EIGHT OUT", 2, "", " merge: report: merge: three: these are repeats of a variant"},
		{"merge -o DIR/fleet EIGHT BROKEN", 2, "", " merge: report: BROKEN:"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			names := strings.NewReplacer("EIGHT", eight, "NINE", nine, "MANY", many, "BROKEN", broken, "OUT", out, "DIR", dir)
			var stdout, stderr bytes.Buffer
			status := run(strings.Fields(names.Replace(tt.args)), &stdout, &stderr)
			if status != tt.status || !strings.Contains(stdout.String(), tt.stdout) {
				t.Errorf("got status %d and\n%s\nwant status %d and %q; stderr %s", status, stdout.String(), tt.status, tt.stdout, stderr.String())
			}
			want := ""
			if tt.stderr != "" {
				want = "tidestaff" + names.Replace(tt.stderr)
			}
			if !strings.HasPrefix(stderr.String(), want) || want == "" && stderr.Len() > 0 {
				t.Errorf("got errors %q, want %q", stderr.String(), want)
			}
		})
	}
}

// A file whose name has a hash in it is a file.
func TestHash(t *testing.T) {
	path := file(t, t.TempDir(), "run#server.json", 8)
	if status := run([]string{"show", path}, new(bytes.Buffer), new(bytes.Buffer)); status != statusFine {
		t.Errorf("got status %d, want %d", status, statusFine)
	}
}
