package callsite

import (
	"slices"
	"strings"
)

// between are import paths beyond the built-in ones, see Options.
type between []string

// ownPath is the module of this package.
const ownPath = "github.com/tidestaff/tidestaff/"

// builtIn are the packages that stand between a service's own code and a
// probe, each with those below it: the probes, wrappers of database/sql, and
// what builds queries.
var builtIn = []string{
	ownPath + "internal/callsite", ownPath + "probe", ownPath + "sqlitetrace", ownPath + "fsstat",
	"database/sql",
	"github.com/jmoiron/sqlx", "gorm.io", "github.com/jinzhu/gorm", "entgo.io", "ariga.io/atlas", "github.com/uptrace/bun",
	"github.com/Masterminds/squirrel", "github.com/doug-martin/goqu", "xorm.io", "github.com/go-gorp/gorp",
	"github.com/stephenafamo/bob", "github.com/volatiletech/sqlboiler", "github.com/aarondl/sqlboiler",
	"github.com/georgysavva/scany", "github.com/blockloop/scan", "github.com/jackc/pgx",
	"github.com/XSAM/otelsql", "go.nhat.io/otelsql", "github.com/ngrok/sqlmw",
}

// standard are packages of the standard library through which services work on
// files and call themselves: they are never the caller, and a method that is
// reached through one of them, such as sync.Once, is still the same method.
// Those below them are not meant: os/exec is not os.
var standard = map[string]bool{
	"os": true, "io": true, "io/fs": true, "bufio": true, "path/filepath": true,
	"runtime": true, "reflect": true, "sync": true, "iter": true, "slices": true, "maps": true, "context": true,
	"runtime/pprof": true, "runtime/trace": true,
}

// shims are the four methods that sqlc's generated code calls. A type of the
// service that has them stands for a database as *sql.DB does: it logs, retries
// or picks a replica, and what calls it is meant; what it calls is its helper.
var shims = map[string]bool{
	"ExecContext": true, "QueryContext": true, "QueryRowContext": true, "PrepareContext": true,
}

func (b between) has(f function) bool {
	return standard[f.pkg] || below(builtIn, f.pkg) || below(b, f.pkg)
}

// below reports whether pkg is one of the paths or lies below one.
func below(paths []string, pkg string) bool {
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(pkg, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// methodOf names the method of a chain, innermost function first: in the first
// package of the service, from the innermost method outwards as long as the
// receiver stays the same, the outermost exported one.
//
// The package alone would not do. A service that is one package has both
// (*Store).Get and the handler (*server).ServeHTTP in it, and the outermost
// exported method would always be the handler, for all that it does. Plain
// functions on the way are passed over, as helpers: (*Store).list, retry,
// (*Store).List is List.
func (b between) methodOf(chain []string) string {
	chain = chain[b.firstOwn(chain):]
	if len(chain) == 0 {
		return Unknown
	}
	pkg := parse(chain[0]).pkg
	var best function // of the methods so far
	for i, name := range chain {
		f := parse(name)
		switch {
		case best.receiver == "" && f.receiver != "" && f.pkg == pkg:
			best = f
		case f.sameType(best):
			if f.exported() {
				best = f
			}
		case f.receiver == "" && f.pkg == pkg, b.has(f):
			// a helper on the way, or a package that calls back
		case best.receiver != "":
			return best.String()
		default:
			return functionOf(chain[:i])
		}
	}
	if best.receiver != "" {
		return best.String()
	}
	return functionOf(chain)
}

// firstOwn is the index of the first function of the service outside of the
// outermost shim, or of the first at all, or len(chain) if there is none.
func (b between) firstOwn(chain []string) int {
	first, outside := len(chain), len(chain)
	for i, name := range chain {
		f := parse(name)
		if b.has(f) {
			continue
		}
		first = min(first, i)
		if f.receiver != "" && shims[f.name] {
			outside = len(chain)
		} else {
			outside = min(outside, i)
		}
	}
	if outside < len(chain) {
		return outside
	}
	return first // a program that calls its shim and nothing else
}

// functionOf names a chain that has plain functions only: by the innermost
// exported one, since those below it are the helpers of many, else by the
// innermost. What the go command runs as a test is exported only for its sake.
func functionOf(chain []string) string {
	first := parse(chain[0])
	for _, name := range chain {
		if f := parse(name); f.pkg == first.pkg && f.exported() && !isTest(f.name) {
			return f.String()
		}
	}
	return first.String()
}

func isTest(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// launchers start goroutines for others: what they call first is the
// goroutine's first function in all but name.
var launchers = []string{"sync", "iter", "golang.org/x/sync/errgroup", "github.com/sourcegraph/conc"}

// roleOf names the kind of goroutine by its first function, the last of chain.
func roleOf(chain []string) string {
	if len(chain) == 0 {
		return Unknown
	}
	root := parse(chain[len(chain)-1])
	for _, name := range slices.Backward(chain) {
		if f := parse(name); !below(launchers, f.pkg) && f != (function{pkg: "runtime", name: "corostart"}) {
			root = f
			break
		}
	}
	switch {
	case root.pkg == "runtime" && root.name == "main":
		return "main"
	case below([]string{"net/http", "google.golang.org/grpc", "golang.org/x/net/http2"}, root.pkg):
		return "request"
	case root.pkg == "testing":
		return "test"
	case root.pkg == "time" && root.name == "goFunc":
		return "timer"
	}
	return "background:" + root.String()
}
