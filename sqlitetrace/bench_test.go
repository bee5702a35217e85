package sqlitetrace_test

import (
	"context"
	"database/sql"
	"testing"
)

// variants are what each benchmark compares. What is over "bare" is the
// wrapper's.
var variants = []struct {
	name             string
	wrapped, watched bool
}{{"bare", false, false}, {"unwatched", true, false}, {"watched", true, true}}

func bench(b *testing.B, ctx context.Context, op func(*sql.DB, context.Context)) {
	for _, v := range variants {
		b.Run(v.name, func(b *testing.B) {
			db := setup(b, v.wrapped, v.watched)
			b.ReportAllocs()
			for b.Loop() {
				op(db, ctx)
			}
		})
	}
}

func BenchmarkExec(b *testing.B) {
	bench(b, labelled("(*Store).Put"), func(db *sql.DB, ctx context.Context) { db.ExecContext(ctx, "plain") })
}

// BenchmarkInsert also takes the write lock, on the ledger.
func BenchmarkInsert(b *testing.B) {
	bench(b, labelled("(*Store).Put"), func(db *sql.DB, ctx context.Context) {
		db.ExecContext(ctx, "INSERT INTO item VALUES (?)")
	})
}

// BenchmarkExecUnlabelled finds method and role by the call chain.
func BenchmarkExecUnlabelled(b *testing.B) {
	bench(b, context.Background(), func(db *sql.DB, ctx context.Context) { db.ExecContext(ctx, "plain") })
}

func BenchmarkQueryRow(b *testing.B) {
	var n int
	bench(b, labelled("(*Store).Get"), func(db *sql.DB, ctx context.Context) {
		db.QueryRowContext(ctx, "rows 1").Scan(&n)
	})
}

func BenchmarkQuery100(b *testing.B) {
	bench(b, labelled("(*Store).List"), func(db *sql.DB, ctx context.Context) { read(b, db, ctx, "rows 100") })
}

func BenchmarkTransaction(b *testing.B) {
	bench(b, labelled("(*Store).Save"), func(db *sql.DB, ctx context.Context) {
		if tx, err := db.BeginTx(ctx, nil); err == nil {
			tx.Commit()
		}
	})
}
