package orms

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// A sqlxStore uses what most users of sqlx do: Get, Select and transactions.
type sqlxStore struct{ db *sqlx.DB }

func openSQLX(db *sql.DB) (accounts, error) { return &sqlxStore{sqlx.NewDb(db, "sqlite")}, nil }

func (s *sqlxStore) Migrate(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, createAccounts)
	return err
}

func (s *sqlxStore) Add(ctx context.Context, name string) error { return insert(ctx, s.db, name) }

// insert is a helper of several methods, for a database and a transaction.
func insert(ctx context.Context, e sqlx.ExtContext, name string) error {
	_, err := e.ExecContext(ctx, e.Rebind("INSERT INTO accounts (name) VALUES (?)"), name)
	return err
}

func (s *sqlxStore) AddAll(ctx context.Context, names ...string) error {
	return s.inTx(ctx, func(tx *sqlx.Tx) error {
		for _, name := range names {
			if err := insert(ctx, tx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *sqlxStore) inTx(ctx context.Context, f func(*sqlx.Tx) error) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *sqlxStore) Find(ctx context.Context, name string) (id int64, err error) {
	err = s.db.GetContext(ctx, &id, "SELECT id FROM accounts WHERE name = ?", name)
	return id, err
}

// List passes a list to one statement and scans structs in another.
func (s *sqlxStore) List(ctx context.Context) ([]string, error) {
	query, args, err := sqlx.In("SELECT count(*) FROM accounts WHERE id IN (?)", []int{1, 2})
	if err != nil {
		return nil, err
	}
	var n int
	if err := s.db.QueryRowxContext(ctx, query, args...).Scan(&n); err != nil {
		return nil, err
	}
	var all []struct{ Name string }
	if err := s.db.Select(&all, "SELECT name FROM accounts ORDER BY name"); err != nil {
		return nil, err
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, nil
}

func (s *sqlxStore) Rename(ctx context.Context, from, to string) error {
	tx := s.db.MustBegin()
	defer tx.Rollback()
	tx.MustExec("UPDATE accounts SET name = ? WHERE name = ?", to, from)
	return tx.Commit()
}

func (s *sqlxStore) Remove(ctx context.Context, name string) error {
	_, err := s.db.NamedExecContext(ctx, "DELETE FROM accounts WHERE name = :name", map[string]any{"name": name})
	return err
}

// A namedStore prepares its statements, by name where sqlx can.
type namedStore struct{ db *sqlx.DB }

func openNamed(db *sql.DB) (accounts, error) { return &namedStore{sqlx.NewDb(db, "sqlite")}, nil }

func (s *namedStore) Migrate(ctx context.Context) error {
	_, err := sqlx.LoadFileContext(ctx, s.db, "testdata/accounts.sql")
	return err
}

func (s *namedStore) Add(ctx context.Context, name string) error {
	stmt, err := s.db.PrepareNamedContext(ctx, "INSERT INTO accounts (name) VALUES (:name)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	_, err = stmt.ExecContext(ctx, map[string]any{"name": name})
	return err
}

// AddAll runs one statement in a transaction that was prepared outside of it.
func (s *namedStore) AddAll(ctx context.Context, names ...string) error {
	stmt, err := s.db.PreparexContext(ctx, "INSERT INTO accounts (name) VALUES (?)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, name := range names {
		if _, err := tx.StmtxContext(ctx, stmt).ExecContext(ctx, name); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *namedStore) Find(ctx context.Context, name string) (id int64, err error) {
	stmt, err := s.db.PrepareNamedContext(ctx, "SELECT id FROM accounts WHERE name = :name")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	err = stmt.GetContext(ctx, &id, map[string]any{"name": name})
	return id, err
}

func (s *namedStore) List(ctx context.Context) (names []string, err error) {
	rows, err := s.db.NamedQueryContext(ctx, "SELECT name FROM accounts WHERE id > :least ORDER BY name", map[string]any{"least": 0})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row := map[string]any{}
		if err := rows.MapScan(row); err != nil {
			return nil, err
		}
		names = append(names, row["name"].(string))
	}
	return names, rows.Err()
}

func (s *namedStore) Rename(ctx context.Context, from, to string) error {
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.NamedExec("UPDATE accounts SET name = :to WHERE name = :from", map[string]any{"from": from, "to": to}); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *namedStore) Remove(ctx context.Context, name string) error {
	return sqlx.GetContext(ctx, s.db, new(int), "DELETE FROM accounts WHERE name = ? RETURNING id", name)
}
