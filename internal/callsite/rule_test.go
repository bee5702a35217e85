package callsite

import (
	"strings"
	"testing"
)

// chains are chains, innermost function first, and what they say.
var chains = []struct {
	name         string
	chain        string // words
	method, role string
}{
	{"helper of a store",
		`database/sql.(*DB).QueryContext app/store.queryAll app/store.(*Store).queryOne app/store.(*Store).Get
			app/api.(*API).get net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve`,
		"(*Store).Get", "request"},
	{"one package for all",
		"database/sql.(*DB).QueryContext main.(*Store).Get main.(*server).ServeHTTP net/http.(*conn).serve",
		"(*Store).Get", "request"},
	{"a plain function between two types of one package",
		"database/sql.(*DB).QueryContext main.(*Store).Get main.render main.(*server).ServeHTTP net/http.(*conn).serve",
		"(*Store).Get", "request"},
	{"outermost exported of many methods",
		"database/sql.(*DB).QueryContext app.(*Store).query app.(*Store).Get app.(*Store).GetAll app.(*Store).refresh app.(*loop).Run app.Start.func1",
		"(*Store).GetAll", "background:Start"},
	{"nothing exported",
		"database/sql.(*DB).QueryContext app.(*store).query app.(*store).refresh app.loop",
		"(*store).query", "background:loop"},
	{"pointer and value receivers are one type",
		"database/sql.(*DB).Query app.(*Users).rows app.Users.List app.main runtime.main",
		"Users.List", "main"},
	{"through a helper that calls back",
		"database/sql.(*Tx).Exec app.(*Store).put app.(*Store).Save.func1 app.inTx app.(*Store).Save app/api.(*API).Put net/http.(*http2serverConn).runHandler",
		"(*Store).Save", "request"},
	{"through packages that call back",
		"database/sql.(*DB).Query app.(*Store).load sync.(*Once).doSlow sync.(*Once).Do app.(*Store).Get slices.SortFunc[...] app.(*Store).Sorted app/api.Serve time.goFunc",
		"(*Store).Sorted", "timer"},
	{"through sqlx and gorm",
		`database/sql.(*DB).Query github.com/jmoiron/sqlx.(*DB).Select gorm.io/gorm/callbacks.Query gorm.io/gorm.(*DB).Find
			app.(*Users).List app.loop app.Start.func1`,
		"(*Users).List", "background:Start"},
	{"through ent, bun, squirrel",
		`entgo.io/ent/dialect/sql.Conn.Query github.com/uptrace/bun.(*SelectQuery).Scan github.com/Masterminds/squirrel.QueryWith
			app.(*Users).List app.main runtime.main`,
		"(*Users).List", "main"},
	{"through a migration of ent's",
		"database/sql.(*DB).QueryContext ariga.io/atlas/sql/sqlite.(*inspect).InspectSchema entgo.io/ent/dialect/sql/schema.(*Atlas).create app.(*Users).Migrate app.main runtime.main",
		"(*Users).Migrate", "main"},
	{"a similar path is another package",
		"database/sql.(*DB).Query github.com/jmoiron/sqlxtra.(*DB).Select app.(*Users).List app.main runtime.main",
		"(*DB).Select", "main"},
	{"sqlc's queries over a shim",
		`database/sql.(*DB).QueryRowContext app/db.(*replicas).pick app/db.(*logged).QueryRowContext app/db.(*Queries).GetUser
			app/api.(*API).get net/http.(*conn).serve`,
		"(*Queries).GetUser", "request"},
	{"sqlc's queries over shims",
		"database/sql.(*DB).ExecContext app/db.(*retrying).ExecContext.func1 app/retry.Do app/db.(*retrying).ExecContext app/db.logged.ExecContext app/sqlc.(*Queries).PutUser app/api.Put net/http.(*conn).serve",
		"(*Queries).PutUser", "request"},
	{"a shim alone",
		"database/sql.(*DB).ExecContext app/db.(*logged).ExecContext",
		"(*logged).ExecContext", "background:(*logged).ExecContext"},
	{"the list is extended",
		"database/sql.(*DB).Query example.com/gen/ent/user.query example.com/gen/ent.(*UserQuery).All app.(*Users).List app.main runtime.main",
		"(*Users).List", "main"},
	{"functions only",
		"database/sql.(*DB).Exec main.migrate main.main runtime.main",
		"migrate", "main"},
	{"functions only, one exported",
		"database/sql.(*DB).Exec app/store.exec app/store.PutUser app/store.PutUsers app/api.Put net/http.(*conn).serve",
		"PutUser", "request"},
	{"a test's function",
		"database/sql.(*DB).Exec app.setUp app.TestX testing.tRunner",
		"setUp", "test"},
	{"a test alone", "database/sql.(*DB).Exec app.TestX testing.tRunner", "TestX", "test"},
	{"files", "os.ReadFile main.(*cache).refresh time.goFunc", "(*cache).refresh", "timer"},
	{"os/exec is not os", "os.Open os/exec.(*Cmd).Start app.(*Runner).Run app.main runtime.main", "(*Cmd).Start", "main"},
	{"nobody", "database/sql.(*DB).connectionOpener", Unknown, "background:(*DB).connectionOpener"},
	{"empty", "", Unknown, Unknown},
	{"WaitGroup.Go", "os.Open app.(*S).Load app.Start.func1 sync.(*WaitGroup).Go.func1", "(*S).Load", "background:Start"},
	{"errgroup", "os.Open app.(*S).Load golang.org/x/sync/errgroup.(*Group).Go.func1", "(*S).Load", "background:(*S).Load"},
	{"conc", "os.Open app.load app.(*S).Run.func1 github.com/sourcegraph/conc/panics.(*Catcher).Try github.com/sourcegraph/conc.(*WaitGroup).Go.func1", "(*S).Run", "background:(*S).Run"},
	{"a pulled iterator", "os.Open app.(*S).All.func1 iter.Pull[...].func1 runtime.corostart", "(*S).All", "background:(*S).All"},
	{"a launcher's own", "sync.runtime_x", Unknown, "background:runtime_x"},
	{"gRPC", "os.Open app.(*S).Load google.golang.org/grpc.(*Server).serveStreams.func2.1", "(*S).Load", "request"},
	{"a benchmark", "os.Open app.(*S).Load app.BenchmarkX testing.(*B).runN testing.(*B).launch", "(*S).Load", "test"},
}

func TestMethodAndRole(t *testing.T) {
	list := between{"example.com/gen/ent"}
	for _, c := range chains {
		chain := strings.Fields(c.chain)
		if m, r := list.methodOf(chain), roleOf(chain); m != c.method || r != c.role {
			t.Errorf("%s: got %q on %q, want %q on %q", c.name, m, r, c.method, c.role)
		}
	}
}
