package kernel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestBoot: a machine that says that it is done is done. One that ends before, or
// that does not end in the time it has, did not finish, and an emulator that fails
// is another matter. A shell stands in for the emulator.
func TestBoot(t *testing.T) {
	const long = time.Minute
	for _, tt := range []struct {
		script  string
		limit   time.Duration
		notDone bool
		err     string
	}{
		{"echo; echo " + sayDone, long, false, ""},
		{"echo Linux", long, true, "did not finish"},
		{"echo " + sayDone + "; exec sleep 600", 100 * time.Millisecond, true, "stopped after 100ms"},
		{"echo; echo " + sayDone + "; exit 3", long, false, "exit status 3"},
	} {
		console, err := boot(t.Context(), tt.limit, "/bin/sh", "-c", tt.script)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got error %v, want one with %q; it printed %q", tt.script, err, tt.err, console)
		}
		if got := errors.Is(err, errNotDone); got != tt.notDone {
			t.Errorf("%s: got %v, of which errNotDone is %t, want %t", tt.script, err, got, tt.notDone)
		}
	}
}

// TestBootTwice: only a machine that did not finish has another try, and only one.
func TestBootTwice(t *testing.T) {
	failed := errors.New("no such emulator")
	slow := fmt.Errorf("%w: stopped", errNotDone)
	for _, tt := range []struct {
		results []error // of the tries that there may be
		want    error
	}{
		{[]error{nil}, nil},
		{[]error{slow, nil}, nil},
		{[]error{slow, slow}, slow},
		{[]error{slow, failed}, failed},
		{[]error{failed}, failed},
	} {
		tries, logged := 0, 0
		console, err := bootTwice(func() (string, error) {
			tries++
			if tries > len(tt.results) {
				return "", nil
			}
			return fmt.Sprint("try ", tries), tt.results[tries-1]
		}, func(string, ...any) { logged++ })
		if n := len(tt.results); tries != n || logged != n-1 || err != tt.want || console != fmt.Sprint("try ", n) {
			t.Errorf("%v: got %q, %v after %d tries, want %v; logged %d times", tt.results, console, err, tries, tt.want, logged)
		}
	}
}

// TestBootTimeout: the package's documentation says how long a machine has.
func TestBootTimeout(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words := map[time.Duration]string{2 * time.Minute: "two minutes", 3 * time.Minute: "three minutes", 4 * time.Minute: "four minutes"}
	if want := "Each has " + words[bootTimeout]; words[bootTimeout] == "" || !strings.Contains(string(doc), want) {
		t.Errorf("got a limit of %v and no %q in doc.go", bootTimeout, want)
	}
}
