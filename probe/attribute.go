package probe

import (
	"context"
	"runtime"
	"strings"
)

// LabelOf says who does the work now: each of method and role is taken from
// ctx, else from the goroutine's label (see [Do]), else from the call chain.
// ctx may be nil.
//
// From the call chain, the method is found in the package that called into
// database/sql, package os or a wrapper of them (helpers like sqlx are skipped):
// from the innermost method outwards as long as the receiver stays the same,
// the outermost exported one, so "(*Store).Get" and not "(*Store).queryOne".
// The role follows from the goroutine's first function: "request" under net/http
// and gRPC, "test" under package testing, "main", "timer", else "background:"
// and that function's name.
//
// At most 4,096 call chains are told apart; later ones are "(other)".
//
// A complete label in ctx costs a few nanoseconds. The call chain costs about
// a microsecond: runtime.Callers, then one look-up by the chain.
func LabelOf(ctx context.Context) *Label {
	known := contextLabel(ctx)
	if known != nil && known.Method != "" && known.Role != "" {
		return known
	}
	if g := goroutineLabel(); g != nil {
		switch {
		case known == nil:
			known = g
		case known.Role == "" || known.Method == "":
			known = intern(orElse(known.Method, g.Method), orElse(known.Role, g.Role))
		}
		if known.Method != "" && known.Role != "" {
			return known
		}
	}
	return chainLabel(known)
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// maxFrames is how much of a call chain tells it from others.
const maxFrames = 64

// A chainKey is a call chain (its hash) and what was known without it.
type chainKey struct {
	hash  uint64
	known *Label
}

// An attribution is what a call chain says, kept for its next occurrence.
type attribution struct{ label *Label }

// chains remembers the decisions. Beyond its limit, chains are all "(other)".
var chains = NewTable(4096, chainKey{}, func(k chainKey) *attribution {
	if k.hash == 0 {
		return &attribution{intern(otherName, otherName)}
	}
	method, role := decide()
	if k.known != nil {
		method, role = orElse(k.known.Method, method), orElse(k.known.Role, role)
	}
	return &attribution{intern(method, role)}
})

// chainLabel completes what is known from the call chain.
func chainLabel(known *Label) *Label {
	var pcs [maxFrames]uintptr
	n := runtime.Callers(3, pcs[:]) // 3: Callers, chainLabel, LabelOf
	hash := uint64(n)
	for _, pc := range pcs[:n] {
		hash = (hash ^ uint64(pc)) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	l := chains.Get(chainKey{hash | 1, known}).label
	if known != nil && l.Method == otherName { // beyond the limit: keep what is known
		l = intern(orElse(known.Method, l.Method), orElse(known.Role, l.Role))
	}
	return l
}

// decide reads the calling goroutine's whole chain. It runs once per chain.
func decide() (method, role string) {
	pcs := make([]uintptr, 1024)
	n := runtime.Callers(2, pcs)
	frames := runtime.CallersFrames(pcs[:n])
	var all []function
	for {
		f, more := frames.Next()
		if f.Function != "" && f.Function != "runtime.goexit" {
			all = append(all, parseFunction(f.Function))
		}
		if !more {
			break
		}
	}
	return methodOf(all), roleOf(all)
}

// A function is the name of a frame's function, taken apart.
type function struct {
	pkg      string // import path
	receiver string // "(*Store)" or "Store"; "" for a plain function
	name     string // without closures and type arguments
}

// parseFunction takes apart what the runtime calls a function, for example
// "example.com/app/store.(*Store[...]).Get.func1".
func parseFunction(full string) function {
	slash := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[slash:], '.')
	if dot < 0 {
		return function{name: full}
	}
	f := function{pkg: full[:slash+dot]}
	rest := strings.ReplaceAll(full[slash+dot+1:], "[...]", "")
	rest = strings.TrimSuffix(rest, "-fm")
	parts := strings.Split(rest, ".")
	f.name = parts[0]
	if len(parts) > 1 && !isClosure(parts[1]) {
		f.receiver, f.name = parts[0], parts[1]
	}
	return f
}

// isClosure recognises the runtime's names of function literals and of wrapped
// calls: func1, gowrap2, deferwrap1, or a bare number.
func isClosure(s string) bool {
	s = strings.TrimRight(s, "0123456789")
	return s == "" || s == "func" || s == "gowrap" || s == "deferwrap" || strings.HasSuffix(s, "-range")
}

func (f function) String() string {
	if f.receiver != "" {
		return f.receiver + "." + f.name
	}
	return f.name
}

func (f function) exported() bool { return f.name != "" && f.name[0] >= 'A' && f.name[0] <= 'Z' }

// between are packages that stand between a service's own code and a probe.
var between = []string{
	"database/sql", "os", "io", "io/fs", "bufio", "runtime", "reflect",
	"github.com/tidestaff/tidestaff/probe", "github.com/tidestaff/tidestaff/sqlitetrace",
	"github.com/tidestaff/tidestaff/fsstat",
	"github.com/jmoiron/sqlx", "gorm.io", "entgo.io", "github.com/uptrace/bun", "github.com/Masterminds/squirrel",
}

func isBetween(pkg string) bool {
	for _, b := range between {
		if pkg == b || strings.HasPrefix(pkg, b+"/") && b != "os" && b != "io" && b != "runtime" {
			return true
		}
	}
	return false
}

// methodOf applies the naming rule of LabelOf to a chain, innermost first.
func methodOf(chain []function) string {
	i := 0
	for i < len(chain) && isBetween(chain[i].pkg) {
		i++
	}
	if i == len(chain) {
		return "(unknown)"
	}
	first := chain[i]
	for i < len(chain) && chain[i].pkg == first.pkg && chain[i].receiver == "" {
		i++
	}
	if i == len(chain) || chain[i].pkg != first.pkg {
		return first.String()
	}
	best := chain[i]
	for _, f := range chain[i:] {
		if f.pkg != best.pkg || f.receiver != best.receiver {
			break
		}
		if f.exported() {
			best = f
		}
	}
	return best.String()
}

// roleOf names the kind of goroutine by its first function, the last of chain.
func roleOf(chain []function) string {
	if len(chain) == 0 {
		return "(unknown)"
	}
	root := chain[len(chain)-1]
	switch {
	case root.pkg == "runtime" && root.name == "main":
		return "main"
	case root.pkg == "net/http", strings.HasPrefix(root.pkg, "google.golang.org/grpc"), strings.HasPrefix(root.pkg, "golang.org/x/net/http2"):
		return "request"
	case root.pkg == "testing":
		return "test"
	case root.pkg == "time" && root.name == "goFunc":
		return "timer"
	}
	return "background:" + root.String()
}
