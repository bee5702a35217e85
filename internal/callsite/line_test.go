package callsite_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tidestaff/tidestaff/internal/callsite"
)

// fleet is a service's store with a helper.
type fleet struct{}

// Save returns the line that is found, and that of its own call and of its
// helper's.
func (f fleet) Save(method string, skip ...string) (got, own, helpers string) {
	_, _, n, _ := runtime.Caller(0)
	got, helpers = f.save(method, skip)
	return got, fmt.Sprintf("line_test.go:%d", n+1), helpers
}

func (fleet) save(method string, skip []string) (got, own string) {
	_, _, n, _ := runtime.Caller(0)
	got = callsite.Line(skip, method)
	return got, fmt.Sprintf("line_test.go:%d", n+1)
}

// TestLine wants the line of the method, and the innermost of the service for one
// that is not on the chain.
func TestLine(t *testing.T) {
	got, own, helpers := fleet{}.Save("fleet.Save")
	if got != own {
		t.Errorf("of the method: got %s, want %s", got, own)
	}
	if got, _, _ = (fleet{}).Save("fleet.Get"); got != helpers {
		t.Errorf("of a method that is not there: got %s, want %s", got, helpers)
	}
	if got, _, _ = (fleet{}).Save("fleet.Save", "github.com/tidestaff/tidestaff/internal/callsite_test"); got == own || got == helpers {
		t.Errorf("got %s, which is to be passed over", got)
	}
}
