package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openStores seeds one file and opens a copy of it in each variant, so that
// what they answer can be compared.
func openStores(t *testing.T, sandboxes, jobs int) map[string]*Store {
	t.Helper()
	dir := t.TempDir()
	seeded := filepath.Join(dir, "seeded.db")
	if err := Seed(seeded, 1, profile{sandboxes: sandboxes, jobs: jobs, tokens: userCount}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(seeded)
	if err != nil {
		t.Fatal(err)
	}
	stores := map[string]*Store{}
	for _, variant := range []string{before, after} {
		path := filepath.Join(dir, variant+".db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(func(driver, dsn string) (database, error) { return sql.Open(driver, dsn) }, path, variant == before)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[variant] = s
	}
	return stores
}

// TestVariantsAgree asks both variants the same and wants the same answers:
// only the cost may differ.
func TestVariantsAgree(t *testing.T) {
	stores := openStores(t, 120, 10)
	transcript := func(s *Store) (lines []string) {
		ctx := context.Background()
		say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		sb := Sandbox{Name: "mine", Owner: userName(0), State: stateLive}
		say("create: %v", s.CreateSandbox(ctx, &sb))
		say("again: %v", s.CreateSandbox(ctx, &Sandbox{Name: "mine", Owner: userName(1)}))
		for cursor := int64(-1); cursor != 0; {
			page, err := s.ListSandboxes(ctx, max(cursor, 0))
			say("page: %d items %v %v", len(page.Items), page, err)
			cursor = page.Next
		}
		got, err := s.SandboxByName(ctx, "mine")
		say("by name: %v %v", got, err)
		say("settle: %v", s.SettleSandbox(ctx, got, 1))
		got, err = s.SandboxByName(ctx, "mine")
		say("settled: %v %v", got, err)
		_, err = s.SandboxByName(ctx, "nobody's")
		say("absent: %v", err)
		for i := range maxLive {
			err = s.CreateSandbox(ctx, &Sandbox{Name: fmt.Sprint("many-", i), Owner: userName(0)})
		}
		say("quota: %v", err)
		return lines
	}
	want, got := transcript(stores[before]), transcript(stores[after])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the variants differ (-before +after):\n%s", diff)
	}
	for i, err := range map[int]error{1: ErrTaken, len(want) - 2: ErrNotFound, len(want) - 1: ErrQuota} {
		if !strings.HasSuffix(want[i], err.Error()) {
			t.Errorf("line %d: got %q, want %q", i, want[i], err)
		}
	}
}

// TestTableKeepsItsSize wants every creation to move one record away, which is
// what makes the rows of a scan countable.
func TestTableKeepsItsSize(t *testing.T) {
	const n = 40
	s := openStores(t, n, 5)[after]
	ctx := context.Background()
	for i := range 10 {
		if err := s.CreateSandbox(ctx, &Sandbox{Name: fmt.Sprint("new-", i), Owner: userName(1)}); err != nil {
			t.Fatal(err)
		}
		items, err := s.allSandboxes(ctx)
		if err != nil || len(items) != n {
			t.Fatalf("after %d creations: got %d records, %v, want %d", i+1, len(items), err, n)
		}
	}
}

func TestArchiveJobs(t *testing.T) {
	s := openStores(t, 10, 20)[after]
	for _, step := range []struct{ keep, batch, want int }{{20, 5, 0}, {12, 5, 5}, {12, 5, 3}, {12, 5, 0}} {
		got, err := s.ArchiveJobs(context.Background(), step.keep, step.batch)
		if err != nil || got != int64(step.want) {
			t.Errorf("keep %d, batch %d: got %d moved, %v, want %d", step.keep, step.batch, got, err, step.want)
		}
	}
}

// TestArchiveSandboxes wants the settled ones moved, whole and oldest first,
// and the live ones left.
func TestArchiveSandboxes(t *testing.T) {
	const settled = 12
	s := openStores(t, settled+userCount, 1)[after]
	ctx := context.Background()
	for _, step := range []struct{ batch, want int }{{5, 5}, {5, 5}, {5, settled - 10}, {5, 0}} {
		got, err := s.ArchiveSandboxes(ctx, step.batch)
		if err != nil || got != int64(step.want) {
			t.Errorf("batch %d: got %d moved, %v, want %d", step.batch, got, err, step.want)
		}
		var wrong int // those in the archive that settled after one that is not there
		row := s.db.QueryRow(`SELECT count(*) FROM sandboxes_archive WHERE settled > (SELECT min(settled) FROM sandboxes WHERE settled > 0)`)
		if err := row.Scan(&wrong); err != nil {
			t.Fatal(err)
		}
		if wrong > 0 && step.want > 0 {
			t.Errorf("%d moved before one that had settled earlier", wrong)
		}
	}
	items, err := s.allSandboxes(ctx)
	if err != nil || len(items) != userCount {
		t.Errorf("got %d left, %v, want the %d desks", len(items), err, userCount)
	}
}

// TestSeedRepeats wants the same bytes for the same seed, others for another,
// and records of the sizes that the page tells.
func TestSeedRepeats(t *testing.T) {
	digestOf := func(seed uint64) string {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := Seed(path, seed, profile{sandboxes: 50, jobs: 5, tokens: userCount}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return digest(string(data))
	}
	if a, b := digestOf(7), digestOf(7); a != b {
		t.Error("one seed made two databases")
	}
	if a, b := digestOf(7), digestOf(8); a == b {
		t.Error("two seeds made one database")
	}
	s := openStores(t, 50, 5)[after]
	for query, want := range map[string][2]int{
		`SELECT avg(length(data)) FROM sandboxes`: {1000, 1300},
		`SELECT avg(length(data)) FROM jobs`:      {27_000, 33_000},
	} {
		var got float64
		if err := s.db.QueryRow(query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got < float64(want[0]) || got > float64(want[1]) {
			t.Errorf("%s: got %.0f, want %v", query, got, want)
		}
	}
}

func TestSeedRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "x.db")
	if err := Seed(path, 1, profile{sandboxes: 10, jobs: 1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: got %v, want %v", err, os.ErrNotExist)
	}
}
