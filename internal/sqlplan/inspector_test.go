package sqlplan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRemembers(t *testing.T) {
	var in Inspector
	f := newFake(t, "max")
	look := func(want bool) {
		t.Helper()
		f.asked = nil
		p, fresh, err := in.Inspect(f, f.text, nil)
		explained := slices.ContainsFunc(f.asked, func(s string) bool { return strings.HasPrefix(s, "EXPLAIN") })
		if err != nil || words(p) != f.want || fresh != want || explained != want {
			t.Errorf("got %s, fresh %v, explained %v, %v, want %s, %v", words(p), fresh, explained, err, f.want, want)
		}
	}
	look(true)
	look(false)
	f.setVersion(f.version + 1)
	look(true)
	look(false)
	in.Inspect(f, "ANALYZE", nil)
	look(true)
	f.tx = true
	look(false)
	if len(f.asked) > 0 {
		t.Errorf("a known plan in a transaction: got %q asked, want nothing", f.asked)
	}
}

// setVersion changes the schema as another connection would.
func (f *fake) setVersion(v int64) {
	f.version = v
	for _, row := range f.code {
		if row[1] == "Transaction" {
			row[4] = v
		}
	}
}

// What the connection still takes for the schema may be older than what is in
// the file; such a plan is not kept.
func TestStaleConnection(t *testing.T) {
	var in Inspector
	f := newFake(t, "max")
	f.version++ // and not in the bytecode
	for range 2 {
		p, fresh, err := in.Inspect(f, f.text, nil)
		if err != nil || p.Class != Unknown || p.Why == "" || fresh {
			t.Errorf("got %s, %v, %v, want unknown, not fresh", words(p), fresh, err)
		}
	}
	f.setVersion(f.version)
	if p, fresh, err := in.Inspect(f, f.text, nil); err != nil || !fresh || words(p) != f.want {
		t.Errorf("got %s, %v, %v, want %s", words(p), fresh, err, f.want)
	}
}

func TestTransactions(t *testing.T) {
	var in Inspector
	write := newFake(t, "truncate")
	write.tx = true
	p, fresh, err := in.Inspect(write, write.text, nil)
	if err != nil || p.Class != Unknown || fresh || len(write.asked) > 0 {
		t.Errorf("a write in an unknown schema: got %s, %v, %v, asked %q, want unknown and nothing asked", words(p), fresh, err, write.asked)
	}
	read := newFake(t, "max")
	read.tx = true
	if p, _, err := in.Inspect(read, read.text, nil); err != nil || words(p) != read.want {
		t.Errorf("a read in an unknown schema: got %s, %v, want %s", words(p), err, read.want)
	}
	p, _, err = in.Inspect(write, write.text, nil)
	if err != nil || words(p) != write.want || len(write.asked) != 2 {
		t.Errorf("a write in a known schema: got %s, %v, asked %q, want %s with two questions", words(p), err, write.asked, write.want)
	}
	write.setVersion(write.version + 1) // a change that this connection has seen and the Inspector has not
	in.forget()
	write.asked = nil
	p, fresh, err = in.Inspect(write, write.text, nil)
	if err != nil || p.Class != Unknown || fresh || len(write.asked) != 1 {
		t.Errorf("a write in a changed schema: got %s, %v, %v, asked %q, want unknown after one question", words(p), fresh, err, write.asked)
	}
}

func TestFailures(t *testing.T) {
	for _, fail := range []string{"PRAGMA database_list", `PRAGMA "main"`, "SELECT rootpage", "EXPLAIN QUERY", "EXPLAIN SELECT"} {
		var in Inspector
		f := newFake(t, "max")
		f.fail = fail
		if p, fresh, err := in.Inspect(f, f.text, nil); err == nil || p.Class != Unknown || p.Why == "" || fresh {
			t.Errorf("%s fails: got %s, %v, %v, want unknown and an error", fail, words(p), fresh, err)
		}
		f.fail = ""
		if p, fresh, err := in.Inspect(f, f.text, nil); err != nil || !fresh || words(p) != f.want {
			t.Errorf("after %s failed: got %s, %v, %v, want %s", fail, words(p), fresh, err, f.want)
		}
	}
}

func TestBounds(t *testing.T) {
	var in Inspector
	f := newFake(t, "max")
	for i := range 3 * maxPlans {
		if _, _, err := in.Inspect(f, fmt.Sprint(f.text, " -- ", i), nil); err != nil {
			t.Fatal(err)
		}
		if len(in.plans) > maxPlans {
			t.Fatalf("plans: got %d, want at most %d", len(in.plans), maxPlans)
		}
	}
	for i := range 40 {
		in.Inspect(f, fmt.Sprint(f.text, " -- ", i, strings.Repeat("x", maxText-100)), nil)
		if in.bytes > maxTexts {
			t.Fatalf("bytes: got %d, want at most %d", in.bytes, maxTexts)
		}
	}
	f.asked = nil
	p, fresh, err := in.Inspect(f, strings.Repeat(" ", maxText)+f.text, nil)
	if err != nil || p.Class != Unknown || fresh || len(f.asked) > 0 {
		t.Errorf("a long text: got %s, %v, %v, asked %q, want unknown and nothing asked", words(p), fresh, err, f.asked)
	}
}

func TestClassNames(t *testing.T) {
	var got []string
	for c := range AutoIndex + 2 {
		got = append(got, c.String())
	}
	want := "unknown none search limited scan scan scan+sort automatic index unknown"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
