package sqlplan

import (
	"database/sql/driver"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzExplain hands in answers that SQLite might give one day: whatever they are,
// there is a plan, with a class or with a reason why it has none.
func FuzzExplain(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("golden files: got %d, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		text, rest, _ := strings.Cut(string(data), "\n")
		_, rest, _ = strings.Cut(rest, "--- plan\n")
		plan, code, _ := strings.Cut(rest, "--- code\n")
		f.Add(text, plan, code)
	}
	names := schema{
		0: {name: "main", tables: map[int]string{1: "sqlite_schema", 2: "users", 3: "users", 4: "users", 5: "orders", 6: "events"}},
		1: {name: "temp", tables: map[int]string{2: "users"}},
	}
	f.Fuzz(func(t *testing.T, text, plan, code string) {
		programs, err1 := readPrograms(fuzzRows(code, true))
		lines, err2 := readQueryPlan(fuzzRows(plan, false))
		if err1 != nil || err2 != nil {
			return
		}
		p := classify(text, programs, lines, names)
		if (p.Class == Unknown) != (p.Why != "") {
			t.Errorf("got %s, want a class or a reason", words(p))
		}
		for _, a := range p.Tables {
			if a.Class == Unknown || a.Class > p.Class {
				t.Errorf("got %s, want the worst class of the tables'", words(p))
			}
		}
	})
}

func fuzzRows(text string, code bool) (rows [][]driver.Value) {
	for l := range strings.Lines(text) {
		rows = append(rows, goldenRow(strings.TrimSuffix(l, "\n"), code))
	}
	return rows
}
