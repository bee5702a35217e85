package plans

import (
	"math/rand/v2"
	"strings"
)

// statements and marks are what texts are made of at random: all that can begin,
// end, hide or pretend to hide a statement.
var (
	statements = []string{
		"SELECT * FROM events", "DELETE FROM events", "UPDATE events SET day = 1", "REPLACE INTO events VALUES (1, 'x')",
		"DROP TABLE events", "CREATE TABLE t (a)", "WITH a AS (SELECT 1)", "VALUES (1)", "EXPLAIN", "SELECT 1", "SELECT 1 FROM events WHERE what =",
	}
	marks = []string{
		"'", "'", "\"", "\"", "`", "[", "]", "--", "--", "/*", "*/", "\n", "\n", "\r", "\x00", "\\", "''", "x'", "$a(", "$a::", ")", "(",
		"\ufeff", "\u00a0", "?1", ":a", "{", "#1", "1e", ".", "/", "-", "*",
	}
)

// randomText is a statement or two, a semicolon, and what may change their sense.
func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range 3 + random.IntN(3) {
		switch random.IntN(4) {
		case 0:
			b.WriteString(marks[random.IntN(len(marks))])
		case 1:
			b.WriteString(";")
		default:
			b.WriteString(" " + statements[random.IntN(len(statements))] + " ")
		}
	}
	return b.String()
}

// texts of all sorts are inspected, and no row and no table may change by it. This
// is a random test rather than a fuzz target because a whole SQLite in Go takes
// minutes to build for one.
var texts = []test{{"random texts run nothing", func(d *database) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	state := func() string {
		return d.scalar("SELECT total_changes()") + " " + d.scalar("PRAGMA schema_version")
	}
	d.exec("INSERT INTO events VALUES (1, 'x'), (2, 'y')")
	before, explained := state(), 0
	for range 4000 {
		text := randomText(random)
		p, _, _ := d.in.Inspect(d, text, nil)
		if len(p.Tables) > 0 {
			explained++
		}
		if after := state(); after != before {
			d.Fatalf("seed %d: %q: got changes and schema %s, want %s", seed, text, after, before)
		}
	}
	if explained < 100 {
		d.Errorf("seed %d: %d texts had a plan: the test sees nothing", seed, explained)
	}
}}}
