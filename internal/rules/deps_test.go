package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heavy are packages that no library package may link, not even through
// something that it imports, but for those named with their reason. The other
// guarded packages are only our own business: whether a dependency logs is its
// author's.
var heavy = map[string]map[string]string{
	"net/http": {
		"probe/otelexport": "otel/propagation declares a carrier for http.Header",
		"fsstat/fshttp":    "it is for programs that serve files over HTTP, and for no others",
	},
	"testing": {"probe/probetest": "it adapts testing.B and testing.TB"},
}

// A listing is what `go list -json` tells about one package.
type listing struct {
	ImportPath string
	Name       string
	Deps       []string
}

// checkDeps looks for heavy packages below every library package.
func checkDeps(goos string, packages []listing) []string {
	var bad []string
	for _, p := range packages {
		dir := strings.TrimPrefix(p.ImportPath, own)
		if p.Name == "main" {
			continue
		}
		for _, dep := range p.Deps {
			if except, ok := heavy[dep]; ok && except[dir] == "" {
				bad = append(bad, fmt.Sprintf("%s: links %q on %s: %s (`go list -deps` shows through what); exceptions are in heavy in internal/rules/deps_test.go",
					dir, dep, goos, guarded[dep]))
			}
		}
	}
	return bad
}

// TestDependencies asks the go command what each package of the root module
// links on each system, as a user's build without our workspace would.
func TestDependencies(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command in PATH")
	}
	for _, goos := range systems {
		packages, err := list(goos)
		if err != nil {
			t.Errorf("go list for %s: %v", goos, err)
		}
		for _, bad := range checkDeps(goos, packages) {
			t.Error(bad)
		}
	}
}

func list(goos string) ([]listing, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Deps", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+goos, "GOARCH=amd64")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	var packages []listing
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listing
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, err
		}
		packages = append(packages, p)
	}
}

func TestCheckDeps(t *testing.T) {
	packages := []listing{
		{own + "lag", "lag", []string{"fmt", "net/http", "os"}},
		{own + "probe/probetest", "probetest", []string{"testing"}},
		{own + "probe", "probe", []string{"testing", "testing/synctest"}},
		{own + "cmd/tidestaff", "main", []string{"net/http"}},
	}
	var got []string
	for _, bad := range checkDeps("darwin", packages) {
		start, _, _ := strings.Cut(bad, ":")
		_, link, _ := strings.Cut(bad, "links ")
		link, _, _ = strings.Cut(link, ":")
		got = append(got, start+" "+link)
	}
	want := []string{`lag "net/http" on darwin`, `probe "testing" on darwin`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checkDeps (-want +got):\n%s", diff)
	}
}
