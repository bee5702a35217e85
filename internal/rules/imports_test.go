package rules

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Import paths that the allow-list names more than once.
const (
	own  = rootPath + "/"
	hdr  = "github.com/HdrHistogram/hdrhistogram-go"
	psu  = "github.com/shirou/gopsutil/v4/..."
	otel = "go.opentelemetry.io/otel/..."
)

// A place says in which of a package's files an import is allowed.
type place string

const (
	anywhere place = "anywhere"
	tests    place = "tests"     // in _test.go files only
	offLinux place = "off Linux" // in files that are not built for Linux
)

// A grant allows one kind of package one import. Patterns end in "/..." as in
// the go command; "..." alone is every package of the root module.
type grant struct {
	from string // package folder
	to   string // import path
	in   place
	why  string
}

// grants is the allow-list of the root module. The standard library is allowed
// everywhere but for the packages in guarded; anything else needs a line here.
// No line lets one leaf import another or a reader import a leaf: that is what
// keeps each of them usable alone.
var grants = []grant{
	{"probe", hdr, anywhere, "a snapshot of a Recorder is a real Histogram of this package"},
	{"probe", own + "internal/callsite", anywhere, "attribution by call chain, apart from the contract for its assembly"},

	{"lag", own + "probe", anywhere, "a leaf implements the contract"},
	{"sqlitetrace", own + "probe", anywhere, "a leaf implements the contract"},
	{"sqlitetrace", own + "internal/callsite", anywhere, "the line of a statement, where each is counted by itself"},
	{"sqlitetrace", own + "internal/sqlplan", anywhere, "the plan of a statement before it runs, to find full scans"},
	{"sqlitetrace", own + "internal/sqltext", anywhere, "what a statement's text says of it, and the text as people may see it"},
	{"internal/sqlplan", own + "internal/sqltext", anywhere, "a text that SQLite takes for one statement, and the names in it"},
	{"internal/callertest", own + "probe", anywhere, "it asks who calls, as a probe does"},
	{"fsstat", own + "probe", anywhere, "a leaf implements the contract"},
	{"cgroup", own + "probe", anywhere, "a leaf implements the contract"},
	{"lag", own + "internal/proc", anywhere, "schedstat, pressure and steal, to name a stall's cause"},
	{"fsstat", own + "internal/proc", anywhere, "the process's own I/O counters, to tell what it did not see"},
	{"fsstat/fshttp", own + "fsstat", anywhere, "it serves files through that leaf's probe"},
	{"fsstat/fsstattest", own + "fsstat", anywhere, "it compares what that leaf's probe counted with the test binary's log"},
	{"fsstat/fsstattest", own + "probe", anywhere, "it says what is not supported as a probe does"},
	{"fsstat/fsstattest", "flag", anywhere, "it sets the test binary's own flag, and adds none"},
	{"fsstat/fshttp", "net/http", anywhere, "a package apart, so that only programs with a server link one"},
	{"cgroup", own + "internal/proc", anywhere, "the files of the process and of its cgroup"},
	{"cgroup", psu, offLinux, "RSS and CPU time where the kernel has no files for them"},
	{"lag", own + "internal/inject", tests, "stalls of a known cause"},
	{"lag", psu, offLinux, "the host's load where the kernel has no files for it"},

	{"probe/...", own + "probe", anywhere, "a reader works from the contract alone"},
	{"probe/report", hdr, anywhere, "the report stores distributions in this package's V2 encoding"},
	{"probe/report", own + "internal/proc", anywhere, "the host's load, steal and pressure"},
	{"probe/report", own + "internal/cpuprof", anywhere, "CPU time by function and label, from the runtime's own profile"},
	{"probe/report", psu, anywhere, "facts of the host: CPU model, kernel, file system"},
	{"probe/report", "flag", anywhere, "conditions read the flags of a set that the program made; none is added"},
	{"probe/probetest", "testing", anywhere, "it adapts testing.B and testing.TB"},
	{"probe/probetest", "flag", anywhere, "it looks at the flags of package testing; Main adds -update to a test binary"},
	{"probe/probetest", own + "internal/proc", anywhere, "what else the host does, before a time is held against the program"},
	{"probe/probetest", own + "internal/growth", anywhere, "the verdict on growth, which a command measures the errors of"},
	{"probe/otelexport", otel, anywhere, "the one exporter to OpenTelemetry"},

	{"cmd/...", own + "probe/...", anywhere, "the command shows and compares reports"},
	{"cmd/...", "flag", anywhere, "a command has flags"},
	{"cmd/...", "log", anywhere, "a command may say why it fails"},

	{"...", "github.com/google/go-cmp/cmp/...", tests, "the one helper of our tests: it shows what differs"},
	{"...", own + "internal/callertest", tests, "code that stands between a service and a probe"},
	{"...", own + "internal/proc/proctest", tests, "fixtures that stand in for a kernel"},
	{"...", own + "probe/probetest", tests, "the conformance kit is run over every probe"},
}

