package orms

import (
	"context"
	"database/sql"
	"errors"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/tidestaff/tidestaff/internal/e2e/orms/gen"
)

// An entStore uses the builder that ent's generated code is written on, as is.
type entStore struct{ driver *entsql.Driver }

func openEnt(db *sql.DB) (accounts, error) {
	return &entStore{entsql.OpenDB(dialect.SQLite, db)}, nil
}

func (s *entStore) Migrate(ctx context.Context) error {
	_, err := s.driver.ExecContext(ctx, createAccounts)
	return err
}

func (s *entStore) Add(ctx context.Context, name string) error { return add(ctx, s.driver, name) }

// add is a helper of several methods, for a database and a transaction.
func add(ctx context.Context, e dialect.ExecQuerier, name string) error {
	query, args := entsql.Dialect(dialect.SQLite).Insert("accounts").Columns("name").Values(name).Query()
	var result entsql.Result
	return e.Exec(ctx, query, args, &result)
}

func (s *entStore) AddAll(ctx context.Context, names ...string) error {
	tx, err := s.driver.Tx(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := add(ctx, tx, name); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *entStore) Find(ctx context.Context, name string) (id int64, err error) {
	query, args := entsql.Dialect(dialect.SQLite).Select("id").From(entsql.Table("accounts")).Where(entsql.EQ("name", name)).Query()
	var rows entsql.Rows
	if err := s.driver.Query(ctx, query, args, &rows); err != nil {
		return 0, err
	}
	defer rows.Close()
	return entsql.ScanInt64(rows)
}

func (s *entStore) List(ctx context.Context) (names []string, err error) {
	query, args := entsql.Dialect(dialect.SQLite).Select("name").From(entsql.Table("accounts")).OrderBy("name").Query()
	var rows entsql.Rows
	if err := dialect.Debug(s.driver, func(...any) {}).Query(ctx, query, args, &rows); err != nil {
		return nil, err
	}
	defer rows.Close()
	err = entsql.ScanSlice(rows, &names)
	return names, err
}

func (s *entStore) Rename(ctx context.Context, from, to string) error {
	tx, err := s.driver.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	query, args := entsql.Dialect(dialect.SQLite).Update("accounts").Set("name", to).Where(entsql.EQ("name", from)).Query()
	if err := tx.Exec(ctx, query, args, nil); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *entStore) Remove(ctx context.Context, name string) error {
	query, args := entsql.Dialect(dialect.SQLite).Delete("accounts").Where(entsql.EQ("name", name)).Query()
	return s.driver.Exec(ctx, query, args, nil)
}

// A generatedStore uses a client as ent generates it.
type generatedStore struct {
	client *gen.Client
	driver *entsql.Driver
}

func openGenerated(db *sql.DB) (accounts, error) {
	d := entsql.OpenDB(dialect.SQLite, db)
	return &generatedStore{gen.NewClient(d), d}, nil
}

// Migrate is ent's own, which wants foreign keys to be on.
func (s *generatedStore) Migrate(ctx context.Context) error {
	s.driver.DB().SetMaxOpenConns(1)
	defer s.driver.DB().SetMaxOpenConns(0)
	if _, err := s.driver.ExecContext(ctx, "PRAGMA foreign_keys = 1"); err != nil {
		return err
	}
	return s.client.Migrate(ctx)
}

func (s *generatedStore) Add(ctx context.Context, name string) error {
	return s.client.Create(ctx, name)
}

func (s *generatedStore) AddAll(ctx context.Context, names ...string) error {
	tx, err := s.client.Tx(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := tx.Create(ctx, name); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *generatedStore) Find(ctx context.Context, name string) (int64, error) {
	return s.client.ID(ctx, name)
}

func (s *generatedStore) List(ctx context.Context) ([]string, error) { return s.client.Names(ctx) }

func (s *generatedStore) Rename(ctx context.Context, from, to string) error {
	tx, err := s.client.Tx(ctx)
	if err != nil {
		return err
	}
	if err := tx.Rename(ctx, from, to); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *generatedStore) Remove(ctx context.Context, name string) error {
	return s.client.Delete(ctx, name)
}
