package wrappers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// jobs is how many rows a Store's table has.
const jobs = 100

const (
	schema    = "CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT NOT NULL, runs INTEGER NOT NULL)"
	insertJob = "INSERT INTO job (id, name, runs) VALUES (?, ?, 0)"
	runJob    = "UPDATE job SET runs = runs + 1 WHERE id = ?"
	oneJob    = "SELECT id, name FROM job WHERE id = ?"
	allJobs   = "SELECT id, name FROM job"
)

// A Store is what a service has around its database. Its methods are exported
// and small as there, because a wrapper that finds the calling method by itself
// finds these.
type Store struct {
	db      *sql.DB
	prepare *sql.Stmt
}

// NewStore fills the database and keeps it to one connection, without which
// each would have a memory of its own.
func NewStore(ctx context.Context, db *sql.DB) (*Store, error) {
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("create the table: %w", err)
	}
	for id := 1; id <= jobs; id++ {
		if _, err := db.ExecContext(ctx, insertJob, id, nameOfJob(id)); err != nil {
			return nil, fmt.Errorf("insert job %d: %w", id, err)
		}
	}
	prepared, err := db.PrepareContext(ctx, runJob)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", runJob, err)
	}
	return &Store{db, prepared}, nil
}

func nameOfJob(id int) string { return fmt.Sprint("job-", id) }

// Close closes the statement, not the database.
func (s *Store) Close() error { return s.prepare.Close() }

// Run executes a statement and returns how many rows it has changed.
func (s *Store) Run(ctx context.Context) (int64, error) {
	r, err := s.db.ExecContext(ctx, runJob, 1)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// RunPrepared does the same by a prepared statement.
func (s *Store) RunPrepared(ctx context.Context) (int64, error) {
	r, err := s.prepare.ExecContext(ctx, 1)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Get reads one row and returns its id and the length of its name together.
func (s *Store) Get(ctx context.Context) (int64, error) {
	var id int64
	var name string
	err := s.db.QueryRowContext(ctx, oneJob, 1).Scan(&id, &name)
	return id + int64(len(name)), err
}

// List reads all rows and returns the sum of the same.
func (s *Store) List(ctx context.Context) (sum int64, err error) {
	rows, err := s.db.QueryContext(ctx, allJobs)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var id int64
	var name string
	for rows.Next() {
		if err := rows.Scan(&id, &name); err != nil {
			return 0, err
		}
		sum += id + int64(len(name))
	}
	return sum, rows.Err()
}

// Commit begins a transaction and commits it, with nothing in between.
func (s *Store) Commit(ctx context.Context) (int64, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	return 0, tx.Commit()
}

// An operation is what is measured; want is what it returns on every driver,
// however it is wrapped.
type operation struct {
	run  func(*Store, context.Context) (int64, error)
	want int64
}

var (
	opExec     = operation{(*Store).Run, 1}
	opStmtExec = operation{(*Store).RunPrepared, 1}
	opQueryRow = operation{(*Store).Get, 1 + 5} // "job-1"
	opQuery100 = operation{(*Store).List, 5050 + 9*5 + 90*6 + 7}
	opCommit   = operation{(*Store).Commit, 0}
)
