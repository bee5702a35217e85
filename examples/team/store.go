package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// Connections are few, as in a service that shares one SQLite file: a scan
// holds one for as long as it decodes, and the fifth request waits.
const connections = 4

// maxLive bounds the live sandboxes of one engineer.
const maxLive = 64

// Store keeps the records in one SQLite file. All that differs between the two
// variants hangs on scans: a listing, a look-up by name and the checks of a creation.
type Store struct {
	db database
	// scans selects the variant "before": listings, look-ups by name and the
	// checks of a creation parse every sandbox record.
	scans bool
	ids   atomic.Int64 // the last ID given out, of any table
}

// database is what the store needs of a *sql.DB, or of a probe's.
type database interface {
	execer
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryRow(query string, args ...any) *sql.Row
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	SetMaxOpenConns(n int)
	SetMaxIdleConns(n int)
	Close() error
}

// OpenStore opens the file at path through open, which is sql.Open or a
// probe's. The tables exist already; see Seed.
func OpenStore(open func(driver, dsn string) (database, error), path string, scans bool) (*Store, error) {
	db, err := open("sqlite", dsn(path, "journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := &Store{db: db, scans: scans}
	var last int64
	row := db.QueryRow(`SELECT max((SELECT max(id) FROM sandboxes), (SELECT max(id) FROM jobs))`)
	if err := row.Scan(&last); err != nil {
		db.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s.ids.Store(last)
	return s, nil
}

// dsn names a file for the driver. Transactions take the write lock when they
// begin: two that both read first could never both go on.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

// Close closes the connections.
func (s *Store) Close() error { return s.db.Close() }

// Tokens returns all tokens: every request decodes them to find its own.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return all[Token](ctx, s.db, `SELECT data FROM tokens`)
}

// ListSandboxes returns the page of sandboxes below cursor; 0 is the first.
func (s *Store) ListSandboxes(ctx context.Context, cursor int64) (Page[Sandbox], error) {
	id := func(sb Sandbox) int64 { return sb.ID }
	if !s.scans {
		items, err := all[Sandbox](ctx, s.db,
			`SELECT data FROM sandboxes WHERE id < ? ORDER BY id DESC LIMIT ?`, below(cursor), pageSize)
		return newPage(items, id), err
	}
	items, err := s.allSandboxes(ctx)
	items = slices.DeleteFunc(items, func(sb Sandbox) bool { return sb.ID >= below(cursor) })
	slices.SortFunc(items, func(a, b Sandbox) int { return int(b.ID - a.ID) })
	return newPage(slices.Clone(items[:min(pageSize, len(items))]), id), err
}

// SandboxByName returns the sandbox of that name, or ErrNotFound.
func (s *Store) SandboxByName(ctx context.Context, name string) (Sandbox, error) {
	if !s.scans {
		return one[Sandbox](ctx, s.db, `SELECT data FROM sandboxes WHERE name = ?`, name)
	}
	items, err := s.allSandboxes(ctx)
	if err != nil {
		return Sandbox{}, err
	}
	i := slices.IndexFunc(items, func(sb Sandbox) bool { return sb.Name == name })
	if i < 0 {
		return Sandbox{}, ErrNotFound
	}
	return items[i], nil
}

// CreateSandbox inserts sb, gives it an ID and moves the sandbox that settled
// first to the archive, so that the table keeps its number of records. It
// returns ErrTaken for a name that exists and ErrQuota at the owner's limit.
func (s *Store) CreateSandbox(ctx context.Context, sb *Sandbox) error {
	named := func(o Sandbox) bool { return o.Name == sb.Name }
	n, err := s.countSandboxes(ctx, named, `SELECT count(*) FROM sandboxes WHERE name = ?`, sb.Name)
	if err != nil || n > 0 {
		return cmp.Or(err, ErrTaken)
	}
	live := func(o Sandbox) bool { return o.Owner == sb.Owner && o.Settled == 0 }
	n, err = s.countSandboxes(ctx, live, `SELECT count(*) FROM sandboxes WHERE owner = ? AND settled = 0`, sb.Owner)
	if err != nil || n >= maxLive {
		return cmp.Or(err, ErrQuota)
	}
	sb.ID = s.ids.Add(1)
	return s.transact(ctx, func(tx *sql.Tx) error {
		err := putJSON(ctx, tx, sb, `INSERT INTO sandboxes (data, id, name, owner, settled) VALUES (?, ?, ?, ?, ?)`,
			sb.ID, sb.Name, sb.Owner, sb.Settled)
		if err != nil {
			return err
		}
		_, err = archive(ctx, tx, "sandboxes", firstSettled, 1)
		return err
	})
}

// countSandboxes counts those that match: by parsing every record, or by an
// index.
func (s *Store) countSandboxes(ctx context.Context, match func(Sandbox) bool, query string, args ...any) (n int, err error) {
	if !s.scans {
		err = s.db.QueryRowContext(ctx, query, args...).Scan(&n)
		return n, err
	}
	items, err := s.allSandboxes(ctx)
	for _, sb := range items {
		if match(sb) {
			n++
		}
	}
	return n, err
}

// allSandboxes parses every record of the table.
func (s *Store) allSandboxes(ctx context.Context) ([]Sandbox, error) {
	return all[Sandbox](ctx, s.db, `SELECT data FROM sandboxes`)
}

// Sandbox returns a sandbox by its ID, or ErrNotFound.
func (s *Store) Sandbox(ctx context.Context, id int64) (Sandbox, error) {
	return one[Sandbox](ctx, s.db, `SELECT data FROM sandboxes WHERE id = ?`, id)
}

// SettleSandbox marks a sandbox as destroyed at the time now.
func (s *Store) SettleSandbox(ctx context.Context, sb Sandbox, now int64) error {
	sb.State, sb.Settled = stateSettled, now
	return putJSON(ctx, s.db, sb, `UPDATE sandboxes SET data = ?, settled = ? WHERE id = ?`, now, sb.ID)
}

// CreateSession inserts a session and gives it an ID.
func (s *Store) CreateSession(ctx context.Context, se *Session) error {
	se.ID = s.ids.Add(1)
	return putJSON(ctx, s.db, se, `INSERT INTO sessions (data, id, owner, state) VALUES (?, ?, ?, ?)`, se.ID, se.Owner, se.State)
}

// Session returns a session by its ID, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id int64) (Session, error) {
	return one[Session](ctx, s.db, `SELECT data FROM sessions WHERE id = ?`, id)
}

// PutSession writes the whole record.
func (s *Store) PutSession(ctx context.Context, se *Session) error {
	return putJSON(ctx, s.db, se, `UPDATE sessions SET data = ?, state = ? WHERE id = ?`, se.State, se.ID)
}

// ListSessions returns the page of an owner's sessions below cursor.
func (s *Store) ListSessions(ctx context.Context, owner string, cursor int64) (Page[Session], error) {
	items, err := all[Session](ctx, s.db,
		`SELECT data FROM sessions WHERE owner = ? AND id < ? ORDER BY id DESC LIMIT ?`, owner, below(cursor), pageSize)
	return newPage(items, func(se Session) int64 { return se.ID }), err
}

// CreateJob inserts a job and gives it an ID.
func (s *Store) CreateJob(ctx context.Context, j *Job) error {
	j.ID = s.ids.Add(1)
	return putJSON(ctx, s.db, j, `INSERT INTO jobs (data, id, owner, state) VALUES (?, ?, ?, ?)`, j.ID, j.Owner, j.State)
}

// PutJob writes the whole record.
func (s *Store) PutJob(ctx context.Context, j *Job) error {
	return putJSON(ctx, s.db, j, `UPDATE jobs SET data = ?, state = ? WHERE id = ?`, j.State, j.ID)
}

// ListJobs returns the page of an owner's jobs below cursor, without their
// timelines, which are decoded all the same.
func (s *Store) ListJobs(ctx context.Context, owner string, cursor int64) (Page[Job], error) {
	items, err := all[Job](ctx, s.db,
		`SELECT data FROM jobs WHERE owner = ? AND id < ? ORDER BY id DESC LIMIT ?`, owner, below(cursor), pageSize)
	for i := range items {
		items[i].Timeline = nil
	}
	return newPage(items, func(j Job) int64 { return j.ID }), err
}

// ArchiveJobs moves finished jobs beyond the newest keep to the archive, the
// oldest first and at most batch of them, and returns how many.
func (s *Store) ArchiveJobs(ctx context.Context, keep, batch int) (int64, error) {
	var finished int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM jobs WHERE state = ?`, stateDone).Scan(&finished); err != nil || finished <= keep {
		return 0, err
	}
	return s.archive(ctx, "jobs", `SELECT id FROM jobs WHERE state = ? ORDER BY id LIMIT ?`, stateDone, min(batch, finished-keep))
}

// ArchiveSandboxes moves the sandboxes that settled first to the archive, at
// most batch of them, and returns how many.
func (s *Store) ArchiveSandboxes(ctx context.Context, batch int) (int64, error) {
	return s.archive(ctx, "sandboxes", firstSettled, batch)
}

const firstSettled = `SELECT id FROM sandboxes WHERE settled > 0 ORDER BY settled LIMIT ?`

// archive moves the records of a table whose IDs the query gives to its
// archive, in one transaction, and returns how many.
func (s *Store) archive(ctx context.Context, table, ids string, args ...any) (moved int64, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) (err error) {
		moved, err = archive(ctx, tx, table, ids, args...)
		return err
	})
	return moved, err
}

func archive(ctx context.Context, tx *sql.Tx, table, ids string, args ...any) (int64, error) {
	selected := ` FROM ` + table + ` WHERE id IN (` + ids + `)`
	if _, err := tx.ExecContext(ctx, `INSERT INTO `+table+`_archive SELECT *`+selected, args...); err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `DELETE`+selected, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Count is how many records of a kind are in a state.
type Count struct {
	Kind, State string
	N           int64
}

// CountStates counts jobs and sessions by state, from their indexes.
func (s *Store) CountStates(ctx context.Context) ([]Count, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT 'job', state, count(*) FROM jobs GROUP BY state
		UNION ALL SELECT 'session', state, count(*) FROM sessions GROUP BY state`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var counts []Count
	for rows.Next() {
		var c Count
		if err := rows.Scan(&c.Kind, &c.State, &c.N); err != nil {
			return nil, err
		}
		counts = append(counts, c)
	}
	return counts, rows.Err()
}

// transact runs fn in a transaction, which fn's error undoes.
func (s *Store) transact(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// below turns a cursor into the ID that a page stays under.
func below(cursor int64) int64 {
	if cursor <= 0 {
		return math.MaxInt64
	}
	return cursor
}

// all decodes the one column of every row while the cursor is open, so that
// one record's bytes are held at a time.
func all[T any](ctx context.Context, db database, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items := []T{}
	var data sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		var item T
		if err := json.Unmarshal(data, &item); err != nil {
			return nil, fmt.Errorf("decode %.40q: %w", data, err)
		}
		items = append(items, item)
	}
	return items, rows.Err()
}

// one decodes the one column of the first row, or returns ErrNotFound.
func one[T any](ctx context.Context, db database, query string, args ...any) (item T, err error) {
	items, err := all[T](ctx, db, query, args...)
	if err != nil {
		return item, err
	}
	if len(items) == 0 {
		return item, ErrNotFound
	}
	return items[0], nil
}

// execer is a database or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// putJSON runs a statement whose first argument is the record's JSON.
func putJSON(ctx context.Context, db execer, record any, query string, args ...any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, query, slices.Insert(args, 0, any(data))...)
	return err
}
