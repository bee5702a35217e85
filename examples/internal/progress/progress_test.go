package progress

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func Example() {
	line := New(os.Stdout, "before")
	line.Say("seeding %d records", 20_000)
	stop := line.Follow(func() string { return "3 of 10 done" })
	stop() // when the work is done
	line.End()
	// Output: before  seeding 20000 records
}

// TestFollow wants a state at each period, and none after stop.
func TestFollow(t *testing.T) {
	for terminal, want := range map[bool]string{
		false: "after   1\nafter   2\n",
		true:  clear + "after   1" + clear + "after   2" + clear + "after   3" + clear + "after   4" + clear,
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			line := New(&out, "after")
			line.terminal = terminal
			n := 0
			stop := line.Follow(func() string { n++; return fmt.Sprint(n) })
			time.Sleep(4*time.Second + time.Millisecond)
			stop()
			stop()
			time.Sleep(time.Minute)
			line.End()
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("terminal %t (-want +got):\n%s", terminal, diff)
			}
		})
	}
}

// TestPlain wants no control character in what is not a terminal.
func TestPlain(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := New(f, "x")
	line.Say("one")
	line.End()
	got, err := os.ReadFile(f.Name())
	if want := "x       one\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
