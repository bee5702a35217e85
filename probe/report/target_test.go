package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

func TestTargets(t *testing.T) {
	quiet, loud := 0.01, 0.5
	for _, tt := range []struct {
		name   string
		others *float64
		row    Row
		op     string
		bound  float64
		want   Outcome
		reason string
	}{
		{"within", &quiet, Row{Metric: "process.cpu.time"}, "<=", 8, Pass, ""},
		{"at the bound", &quiet, Row{Metric: "tidestaff.rows"}, "<=", 20_000, Pass, ""},
		{"above", &quiet, Row{Metric: "tidestaff.rows"}, "<=", 19_999, Fail, "by 1"},
		{"exactly", &quiet, Row{Metric: "tidestaff.rows"}, "==", 20_000, Pass, ""},
		{"not exactly", &loud, Row{Metric: "tidestaff.rows"}, "==", 20_001, Fail, "by 1"},
		{"at least", &quiet, Row{Metric: "tidestaff.rows"}, ">=", 20_001, Fail, "by 1"},
		{"a time on a quiet machine", &quiet, Row{Metric: "tidestaff.lag.total", Stat: "p95"}, "<=", 0.1, Fail, "by 130 ms"},
		{"a time on a busy one", &loud, Row{Metric: "tidestaff.lag.total", Stat: "p95"}, "<=", 0.1, NotJudged, "noise: others used 50 % of the CPUs"},
		{"a time that is well all the same", &loud, Row{Metric: "tidestaff.lag.total", Stat: "p95"}, "<=", 1, Pass, ""},
		{"a time on who knows what", nil, Row{Metric: "tidestaff.lag.total", Stat: "p50"}, "<=", 0.1, NotJudged, "noise: how busy the machine was is not known"},
		{"CPU time on a busy one", &loud, Row{Metric: "process.cpu.time"}, "<=", 1, Fail, "by 6.7 s"},
		{"a rate on a busy one", &loud, Row{Metric: "tidestaff.rows", Stat: "rate"}, ">=", 1e6, NotJudged, "noise"},
		{"a computed time", &loud, Row{Value: func(*Report) (float64, string, bool) { return 2, "s", true }}, "<=", 1, NotJudged, "noise"},
		{"a computed count", &loud, Row{Value: func(*Report) (float64, string, bool) { return 2, "{x}", true }}, "<=", 1, Fail, "by 1"},
		{"what could not be computed", &loud, Row{Value: func(*Report) (float64, string, bool) { return 0, "", false }}, "<=", 1, NotMeasured, "it could not be computed"},
		{"too few values", &quiet, Row{Metric: "db.client.operation.duration", Stat: "p99",
			Attrs: []probe.Attr{{Key: "tidestaff.method", Value: "(*Store).Rare"}}}, "<=", 1, NotMeasured, "7 values are too few for p99"},
		{"what is absent", &quiet, Row{Metric: "tidestaff.psi.some"}, "<=", 1, NotMeasured, "open /proc/pressure: no such file"},
		{"what is not there", &quiet, Row{Metric: "no.such"}, "<=", 1, NotMeasured, "there is no no.such"},
		{"no such part", &quiet, Row{Part: "load", Metric: "tidestaff.rows"}, "<=", 1, NotMeasured, `there is no part "load"`},
		{"no bound", &quiet, Row{Metric: "tidestaff.rows"}, "<=", math.NaN(), NotMeasured, "the bound is not a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := sample(t)
			r.Host = Host{OthersCPU: tt.others}
			tt.row.Label = "x"
			got := map[string]func(Row, float64) Outcome{"<=": r.AtMost, ">=": r.AtLeast, "==": r.Exactly}[tt.op](tt.row, tt.bound)
			last := r.Targets[0]
			if got != tt.want || last.Outcome != got || !strings.HasPrefix(last.Reason, tt.reason) || tt.reason == "" && last.Reason != "" {
				t.Errorf("got %q because %q, want %q because %q", got, last.Reason, tt.want, tt.reason)
			}
			if r.Failed() != (tt.want == Fail) || Join("all", r).Failed() != r.Failed() || Repeat("all", r).Failed() != r.Failed() {
				t.Errorf("Failed says %v", r.Failed())
			}
		})
	}
}

// Every run that counts must keep a bound.
func TestTargetsOfRuns(t *testing.T) {
	_, r := repeats(t)
	row := Row{Label: "rows", Part: "after", Metric: "tidestaff.rows"}
	if got := r.AtMost(row, 21_000); got != Pass {
		t.Errorf("got %q, want pass: the run that is excluded has 22,000", got)
	}
	if got := r.AtMost(row, 20_100); got != Fail || r.Targets[1].Reason != "run 2: by 300" {
		t.Errorf("got %q because %q, want a fail of run 2", got, r.Targets[1].Reason)
	}
	r.Runs[0].Parts = nil
	if got := r.AtMost(row, 21_000); got != NotMeasured {
		t.Errorf("got %q, want not measured: one run has no such part", got)
	}
	if u := r.Targets[2].Unit; u != "{row}" {
		t.Errorf("got unit %q, want that of the run which has one", u)
	}
}

func TestTargetsGolden(t *testing.T) {
	server := sample(t)
	server.Name = "server"
	server.AtMost(Row{Label: "CPU | time", Metric: "process.cpu.time"}, 8)
	r := Join("after", server)
	r.AtMost(Row{Label: "lag p95", Part: "server", Metric: "tidestaff.lag.total", Stat: "p95"}, 0.1)
	r.Exactly(Row{Label: "rows", Part: "server", Metric: "tidestaff.rows"}, 19_000)
	r.Unmeasured("100,000 repositories", "there is no object store")
	r.Unmeasured("nothing", "")
	golden(t, "targets.txt", r.WriteTerminal)
	golden(t, "targets.md", r.WriteMarkdown)
}

// A damaged target is named.
func TestReadTargetErrors(t *testing.T) {
	r := sample(t)
	r.AtMost(Row{Label: "rows", Metric: "tidestaff.rows"}, 1)
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	const good = `{"name":"rows","op":"\u003c=","bound":1,"unit":"{row}","values":[20000],"outcome":"fail","reason":"by 19,999"}`
	line := strings.ReplaceAll(b.String(), `"op":"<="`, `"op":"\u003c="`)
	if !strings.Contains(line, good) {
		t.Fatalf("no %s in %s", good, line)
	}
	for bad, want := range map[string]string{
		`{"op":"==","bound":1,"unit":"1","outcome":"pass"}`:                          "targets[0].name: missing",
		`{"name":"x","outcome":"perhaps"}`:                                           `targets[0].outcome: "perhaps" is none`,
		`{"name":"x","op":"~","bound":1,"unit":"1","outcome":"pass"}`:                `targets[0].op: "~" is none`,
		`{"name":"x","op":"==","unit":"1","outcome":"pass"}`:                         "targets[0].bound",
		`{"name":"x","op":"==","bound":1,"unit":"s","outcome":"pass"}`:               "targets[0].unit",
		`{"name":"x","op":"==","bound":1,"unit":"1","outcome":"pass","values":[{}]}`: "targets[0]",
	} {
		_, err := Read(strings.NewReader(strings.Replace(line, good, bad, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", bad, err, want)
		}
	}
}
