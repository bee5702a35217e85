package orms

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// An accounts is a store, written once with each package. None of its methods
// says who it is.
type accounts interface {
	Migrate(ctx context.Context) error
	// Add adds an account, and AddAll all or none of several, in the way in which
	// the package runs a transaction.
	Add(ctx context.Context, name string) error
	AddAll(ctx context.Context, names ...string) error
	// Find finds an account's number, and List all names in their order.
	Find(ctx context.Context, name string) (int64, error)
	List(ctx context.Context) ([]string, error)
	// Rename does it in a transaction that begins and ends in words of the store.
	Rename(ctx context.Context, from, to string) error
	Remove(ctx context.Context, name string) error
}

// stores are how to open each store, and how its type is called.
var stores = []struct {
	name string
	typ  string
	open func(*sql.DB) (accounts, error)
	skip []string
}{
	{"sqlx", "(*sqlxStore)", openSQLX, nil},
	{"sqlx, prepared and named", "(*namedStore)", openNamed, nil},
	{"squirrel", "(*squirrelStore)", openSquirrel, nil},
	{"bun", "(*bunStore)", openBun, nil},
	{"gorm", "(*gormStore)", openGORM, nil},
	{"gorm, prepared", "(*gormStore)", openPreparedGORM, nil},
	{"gorm, by type", "(*typedStore)", openTyped, nil},
	{"ent", "(*entStore)", openEnt, nil},
	{"ent, generated", "(*generatedStore)", openGenerated, []string{"github.com/tidestaff/tidestaff/internal/e2e/orms/gen"}},
}

// use calls every method, some of them twice, when their statements may be
// prepared, and one that fails.
func use(ctx context.Context, s accounts) error {
	for _, name := range []string{"ann", "bob"} {
		if err := s.Add(ctx, name); err != nil {
			return fmt.Errorf("add: %w", err)
		}
	}
	if err := s.AddAll(ctx, "cid", "dan"); err != nil {
		return fmt.Errorf("add all: %w", err)
	}
	if err := s.AddAll(ctx, "eve", "ann"); err == nil {
		return errors.New("add all: want a violated constraint")
	}
	for i, name := range []string{"ann", "bob"} {
		if id, err := s.Find(ctx, name); err != nil || id != int64(i)+1 {
			return fmt.Errorf("find: got %d, %w, want %d", id, err, i+1)
		}
	}
	if err := s.Rename(ctx, "bob", "rob"); err != nil {
		return fmt.Errorf("rename: %w", err)
	}
	if err := s.Remove(ctx, "cid"); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	names, err := s.List(ctx)
	if err != nil || !slices.Equal(names, []string{"ann", "dan", "rob"}) {
		return fmt.Errorf("list: got %q, %w", names, err)
	}
	return nil
}

// A poller uses a store on a goroutine of its own.
type poller struct {
	store accounts
	err   error
}

func (p *poller) poll() { p.err = use(context.Background(), p.store) }

// callers are the goroutines that a store is used on, by their role.
var callers = map[string]func(accounts) error{
	"test": func(s accounts) error { return use(context.Background(), s) },
	"background:(*poller).poll": func(s accounts) error {
		p := &poller{store: s}
		var wg sync.WaitGroup
		wg.Go(p.poll)
		wg.Wait()
		return p.err
	},
	"request": func(s accounts) (err error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { err = use(r.Context(), s) }))
		defer server.Close()
		res, getErr := http.Get(server.URL)
		if getErr != nil {
			return getErr
		}
		res.Body.Close()
		return err
	},
}

// TestStores uses every store on every kind of goroutine. Each statement and each
// transaction belongs to the store's method that has made it.
func TestStores(t *testing.T) {
	for _, s := range stores {
		for role, call := range callers {
			t.Run(s.name+"/"+role, func(t *testing.T) {
				p := sqlitetrace.New(sqlitetrace.Options{SkipPackages: s.skip})
				db, err := p.Open("sqlite", filepath.Join(t.TempDir(), "accounts.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				store, err := s.open(db)
				if err != nil {
					t.Fatal(err)
				}
				if err := store.Migrate(t.Context()); err != nil {
					t.Fatalf("migrate: %v", err)
				}
				w, err := p.Watch()
				if err != nil {
					t.Fatal(err)
				}
				if err := call(store); err != nil {
					t.Fatal(err)
				}
				want := map[string]bool{}
				for _, method := range []string{"Add", "AddAll", "Find", "List", "Remove", "Rename"} {
					want[s.typ+"."+method+" "+role] = true
				}
				r := w.Close()
				if diff := cmp.Diff(sorted(want), whose(r, "tidestaff.db.queries")); diff != "" {
					t.Errorf("statements (-want +got):\n%s", diff)
				}
				transactions := whose(r, "tidestaff.db.transaction.duration")
				for _, method := range []string{"AddAll", "Rename"} {
					if !slices.Contains(transactions, s.typ+"."+method+" "+role) {
						t.Errorf("transactions: got %q, want some of %s", transactions, method)
					}
				}
				for _, who := range whose(r, "") {
					if !want[who] {
						t.Errorf("got something of %q", who)
					}
				}
			})
		}
	}
}

// whose are the methods and roles of a metric's series, or of all that there are.
func whose(r *probe.Reading, name string) []string {
	who := map[string]bool{}
	for _, m := range r.Metrics {
		if method := m.Attr(probe.AttrMethod); method != "" && (name == "" || name == m.Name) {
			who[method+" "+m.Attr(probe.AttrRole)] = true
		}
	}
	return sorted(who)
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// TestMigrations has those packages that make tables by themselves do so.
func TestMigrations(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			p := sqlitetrace.New(sqlitetrace.Options{SkipPackages: s.skip})
			db, err := p.Open("sqlite", filepath.Join(t.TempDir(), "accounts.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			store, err := s.open(db)
			if err != nil {
				t.Fatal(err)
			}
			w, err := p.Watch()
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time nothing is to be done, by other statements
				if err := store.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff([]string{s.typ + ".Migrate test"}, whose(w.Close(), "")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// createAccounts is for the packages that make no tables.
const createAccounts = `CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`
