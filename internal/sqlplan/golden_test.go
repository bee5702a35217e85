package sqlplan

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A golden is what SQLite 3.54.1 answered about one statement. Its file has the
// statement, what is made of it, and three answers after lines that start with
// ---: the b-trees of the schema, the query plan, the bytecode.
type golden struct {
	text, want         string
	schema, plan, code [][]driver.Value
}

func readGolden(t *testing.T, name string) *golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	g, to := &golden{}, (*[][]driver.Value)(nil)
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		switch {
		case i == 0:
			g.text = l
		case i == 1:
			g.want = l
		case strings.HasPrefix(l, "--- "):
			to = map[string]*[][]driver.Value{"--- schema": &g.schema, "--- plan": &g.plan, "--- code": &g.code}[l]
		default:
			*to = append(*to, goldenRow(l, to == &g.code))
		}
	}
	return g
}

// goldenRow reads a row. In the bytecode the fourth operand is a text even where
// it looks like a number.
func goldenRow(l string, code bool) (row []driver.Value) {
	for i, f := range strings.Split(l, "\t") {
		n, err := strconv.ParseInt(f, 10, 64)
		switch {
		case f == "":
			row = append(row, nil)
		case err == nil && !(code && i == 5):
			row = append(row, n)
		default:
			row = append(row, f)
		}
	}
	return row
}

// A fake answers for the connection to a database.
type fake struct {
	*golden
	version int64
	tx      bool
	fail    string   // the beginning of what fails
	asked   []string // in order
}

func newFake(t *testing.T, name string) *fake {
	g := readGolden(t, name)
	f := &fake{golden: g}
	for _, row := range g.code {
		if row[1] == "Transaction" {
			f.version = row[4].(int64)
		}
	}
	return f
}

func (f *fake) InTx() bool { return f.tx }

func (f *fake) Query(text string, _ []driver.NamedValue, each func([]driver.Value)) error {
	f.asked = append(f.asked, text)
	var rows [][]driver.Value
	switch {
	case f.fail != "" && strings.HasPrefix(text, f.fail):
		return errors.New("refused")
	case text == "PRAGMA database_list":
		rows = [][]driver.Value{{int64(0), "main", ""}}
	case text == `PRAGMA "main".schema_version`:
		rows = [][]driver.Value{{f.version}}
	case strings.HasSuffix(text, `FROM "main".sqlite_schema`):
		for _, row := range f.schema {
			rows = append(rows, []driver.Value{row[0], row[1], nil})
		}
	case strings.HasPrefix(text, "EXPLAIN QUERY PLAN "):
		rows = f.plan
	case strings.HasPrefix(text, "EXPLAIN "):
		rows = f.code
	default:
		return fmt.Errorf("unexpected statement %q", text)
	}
	for _, row := range rows {
		each(row)
	}
	return nil
}

// words writes a plan as the golden files have it.
func words(p Plan) string {
	var tables []string
	for _, a := range p.Tables {
		s := a.Table + " " + a.Class.String()
		if a.Via != "" {
			s += " via " + a.Via
		}
		tables = append(tables, s)
	}
	s := p.Class.String()
	if len(tables) > 0 {
		s += ": " + strings.Join(tables, ", ")
	}
	if p.Why != "" {
		s += " (" + p.Why + ")"
	}
	return s
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: got %d, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			var in Inspector
			f := newFake(t, name)
			p, fresh, err := in.Inspect(f, f.text, nil)
			if err != nil || !fresh {
				t.Fatalf("got %v, %v, want a fresh plan", fresh, err)
			}
			if got := words(p); got != f.want {
				t.Errorf("%s\n got %s\nwant %s", f.text, got, f.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	f := newFake(t, "alias")
	f.plan = [][]driver.Value{
		{int64(3), int64(0), int64(0), "COMPOUND QUERY"},
		{int64(4), int64(3), int64(0), "LEFT-MOST SUBQUERY"},
		{int64(7), int64(4), int64(0), []byte("SCAN o")},
		{int64(9), int64(0), int64(0), "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)"},
	}
	var in Inspector
	p, _, err := in.Inspect(f, f.text, nil)
	want := []string{"COMPOUND QUERY", "  LEFT-MOST SUBQUERY", "    SCAN o", "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)"}
	if diff := cmp.Diff(want, p.Lines); diff != "" || err != nil {
		t.Errorf("lines (-want +got), %v:\n%s", err, diff)
	}
}

// What SQLite says in a form that is not the known one must not become a class.
func TestSurprises(t *testing.T) {
	row := func(v ...driver.Value) []driver.Value { return v }
	tests := []struct {
		name, file string
		change     func(f *fake)
		why        string
	}{
		{"new kind of line", "alias", func(f *fake) { f.plan[0][3] = "PONDER o" }, `EXPLAIN QUERY PLAN has a line "PONDER o"`},
		{"a line without a number", "alias", func(f *fake) { f.plan[0][0] = "x" }, `EXPLAIN QUERY PLAN has a line "SCAN o"`},
		{"wider plan", "alias", func(f *fake) { f.plan[0] = append(f.plan[0], nil) }, "EXPLAIN QUERY PLAN has 5 columns"},
		{"narrower bytecode", "alias", func(f *fake) { f.code[3] = f.code[3][:4] }, "EXPLAIN has 4 columns"},
		{"texts for operands", "alias", func(f *fake) { f.code[3][2] = "r1" }, "EXPLAIN has string in column 2"},
		{"no bytecode", "alias", func(f *fake) { f.code = nil }, "EXPLAIN has no rows"},
		{"gap in the addresses", "alias", func(f *fake) { f.code[3][0] = int64(9) }, "EXPLAIN has Rewind at address 9"},
		{"program without Init", "alias", func(f *fake) { f.code[0][1] = "Noop" }, "EXPLAIN has Noop at address 0"},
		{"unknown root page", "alias", func(f *fake) { f.code[1][3] = int64(99) }, "no table has root page 99 in database 0"},
		{"a loop that is none", "alias", func(f *fake) { f.code[3][1] = "Spin" }, "the query plan scans o, the bytecode does not"},
		{"index only in the plan", "alias", func(f *fake) {
			f.plan = append(f.plan, row(int64(50), int64(0), int64(0), "SEARCH u USING AUTOMATIC COVERING INDEX (x=?)"))
		}, "the query plan builds an index of u, the bytecode does not"},
		{"index only in the bytecode", "autoindex", func(f *fake) { f.plan = f.plan[:1] }, "the bytecode builds an index of orders, the query plan does not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.file)
			tt.change(f)
			var in Inspector
			p, _, err := in.Inspect(f, f.text, nil)
			if err != nil || p.Class != Unknown || p.Why != tt.why || len(p.Tables) > 0 {
				t.Errorf("got %s, %v, want unknown (%s)", words(p), err, tt.why)
			}
		})
	}
}
