package rules

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rules are all rules that need only the files.
var rules = map[string]func(*tree) []string{
	"imports":       checkImports,
	"package docs":  checkPackageDocs,
	"exported docs": checkExportedDocs,
	"export count":  checkExportCount,
	"file size":     checkFileSize,
	"init":          checkInit,
	"requirements":  checkRequirements,
	"modules":       checkModules,
	"examples":      checkExamples,
}

func TestRepository(t *testing.T) {
	repo, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			for _, bad := range check(repo) {
				t.Error(bad)
			}
		})
	}
	for _, p := range repo.packages {
		t.Log(repo.sizes(p))
	}
	for _, idle := range unusedGrants(repo) {
		t.Log(idle)
	}
}

// good is a repository in which nothing is wrong: a contract, a leaf with a
// file per system, a reader, a command, an example and a package of tests alone.
var good = map[string]string{
	"go.mod": "module github.com/tidestaff/tidestaff\n\ngo 1.26\n\nrequire (\n" +
		"\tgithub.com/google/go-cmp v0.7.0\n\tgithub.com/anyone/indirect v0.1.0 // indirect\n)\n",
	"go.work":         "go 1.26.0\n\nuse (\n\t.\n\t./examples\n\t./internal/peers\n)\n",
	"examples/go.mod": nested("examples", ".."), "internal/peers/go.mod": nested("internal/peers", "../.."),
	"tools/go.mod": "module github.com/tidestaff/tidestaff/tools\n\ngo 1.26\n\ntool example.com/lint\n",

	"probe/doc.go": "// Package probe is the contract.\npackage probe\n",
	"probe/probe.go": `package probe

import hdr "github.com/HdrHistogram/hdrhistogram-go"

// A Kind is a kind.
type Kind int

// The kinds.
const (
	Counter Kind = iota
	Gauge
)

// Window is a window.
type Window struct{ H *hdr.Histogram }

// Close closes it.
func (*Window) Close() {}
`,
	"probe/example_test.go": "package probe_test\n\nimport \"github.com/tidestaff/tidestaff/probe\"\n\n" +
		"func ExampleWindow() { var w probe.Window; w.Close(); _ = probe.Gauge }\n",
	"lag/doc.go": "// Package lag measures.\npackage lag\n",
	"lag/probe.go": `package lag

import "github.com/tidestaff/tidestaff/probe"

// Options are the settings.
type Options struct {
	Name string // if empty, "lag"
}

// A Probe measures.
type Probe struct{ window probe.Window }

// New makes one.
func New(Options) *Probe { return nil }
`,
	"lag/host_other.go":     "//go:build !linux\n\npackage lag\n\nimport _ \"github.com/shirou/gopsutil/v4/load\"\n",
	"lag/example_test.go":   "package lag_test\n\nimport \"github.com/tidestaff/tidestaff/lag\"\n\nfunc Example() { lag.New(lag.Options{}) }\n",
	"lag/testdata/bad.go":   "this is not Go",
	"probe/probetest/p.go":  "// Package probetest adapts.\npackage probetest\n\nimport _ \"testing\"\n",
	"cmd/tidestaff/main.go": "// Command tidestaff shows.\npackage main\n\nimport _ \"flag\"\n\nfunc init() {}\nfunc main() {}\n",
	"examples/team/main.go": "// Command team is one.\npackage main\n\nimport _ \"net/http\"\n\nfunc main() {}\n",
	"internal/peers/hist/h_test.go": "// Package hist compares recorders.\npackage hist\n\n" +
		"import _ \"example.com/rival\"\n",
}

func nested(dir, up string) string {
	return fmt.Sprintf("module %[1]s/%[2]s\n\ngo 1.26\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %[3]s\n", rootPath, dir, up)
}

// repository is good with some files changed, added, or (if empty) taken out.
func repository(changes map[string]string) fs.FS {
	out := fstest.MapFS{}
	for _, files := range []map[string]string{good, changes} {
		for name, text := range files {
			out[name] = &fstest.MapFile{Data: []byte(text)}
			if text == "" {
				delete(out, name)
			}
		}
	}
	return out
}

func TestGoodRepository(t *testing.T) {
	repo, err := load(repository(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range rules {
		if got := check(repo); got != nil {
			t.Errorf("%s: got %q, want no complaint", name, got)
		}
	}
}

// TestEachRuleCanFail breaks one thing at a time and wants the one rule that
// covers it to say so, where it is, and the other rules to stay silent.
func TestEachRuleCanFail(t *testing.T) {
	for _, tc := range breaks {
		t.Run(tc.name, func(t *testing.T) {
			repo, err := load(repository(tc.files))
			if err != nil {
				t.Fatal(err)
			}
			for name, check := range rules {
				var want []string
				if name == tc.rule {
					want = tc.want
				}
				if diff := cmp.Diff(want, starts(check(repo), want)); diff != "" {
					t.Errorf("rule %q (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// starts cuts each of got to the length of its fellow in want, so that a case
// spells out only as much of a complaint as it is about.
func starts(got, want []string) []string {
	for i := range min(len(got), len(want)) {
		got[i] = got[i][:min(len(got[i]), len(want[i]))]
	}
	return got
}

func TestPercentile90(t *testing.T) {
	for _, tc := range []struct {
		n    []int
		want int
	}{{nil, 0}, {[]int{7}, 7}, {[]int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 9}, {[]int{1, 2, 3}, 3}} {
		if got := percentile90(tc.n); got != tc.want {
			t.Errorf("percentile90(%v): got %d, want %d", tc.n, got, tc.want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"probe", "probe", true}, {"probe", "probe/report", false},
		{"probe/...", "probe", true}, {"probe/...", "probe/report", true}, {"probe/...", "probetest", false},
		{"...", "anything/at/all", true},
	} {
		if got := matches(tc.pattern, tc.path); got != tc.want {
			t.Errorf("matches(%q, %q): got %t, want %t", tc.pattern, tc.path, got, tc.want)
		}
	}
}

func TestLoadRejects(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"syntax":    {"lag/x.go": "package lag\n\nfunc {\n"},
		"no module": {"go.mod": ""},
	} {
		if _, err := load(repository(files)); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

// long is a source file one line over the limit.
var long = "package lag\n" + strings.Repeat("\n", maxLines)
