package orms

import (
	"context"
	"database/sql"

	sq "github.com/Masterminds/squirrel"
)

// A squirrelStore runs what squirrel builds, through a cache of statements and
// without one.
type squirrelStore struct {
	db    *sql.DB
	cache *sq.StmtCache
}

func openSquirrel(db *sql.DB) (accounts, error) {
	return &squirrelStore{db, sq.NewStmtCache(db)}, nil
}

func (s *squirrelStore) Migrate(ctx context.Context) error {
	_, err := sq.ExecContextWith(ctx, s.db, sq.Expr(createAccounts))
	return err
}

func (s *squirrelStore) Add(ctx context.Context, name string) error {
	return insertInto(s.cache, name)
}

func insertInto(r sq.BaseRunner, name string) error {
	_, err := sq.Insert("accounts").Columns("name").Values(name).RunWith(r).Exec()
	return err
}

func (s *squirrelStore) AddAll(ctx context.Context, names ...string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, name := range names {
		if err := insertInto(tx, name); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *squirrelStore) Find(ctx context.Context, name string) (id int64, err error) {
	err = sq.Select("id").From("accounts").Where(sq.Eq{"name": name}).RunWith(s.cache).QueryRowContext(ctx).Scan(&id)
	return id, err
}

func (s *squirrelStore) List(ctx context.Context) (names []string, err error) {
	rows, err := sq.Select("name").From("accounts").OrderBy("name").RunWith(s.db).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func (s *squirrelStore) Rename(ctx context.Context, from, to string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := sq.Update("accounts").Set("name", to).Where(sq.Eq{"name": from}).RunWith(tx).ExecContext(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *squirrelStore) Remove(ctx context.Context, name string) error {
	_, err := sq.Delete("accounts").Where(sq.Eq{"name": name}).RunWith(s.db).ExecContext(ctx)
	return err
}
