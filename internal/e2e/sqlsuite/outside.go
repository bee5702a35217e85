package sqlsuite

import (
	"bufio"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// held names the file whose lock a process is to hold, in its environment.
const held = "SQLSUITE_HOLD"

// OtherProcess has another process hold the write lock, this test's own program:
// a write that gives up and a BEGIN IMMEDIATE that waits have waited for somebody
// outside, and nobody stays on the ledger.
func OtherProcess(t *testing.T, driverName string) {
	if path := os.Getenv(held); path != "" {
		holdUntilTold(t, driverName, path)
		return
	}
	var p *sqlitetrace.Probe
	r := lockTest(t, driverName, "WAL", func(pair *lockPair) {
		p = pair.probe
		release := pair.startHolder()
		if _, err := pair.other.ExecContext(As("busy"), "INSERT INTO item VALUES ('a')"); err == nil {
			t.Error("the lock was not held")
		}
		Must(t, pair.holder, "PRAGMA busy_timeout = 60000")
		done := make(chan error, 1)
		go func() {
			_, err := pair.holder.ExecContext(As("wait"), "BEGIN IMMEDIATE")
			done <- err
		}()
		AwaitRunning(p, "wait", 30*time.Millisecond) // longer than what counts as a wait
		release()
		if err := <-done; err != nil {
			t.Error(err)
		}
		Must(t, pair.holder, "INSERT INTO item VALUES ('b')")
		Must(t, pair.holder, "COMMIT")
	})
	wantWaits(t, r, map[string]float64{"busy|(external)": 1, "wait|(external)": 1})
	if n, _ := holds(r, "wait"); n != 1 {
		t.Errorf("held %d times after the wait, want once", n)
	}
}

// startHolder starts the process, waits until it holds the lock, and returns the
// function that has it released.
func (p *lockPair) startHolder() (release func()) {
	p.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+p.Name()+"$")
	cmd.Env = append(os.Environ(), held+"="+p.path)
	in, err := cmd.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != held+"\n" {
		p.Fatalf("the other process said %q, %v", line, err)
	}
	return func() {
		in.Close() // it goes on
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			p.Errorf("the other process: %v", err)
		}
	}
}

// holdUntilTold is the other process.
func holdUntilTold(t *testing.T, driverName, path string) {
	db := OpenOne(t, func(dsn string) (*sql.DB, error) { return sql.Open(driverName, dsn) }, path)
	Must(t, db, "PRAGMA busy_timeout = 60000")
	Must(t, db, "BEGIN IMMEDIATE")
	os.Stdout.WriteString(held + "\n")
	io.Copy(io.Discard, os.Stdin)
	Must(t, db, "COMMIT")
}

// AwaitRunning waits until the method has been in the driver for so long.
func AwaitRunning(p *sqlitetrace.Probe, method string, d time.Duration) {
	for runs := running(p, method, d); !runs(); {
		time.Sleep(time.Millisecond)
	}
}

// running gives a function that tells whether the method has been in the driver
// for so long since it was first seen there. What the probe says is in flight may
// not have come so far: on a busy machine a goroutine can lose its processor in
// between, and then it waits for nobody.
func running(p *sqlitetrace.Probe, method string, d time.Duration) func() bool {
	its := func(o probe.Overlap) bool { return o.Name == method && o.Running }
	var since time.Time
	return func() bool {
		if !slices.ContainsFunc(p.Overlapping(nil, 0), its) {
			return false
		}
		if since.IsZero() && inDriver() {
			since = time.Now()
		}
		return !since.IsZero() && time.Since(since) > d
	}
}

// inDriver tells whether there is a goroutine in somebody else's code that
// package sqlitetrace has called.
func inDriver() bool {
	const own = "github.com/tidestaff/tidestaff/"
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		inner, _, ok := strings.Cut(goroutine, "\n"+own+"sqlitetrace.")
		for line := range strings.SplitSeq(inner, "\n") {
			// A function's line begins with its package's path, others with a tab;
			// that of another module has a dot in its first part.
			host, _, path := strings.Cut(line, "/")
			if ok && path && strings.Contains(host, ".") && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, own) {
				return true
			}
		}
	}
	return false
}

// Attached writes to an attached file while the main one's lock is held, and in
// transactions. The ledger takes such a write for one to the main file, which is
// as far as a text tells (a table's name may be that of any file), so that it may
// say who held wrongly; but it never loses a hold, and nobody stays on it.
func Attached(t *testing.T, driverName string) {
	r := lockTest(t, driverName, "WAL", func(p *lockPair) {
		Must(t, p.other, "ATTACH DATABASE ? AS far", filepath.Join(t.TempDir(), "far.db"))
		Must(t, p.other, "CREATE TABLE far.away (n INTEGER)")
		far := func(query string) {
			if _, err := p.other.ExecContext(As("far"), query); err != nil {
				t.Errorf("%s: %v", query, err)
			}
		}
		begin := func() {
			if _, err := p.holder.ExecContext(As("hold"), "BEGIN IMMEDIATE"); err != nil {
				t.Error(err)
			}
		}
		begin()
		far("INSERT INTO far.away VALUES (1)")
		far("BEGIN")
		far("INSERT INTO away VALUES (2)")
		Must(t, p.holder, "INSERT INTO item VALUES ('a')")
		far("COMMIT")
		if _, err := p.other.ExecContext(As("busy"), "INSERT INTO item VALUES ('b')"); err == nil {
			t.Error("the lock was not held")
		}
		Must(t, p.holder, "COMMIT")
		far("BEGIN")
		far("INSERT INTO far.away VALUES (3)")
		begin()
		far("ROLLBACK")
		Must(t, p.holder, "COMMIT")
	})
	if n, _ := holds(r, "hold"); n != 2 {
		t.Errorf("holds of the main file: got %d, want 2", n)
	}
	if n, _ := holds(r, "far"); n != 3 {
		t.Errorf("holds of the attached file: got %d, want 3", n)
	}
	waited := counts(r, "tidestaff.db.lock.waits", probe.AttrMethod)
	if waited["busy"] != 1 || waited["afterwards"] != 0 {
		t.Errorf("waits: got %v, want 1 of busy and none afterwards", waited)
	}
}
