package orms

import (
	"context"
	"database/sql"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// A gormStore uses gorm's models.
type gormStore struct{ db *gorm.DB }

// An account is gorm's model, with a log of each account's names.
type account struct {
	ID    int64
	Name  string `gorm:"unique;not null"`
	Names []accountName
}

type accountName struct {
	ID        int64
	AccountID int64
	Name      string
}

func gormOver(db *sql.DB, prepared bool) (*gorm.DB, error) {
	return gorm.Open(sqlite.New(sqlite.Config{Conn: db}), &gorm.Config{PrepareStmt: prepared, Logger: logger.Discard})
}

func openGORM(db *sql.DB) (accounts, error) {
	g, err := gormOver(db, false)
	return &gormStore{g}, err
}

// openPreparedGORM has gorm keep prepared statements.
func openPreparedGORM(db *sql.DB) (accounts, error) {
	g, err := gormOver(db, true)
	return &gormStore{g}, err
}

func (s *gormStore) Migrate(ctx context.Context) error {
	return s.db.WithContext(ctx).AutoMigrate(&account{}, &accountName{})
}

// Add is in a transaction of gorm's own.
func (s *gormStore) Add(ctx context.Context, name string) error {
	return s.db.WithContext(ctx).Create(&account{Name: name, Names: []accountName{{Name: name}}}).Error
}

func (s *gormStore) AddAll(ctx context.Context, names ...string) error {
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		for _, name := range names {
			// In a savepoint of its own.
			err := tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&account{Name: name}).Error })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *gormStore) Find(ctx context.Context, name string) (int64, error) {
	var a account
	err := s.db.WithContext(ctx).Where(&account{Name: name}).First(&a).Error
	return a.ID, err
}

// List reads in batches, with what belongs to each account.
func (s *gormStore) List(ctx context.Context) ([]string, error) {
	var batch []account
	n := 0
	err := s.db.WithContext(ctx).Preload("Names").FindInBatches(&batch, 2, func(tx *gorm.DB, _ int) error {
		n += len(batch)
		return tx.Session(&gorm.Session{NewDB: true}).Model(&accountName{}).Count(new(int64)).Error
	}).Error
	if err != nil {
		return nil, err
	}
	var names []string
	rows, err := s.db.WithContext(ctx).Model(&account{}).Order("name").Limit(n).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a account
		if err := s.db.ScanRows(rows, &a); err != nil {
			return nil, err
		}
		names = append(names, a.Name)
	}
	return names, rows.Err()
}

func (s *gormStore) Rename(ctx context.Context, from, to string) error {
	tx := s.db.WithContext(ctx).Begin()
	defer tx.Rollback()
	if err := tx.Model(&account{}).Where("name = ?", from).Update("name", to).Error; err != nil {
		return err
	}
	return tx.Commit().Error
}

func (s *gormStore) Remove(ctx context.Context, name string) error {
	return s.db.WithContext(ctx).Exec("DELETE FROM accounts WHERE name = ?", name).Error
}

// A typedStore uses gorm's API of type parameters.
type typedStore struct{ gormStore }

func openTyped(db *sql.DB) (accounts, error) {
	g, err := gormOver(db, false)
	return &typedStore{gormStore{g}}, err
}

func (s *typedStore) Migrate(ctx context.Context) error {
	return s.db.WithContext(ctx).Migrator().AutoMigrate(&account{}, &accountName{})
}

func (s *typedStore) Add(ctx context.Context, name string) error {
	return gorm.G[account](s.db).Create(ctx, &account{Name: name})
}

func (s *typedStore) AddAll(ctx context.Context, names ...string) error {
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var all []account
		for _, name := range names {
			all = append(all, account{Name: name})
		}
		return gorm.G[account](tx).CreateInBatches(ctx, &all, 1)
	})
}

func (s *typedStore) Find(ctx context.Context, name string) (int64, error) {
	a, err := gorm.G[account](s.db).Where("name = ?", name).First(ctx)
	return a.ID, err
}

func (s *typedStore) List(ctx context.Context) (names []string, err error) {
	all, err := gorm.G[account](s.db).Preload("Names", nil).Order("name").Find(ctx)
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, err
}

func (s *typedStore) Rename(ctx context.Context, from, to string) error {
	tx := s.db.WithContext(ctx).Begin()
	defer tx.Rollback()
	if _, err := gorm.G[account](tx).Where("name = ?", from).Update(ctx, "name", to); err != nil {
		return err
	}
	return tx.Commit().Error
}

func (s *typedStore) Remove(ctx context.Context, name string) error {
	_, err := gorm.G[account](s.db).Where("name = ?", name).Delete(ctx)
	return err
}
