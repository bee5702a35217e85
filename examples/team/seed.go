package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
)

// schema is the same in both variants, indexes included: that only one of them
// uses the indexes is what is compared.
const schema = `
CREATE TABLE tokens (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sandboxes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, settled INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE sandboxes_archive (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, settled INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE jobs_archive (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, data BLOB NOT NULL);
`

// indexes are made after the rows, which is several times faster.
const indexes = `
CREATE UNIQUE INDEX sandboxes_name ON sandboxes (name);
CREATE INDEX sandboxes_settled ON sandboxes (settled) WHERE settled > 0;
CREATE INDEX sandboxes_live ON sandboxes (owner) WHERE settled = 0;
CREATE INDEX sessions_owner ON sessions (owner, id);
CREATE INDEX sessions_state ON sessions (state);
CREATE INDEX jobs_owner ON jobs (owner, id);
CREATE INDEX jobs_state ON jobs (state, id);
`

// tables are those whose rows the report counts.
var tables = []string{"tokens", "sandboxes", "sandboxes_archive", "sessions", "jobs", "jobs_archive"}

// history is how far back the records go.
const history = 180 * 24 * time.Hour

// epoch is when the history ends. It is fixed, so that a seed gives the same
// bytes on any day.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Seed makes the file at path and fills it: tokens, settled sandboxes and
// finished jobs. The same seed makes the same records. Nothing that happens is
// worth keeping if the machine stops now, so there is no journal and no sync.
func Seed(path string, seed uint64, p profile) error {
	if err := touch(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, "journal_mode(OFF)", "synchronous(OFF)"))
	if err != nil {
		return fmt.Errorf("seed %s: %w", path, err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return fmt.Errorf("seed %s: %w", path, err)
	}
	s := &seeder{tx: tx, rng: rand.New(rand.NewPCG(seed, 1))}
	s.exec(schema)
	s.tokens(p.tokens)
	s.sandboxes(p.sandboxes)
	s.jobs(p.jobs)
	s.exec(indexes)
	s.exec(`ANALYZE`)
	if s.err == nil {
		s.err = tx.Commit()
	}
	if s.err != nil {
		return fmt.Errorf("seed %s: %w", path, s.err)
	}
	return nil
}

// touch makes an empty file, which SQLite takes for an empty database: the
// operating system's words for what is wrong are better than the driver's.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// seeder inserts until the first error.
type seeder struct {
	tx  *sql.Tx
	rng *rand.Rand
	err error
}

func (s *seeder) exec(query string) {
	if s.err == nil {
		_, s.err = s.tx.Exec(query)
	}
}

// rows inserts n rows through one prepared statement.
func (s *seeder) rows(n int, query string, args func(i int) []any) {
	if s.err != nil {
		return
	}
	stmt, err := s.tx.Prepare(query)
	if err != nil {
		s.err = err
		return
	}
	defer stmt.Close()
	for i := range n {
		if _, err := stmt.Exec(args(i)...); err != nil {
			s.err = err
			return
		}
	}
}

func (s *seeder) tokens(n int) {
	s.rows(n, `INSERT INTO tokens (id, data) VALUES (?, ?)`, func(i int) []any {
		t := Token{ID: int64(i + 1), User: userName(i), SHA256: digest(tokenOf(i)),
			Scopes: []string{"sessions", "sandboxes", "jobs"}, Created: epoch.UnixMilli()}
		return []any{t.ID, page.Encode(t)}
	})
}

// sandboxes inserts n settled ones, and then the desk of each engineer as the
// server would have: live, and for each the oldest settled one in the archive.
func (s *seeder) sandboxes(n int) {
	const into, columns = `INSERT INTO sandboxes`, ` (id, name, owner, settled, data) VALUES (?, ?, ?, ?, ?)`
	settled := func(i int) []any {
		sb := newSandbox(s.rng, "box-"+strconv.Itoa(i+1), userName(s.rng.IntN(userCount)), createdAt(i, n))
		sb.ID, sb.State, sb.Settled = int64(i+1), stateSettled, sb.Created+s.rng.Int64N(8*3600*1000)
		return []any{sb.ID, sb.Name, sb.Owner, sb.Settled, page.Encode(sb)}
	}
	s.rows(userCount, into+"_archive"+columns, settled)
	s.rows(n-userCount, into+columns, func(i int) []any { return settled(userCount + i) })
	s.rows(userCount, into+columns, func(i int) []any {
		sb := newSandbox(s.rng, deskOf(i), userName(i), epoch.UnixMilli())
		sb.ID = int64(n + i + 1)
		return []any{sb.ID, sb.Name, sb.Owner, sb.Settled, page.Encode(sb)}
	})
}

// deskOf is the sandbox that the i-th engineer always has.
func deskOf(i int) string { return userName(i) + "-desk" }

// jobs encodes eight timelines and shares them: their entries' times count
// from the job's creation, and 150 MB of JSON would take seconds to encode.
func (s *seeder) jobs(n int) {
	var timelines [8][]byte
	for i := range timelines {
		timelines[i] = page.Encode(newTimeline(s.rng))
	}
	const query = `INSERT INTO jobs (id, owner, state, data) VALUES (?, ?, ?, ?)`
	s.rows(n, query, func(i int) []any {
		created := createdAt(i, n)
		j := Job{ID: int64(i + 1), Owner: userName(s.rng.IntN(userCount)), Title: titleOf(i), State: stateDone,
			Created: created, Finished: created + 600_000}
		data := page.Encode(j)
		data = append(data[:len(data)-1], `,"timeline":`...)
		data = append(append(data, timelines[s.rng.IntN(len(timelines))]...), '}')
		return []any{j.ID, j.Owner, j.State, data}
	})
}

// createdAt spreads n records evenly over the history.
func createdAt(i, n int) int64 {
	return epoch.Add(-history).UnixMilli() + int64(i)*history.Milliseconds()/int64(n)
}

// newSandbox makes a live sandbox with eight events.
func newSandbox(rng *rand.Rand, name, owner string, created int64) Sandbox {
	return Sandbox{
		Name: name, Owner: owner, State: stateLive, Created: created,
		Image: "registry.internal/agents/workbench:2026.1", CPUs: 2, Memory: 4 << 30,
		Labels: map[string]string{"team": "platform", "repo": "monorepo", "branch": "work/" + name},
		Events: entries(rng, 8, 60),
	}
}

// newTimeline makes the timeline of a finished job, about 30 KB.
func newTimeline(rng *rand.Rand) []Entry { return entries(rng, 200, 110) }

var kinds = [...]string{"image", "mount", "start", "exec", "file", "network", "checkpoint", "stop"}

// entries makes n entries of about textLen bytes of text.
func entries(rng *rand.Rand, n, textLen int) []Entry {
	out := make([]Entry, n)
	at := int64(0)
	for i := range out {
		at += rng.Int64N(4000)
		out[i] = Entry{At: at, Kind: kinds[i%len(kinds)], Text: page.Text(rng, textLen)}
	}
	return out
}

func titleOf(i int) string { return "bring the service to green, attempt " + strconv.Itoa(i+1) }
