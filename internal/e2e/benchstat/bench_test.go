package benchstat

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// The probes of all benchmarks, as a service would wire them.
var (
	sqlp  = sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
	lagp  = lag.New(lag.Options{Interval: 5 * time.Millisecond})
	files = fsstat.New(fsstat.Options{})
	mem   = cgroup.New(cgroup.Options{})
	ops   = new(probe.Ops)
	set   = probe.NewSet(sqlp, lagp, files, mem, ops)
)

// variantVar says which program is measured: "before" or "after" a change. The
// benchmarks are for the tests of this package and skip without it.
const variantVar = "BENCHSTAT_VARIANT"

func TestMain(m *testing.M) { os.Exit(probetest.Main(m, set)) }

func variant(b *testing.B) string {
	v := os.Getenv(variantVar)
	if v == "" {
		b.Skip("only for this package's tests")
	}
	return v
}

// open makes a database of 20 jobs and a file.
func open(b *testing.B) (db *sql.DB, config string) {
	b.Helper()
	db, err := sqlp.Open("sqlite", filepath.Join(b.TempDir(), "jobs.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	for _, s := range []string{"CREATE TABLE jobs (id INTEGER PRIMARY KEY, owner TEXT)", "CREATE TABLE owners (name TEXT)"} {
		if _, err := db.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 20 {
		if _, err := db.Exec("INSERT INTO jobs (owner) VALUES (?)", fmt.Sprint("owner ", i%5)); err != nil {
			b.Fatal(err)
		}
	}
	config = filepath.Join(b.TempDir(), "config")
	if err := os.WriteFile(config, make([]byte, 1000), 0o600); err != nil {
		b.Fatal(err)
	}
	return db, config
}

// list is the operation: before the change it asks for each job on its own, scans
// a table, and reads a file every time.
func list(ctx context.Context, db *sql.DB, config, variant string) error {
	ctx, op := ops.Begin(ctx, "list")
	query := func(q string, args ...any) error {
		rows, err := db.QueryContext(ctx, q, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	var err error
	if variant == "before" {
		for id := 1; id <= 6 && err == nil; id++ {
			err = query("SELECT owner FROM jobs WHERE id = ?", id)
		}
		if err == nil {
			err = query("SELECT * FROM owners")
		}
		if err == nil {
			_, err = files.ReadFile(config)
		}
	} else {
		err = query("SELECT owner FROM jobs WHERE id <= 6")
	}
	op.End(err)
	return err
}

func BenchmarkList(b *testing.B) {
	v := variant(b)
	db, config := open(b)
	probetest.Loop(b, func() {
		if err := list(b.Context(), db, config, v); err != nil {
			b.Fatal(err)
		}
	}, set)
}

func BenchmarkListParallel(b *testing.B) {
	v := variant(b)
	db, config := open(b)
	db.SetMaxOpenConns(1)
	probetest.Parallel(b, func() {
		if err := list(b.Context(), db, config, v); err != nil {
			b.Error(err)
		}
	}, set)
}

// BenchmarkLag is a second long, which is two hundred slots.
func BenchmarkLag(b *testing.B) {
	variant(b)
	op := func() { time.Sleep(5 * time.Millisecond) }
	b.Run("usual", func(b *testing.B) { probetest.Loop(b, op, lagp) })
	b.Run("max", func(b *testing.B) {
		probetest.Bench{Probes: []probe.Probe{lagp}, Units: []string{"p99-lag-ns", "max-lag-ns"}}.Loop(b, op)
	})
}

var kept []byte

// touch makes n bytes resident for a while.
func touch(n int) {
	kept = make([]byte, n)
	for i := 0; i < n; i += 4096 {
		kept[i] = 1
	}
	runtime.KeepAlive(kept)
	kept = nil
}

// BenchmarkMemory: what an earlier benchmark used must not be in a later one's
// peak.
func BenchmarkMemory(b *testing.B) {
	variant(b)
	for _, mib := range []int{1, 200, 2} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			probetest.Bench{Probes: []probe.Probe{mem}, Units: []string{"peak-RSS-bytes"}}.Loop(b, func() { touch(mib << 20) })
		})
	}
}
