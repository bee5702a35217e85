package rules

import (
	"fmt"
	"path"
	"strings"
)

// pinned are the modules that the library may require directly, at most these
// and at exactly these versions. They are the lowest that pass our tests, so
// that importing one leaf upgrades nothing in a user's build; the nested modules
// test against the newest. Raise one only for something that we need from it.
// OpenTelemetry before v1.32 adds up, for one reader, what it has observed for
// another (TestTwoReaders of probe/otelexport).
var pinned = map[string]string{
	"github.com/HdrHistogram/hdrhistogram-go": "v1.4.0",
	"github.com/google/go-cmp":                "v0.7.0",
	"github.com/shirou/gopsutil/v4":           "v4.24.12",
	"go.opentelemetry.io/otel":                "v1.32.0",
	"go.opentelemetry.io/otel/metric":         "v1.32.0",
	"go.opentelemetry.io/otel/sdk":            "v1.32.0",
	"go.opentelemetry.io/otel/sdk/metric":     "v1.32.0",
}

// goLine is the oldest Go release that we support: the older of the newest two.
const goLine = "1.26"

// outside are the nested modules that go.work leaves out, each with its reason.
var outside = map[string]string{
	"tools": "a workspace has one version of each module, and the tools' must not become the library's",
}

// checkRequirements holds the root go.mod to pinned, and keeps out of it what
// would reach into a user's build or hide what a user gets.
func checkRequirements(t *tree) []string {
	var bad []string
	root := t.moduleOf(".")
	if root == nil || root.path != rootPath {
		return []string{"go.mod: want module " + rootPath}
	}
	for _, d := range root.mod {
		switch d.verb {
		case "module":
		case "go":
			if d.args[0] != goLine {
				bad = append(bad, fmt.Sprintf("go.mod: go %s, want %s: a higher line raises it for every user", d.args[0], goLine))
			}
		case "require":
			if want := pinned[d.args[0]]; !d.indirect && d.args[1] != want {
				if want == "" {
					want = "no direct requirement (see pinned in internal/rules/modules_test.go)"
				}
				bad = append(bad, fmt.Sprintf("go.mod: requires %s %s, want %s", d.args[0], d.args[1], want))
			}
		default:
			bad = append(bad, fmt.Sprintf("go.mod: %s %s: the library's own module has none", d.verb, strings.Join(d.args, " ")))
		}
	}
	return bad
}

// checkModules wants every nested module to be named after its folder, to use
// the library next to it, and to be in go.work, so that `go test work` and
// `go run ./examples/…` work on a fresh clone.
func checkModules(t *tree) []string {
	var bad []string
	inWork := map[string]bool{}
	for _, d := range t.work {
		switch {
		case d.verb == "use":
			inWork[path.Clean(d.args[0])] = true
		case d.verb != "go" || d.args[0] != goLine+".0":
			bad = append(bad, fmt.Sprintf("go.work: %s %s, want only go %s.0 and use", d.verb, strings.Join(d.args, " "), goLine))
		}
	}
	for _, m := range t.modules {
		if _, exempt := outside[m.dir]; inWork[m.dir] == exempt {
			bad = append(bad, fmt.Sprintf("go.work: uses %s: %t, want %t", m.dir, inWork[m.dir], !exempt))
		}
		if m.dir == "." {
			continue
		}
		if want := rootPath + "/" + m.dir; m.path != want {
			bad = append(bad, fmt.Sprintf("%s/go.mod: module %s, want %s", m.dir, m.path, want))
		}
		bad = append(bad, checkReplace(m)...)
	}
	return bad
}

// checkReplace allows a nested module to replace the library by the folder
// above it, and nothing else: any other replacement would not hold for a user.
func checkReplace(m *module) []string {
	var bad []string
	up := strings.TrimSuffix(strings.Repeat("../", strings.Count(m.dir, "/")+1), "/")
	want := rootPath + " => " + up
	requires, replaces := false, false
	for _, d := range m.mod {
		switch line := strings.Join(d.args, " "); {
		case d.verb == "require" && d.args[0] == rootPath:
			requires = true
		case d.verb == "replace" && line == want:
			replaces = true
		case d.verb == "replace":
			bad = append(bad, fmt.Sprintf("%s/go.mod: replace %s, want only %s", m.dir, line, want))
		}
	}
	if requires && !replaces {
		bad = append(bad, fmt.Sprintf("%s/go.mod: want replace %s", m.dir, want))
	}
	return bad
}
