package rules

import (
	"fmt"
	"strings"
)

// breaks are the ways to break the good repository: each names the rule that
// must notice, and how its complaints start.
var breaks = []struct {
	name  string
	rule  string
	files map[string]string
	want  []string
}{
	{
		"a leaf imports a leaf", "imports",
		map[string]string{"lag/x.go": imports("lag", own+"cgroup")},
		[]string{`lag/x.go:3: package lag imports "github.com/tidestaff/tidestaff/cgroup" on every system: not on the allow-list; if it must, add a grant`},
	},
	{
		"a reader imports a leaf", "imports",
		map[string]string{"probe/probetest/x.go": imports("probetest", own+"lag")},
		[]string{`probe/probetest/x.go:3: package probe/probetest imports "github.com/tidestaff/tidestaff/lag"`},
	},
	{
		"the contract imports a reader", "imports",
		map[string]string{"probe/x.go": imports("probe", own+"probe/report")},
		[]string{`probe/x.go:3: package probe imports "github.com/tidestaff/tidestaff/probe/report"`},
	},
	{
		"gopsutil on Linux", "imports",
		map[string]string{"lag/host_linux.go": imports("lag", "github.com/shirou/gopsutil/v4/load")},
		[]string{`lag/host_linux.go:3: package lag imports "github.com/shirou/gopsutil/v4/load" on linux: not on`},
	},
	{
		"OTel outside the exporter", "imports",
		map[string]string{"lag/x_windows.go": imports("lag", "go.opentelemetry.io/otel/metric")},
		[]string{`lag/x_windows.go:3: package lag imports "go.opentelemetry.io/otel/metric" on windows: not on`},
	},
	{
		"guarded standard packages", "imports",
		map[string]string{"lag/x.go": imports("lag", "net/http", "os", "testing")},
		[]string{`lag/x.go:3: package lag imports "net/http"`, `lag/x.go:5: package lag imports "testing"`},
	},
	{
		"a test library", "imports",
		map[string]string{"lag/x_test.go": imports("lag", "github.com/google/go-cmp/cmp", "github.com/stretchr/testify/assert", "testing")},
		[]string{`lag/x_test.go:4: package lag imports "github.com/stretchr/testify/assert"`},
	},
	{
		"fixtures outside tests", "imports",
		map[string]string{"lag/x.go": imports("lag", own+"internal/proc", own+"internal/proc/proctest")},
		[]string{`lag/x.go:4: package lag imports "github.com/tidestaff/tidestaff/internal/proc/proctest"`},
	},
	{
		"go-cmp outside tests", "imports",
		map[string]string{"lag/x.go": imports("lag", "github.com/google/go-cmp/cmp")},
		[]string{`lag/x.go:3: package lag imports "github.com/google/go-cmp/cmp"`},
	},
	{
		"an example looks inside", "imports",
		map[string]string{"examples/team/x.go": imports("main", own+"internal/proc")},
		[]string{`examples/team/x.go:3: package examples/team imports "github.com/tidestaff/tidestaff/internal/proc" on every system: the examples use only`},
	},
	{
		"no package comment", "package docs",
		map[string]string{"lag/doc.go": "package lag\n"},
		[]string{`lag: 0 package comments, want one that starts with "Package lag"`},
	},
	{
		"two package comments", "package docs",
		map[string]string{"lag/x.go": "// Copyright\npackage lag\n"},
		[]string{`lag/x.go: the package comment does not start with "Package lag"`, `lag: 2 package comments`},
	},
	{
		"a command without a comment", "package docs",
		map[string]string{"examples/team/main.go": "// Package main is one.\npackage main\n"},
		[]string{`examples/team/main.go: the package comment does not start with "Command team"`},
	},
	{
		"a package of tests without a comment", "package docs",
		map[string]string{"internal/peers/hist/h_test.go": "package hist_test\n"},
		[]string{`internal/peers/hist: 0 package comments, want one that starts with "Package hist"`},
	},
	{
		"undocumented exports", "exported docs",
		map[string]string{"probe/probetest/x.go": undocumentedSource},
		[]string{
			"probe/probetest/x.go:3: exported F has no", "probe/probetest/x.go:6: exported G has no",
			"probe/probetest/x.go:8: exported A has no",
			"probe/probetest/x.go:12: exported T has no",
			"probe/probetest/x.go:14: exported T.M has no", "probe/probetest/x.go:18: exported I.Watch has no",
		},
	},
	{
		"an option without its zero value", "exported docs",
		map[string]string{"probe/x.go": "package probe\n\n// OpsOptions are settings.\ntype OpsOptions struct{ Name string; other int }\n",
			"probe/y_test.go": "package probe_test\n\nfunc ExampleOpsOptions() {}\n"},
		[]string{"probe/x.go:4: exported OpsOptions.Name has no"},
	},
	{
		"too many exports", "export count",
		map[string]string{"lag/x.go": manyExports(maxExports - 2)}, // lag has three
		[]string{"lag: 41 exported identifiers, at most 40: C0 C1 "},
	},
	{
		"a long file", "file size",
		map[string]string{"lag/x.go": long},
		[]string{"lag/x.go: 501 lines, at most 500"},
	},
	{
		"init", "init",
		map[string]string{"lag/x.go": "package lag\n\nfunc init() {}\n"},
		[]string{"lag/x.go:3: func init"},
	},
	{
		"root requirements", "requirements",
		map[string]string{"go.mod": "module github.com/tidestaff/tidestaff\n\ngo 1.27\n\ntoolchain go1.27.1\n\n" +
			"require github.com/google/go-cmp v0.8.0\nrequire example.com/driver v1.0.0\n"},
		[]string{
			"go.mod: go 1.27, want 1.26", "go.mod: toolchain go1.27.1: the library's",
			"go.mod: requires github.com/google/go-cmp v0.8.0, want v0.7.0",
			"go.mod: requires example.com/driver v1.0.0, want no direct requirement",
		},
	},
	{
		"a module outside the workspace", "modules",
		map[string]string{"go.work": "go 1.26.3\n\nuse .\nuse ./examples\nuse ./tools\n"},
		[]string{"go.work: go 1.26.3, want", "go.work: uses internal/peers: false, want true", "go.work: uses tools: true, want false"},
	},
	{
		"a nested module astray", "modules",
		map[string]string{"examples/go.mod": "module example.com/other\n\nrequire github.com/tidestaff/tidestaff v0.0.0\n\n" +
			"replace example.com/x => ../x\n"},
		[]string{
			"examples/go.mod: module example.com/other, want github.com/tidestaff/tidestaff/examples",
			"examples/go.mod: replace example.com/x => ../x, want only",
			"examples/go.mod: want replace github.com/tidestaff/tidestaff => ..",
		},
	},
	{
		"types that no Example uses", "examples",
		map[string]string{"probe/example_test.go": "package probe_test\n\nfunc helper() { _ = probe.Gauge }\n\nfunc Example() {}\n",
			"lag/example_test.go": "package lag_test\n\nfunc Example() { lag.New(nil) }\n"},
		[]string{"probe/probe.go:6: no Example uses type probe.Kind", "probe/probe.go:15: no Example uses type probe.Window"},
	},
}

// imports is a source file that imports paths, the first on line 3.
func imports(pkg string, paths ...string) string {
	return fmt.Sprintf("package %s\n\nimport _ \"%s\"\n", pkg, strings.Join(paths, "\"\nimport _ \""))
}

// undocumentedSource exports things with no comment, or with one about
// something else, beside things that need none.
const undocumentedSource = `package probetest

func F() {}

// Does something.
func G() {}

const A = 1

const B = 2 // with a comment of its own

type T struct{ Field int }

func (*T) M() {}

// An I is documented, its method is not.
type I interface {
	Watch()
	hidden()
}

type inner struct{}

func (inner) M() {}
`

func manyExports(n int) string {
	var b strings.Builder
	b.WriteString("package lag\n\n// An enumeration counts with its type.\nconst (\n\tP1 Options = 1\n\tP2\n)\n\n// Many constants.\nconst (\n")
	for i := range n {
		fmt.Fprintf(&b, "\tC%d = %d\n", i, i)
	}
	return b.String() + ")\n"
}