// guarded are packages of the standard library that need a grant outside tests.
var guarded = map[string]string{
	"C":        "a probe must build without a C compiler",
	"expvar":   "it registers in a global table and serves HTTP",
	"flag":     "a library must not add flags to a program",
	"log":      "a library returns errors and events; it does not log",
	"log/slog": "a library returns errors and events; it does not log",
	"net/http": "it would double the size of a program that has no server",
	"testing":  "it would put test flags and code into a program",
}

// checkImports holds every import of the root module against grants. It looks
// at all files, whatever system they are for, since a stub can break the rules
// as well as the real thing. The examples must get by with what is public:
// they show what a user can write.
func checkImports(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		for _, f := range p.files {
			for _, spec := range f.ast.Imports {
				to := strings.Trim(spec.Path.Value, `"`)
				if why := refused(p, f, to); why != "" {
					bad = append(bad, fmt.Sprintf("%s: package %s imports %q on %s: %s; if it must, add a grant with its reason to internal/rules/imports_test.go",
						t.at(spec), p.dir, to, on(f), why))
				}
			}
		}
	}
	return bad
}

// unusedGrants are the lines of the allow-list that nothing needs at present.
func unusedGrants(t *tree) []string {
	var idle []string
	for _, g := range grants {
		used := false
		for _, p := range t.packages {
			for _, f := range p.files {
				used = used || p.module.dir == "." && slices.ContainsFunc(f.ast.Imports, func(s *ast.ImportSpec) bool {
					return g.covers(p.dir, f, strings.Trim(s.Path.Value, `"`))
				})
			}
		}
		if !used {
			idle = append(idle, fmt.Sprintf("nothing uses the grant of %q to %s", g.to, g.from))
		}
	}
	return idle
}

// refused returns why the file f of p may not import to, or "".
func refused(p *pkg, f *source, to string) string {
	if p.module.dir != "." {
		if p.module.dir == "examples" && strings.HasPrefix(to, own+"internal/") {
			return "the examples use only what a user can import"
		}
		return ""
	}
	first, _, _ := strings.Cut(to, "/")
	why, isGuarded := guarded[to]
	switch {
	case !strings.Contains(first, ".") && (!isGuarded || f.isTest()):
		return ""
	case to == own+p.dir && f.isTest():
		return "" // an external test imports what it tests
	case slices.ContainsFunc(grants, func(g grant) bool { return g.covers(p.dir, f, to) }):
		return ""
	case isGuarded:
		return why
	}
	return "not on the allow-list"
}

func (g grant) covers(dir string, f *source, to string) bool {
	inPlace := g.in == anywhere ||
		g.in == tests && f.isTest() ||
		g.in == offLinux && !slices.Contains(f.systems, "linux")
	return inPlace && matches(g.from, dir) && matches(g.to, to)
}

// matches tells whether a path is pattern, or lies below one that ends in /...
func matches(pattern, p string) bool {
	if pattern == "..." {
		return true
	}
	top, below := strings.CutSuffix(pattern, "/...")
	return p == top || below && strings.HasPrefix(p, top+"/")
}

// on names the systems for which a file is built, for a complaint.
func on(f *source) string {
	switch len(f.systems) {
	case 0:
		return "no system"
	case len(systems):
		return "every system"
	}
	return strings.Join(f.systems, ", ")
}
