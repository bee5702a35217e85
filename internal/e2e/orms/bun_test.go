package orms

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// A bunStore uses bun's models.
type bunStore struct{ db *bun.DB }

// A bunAccount is bun's model, with a log of each account's names.
type bunAccount struct {
	bun.BaseModel `bun:"table:accounts"`

	ID    int64       `bun:",pk,autoincrement"`
	Name  string      `bun:",notnull,unique"`
	Names []*bunNamed `bun:"rel:has-many,join:id=account_id"`
}

type bunNamed struct {
	bun.BaseModel `bun:"table:names"`

	ID        int64 `bun:",pk,autoincrement"`
	AccountID int64
	Name      string
}

func openBun(db *sql.DB) (accounts, error) {
	return &bunStore{bun.NewDB(db, sqlitedialect.New())}, nil
}

func (s *bunStore) Migrate(ctx context.Context) error {
	for _, model := range []any{(*bunAccount)(nil), (*bunNamed)(nil)} {
		if _, err := s.db.NewCreateTable().Model(model).IfNotExists().Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *bunStore) Add(ctx context.Context, name string) error {
	_, err := s.db.NewInsert().Model(&bunAccount{Name: name}).Exec(ctx)
	return err
}

func (s *bunStore) AddAll(ctx context.Context, names ...string) error {
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for _, name := range names {
			a := &bunAccount{Name: name}
			if err := tx.NewInsert().Model(a).Returning("id").Scan(ctx); err != nil {
				return err
			}
			// In a savepoint of its own.
			err := tx.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.NewInsert().Model(&bunNamed{AccountID: a.ID, Name: name}).Exec(ctx)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *bunStore) Find(ctx context.Context, name string) (int64, error) {
	var a bunAccount
	err := s.db.NewSelect().Model(&a).Where("name = ?", name).Limit(1).Scan(ctx)
	return a.ID, err
}

// List loads a relation beside, and counts.
func (s *bunStore) List(ctx context.Context) ([]string, error) {
	var all []bunAccount
	if _, err := s.db.NewSelect().Model(&all).Relation("Names").Order("name").ScanAndCount(ctx); err != nil {
		return nil, err
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, nil
}

func (s *bunStore) Rename(ctx context.Context, from, to string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.NewUpdate().Model((*bunAccount)(nil)).Set("name = ?", to).Where("name = ?", from).Exec(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *bunStore) Remove(ctx context.Context, name string) error {
	_, err := s.db.NewRaw("DELETE FROM accounts WHERE name = ?", name).Exec(ctx)
	return err
}
