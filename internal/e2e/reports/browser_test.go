package reports

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe/report"
)

// look is a script that is put into a copy of a page: it asks the browser where
// everything is and in which colours, and leaves the answer in the document.
//
//go:embed look.js
var look string

// A view is what the script saw.
type view struct {
	Dark      bool
	Title     string
	Charts    int      // with something drawn in them
	Tables    int      // with rows
	Scripts   int      // beside our own
	Requests  int      // for anything beyond the page
	Outside   []string // what is drawn outside its chart
	Overflow  bool     // whether the page is wider than the window
	Pale      []string // text and lines that cannot be told from the background
	Exception string
}

// chromium finds a browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs a browser: install chromium")
	return ""
}

// open lays the page out in a window and returns what the script saw.
func open(t *testing.T, browser, page string, width int, dark bool) view {
	t.Helper()
	scheme := 1
	if dark {
		scheme = 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// Not t.TempDir: a helper process of the browser may still write there when
	// the browser has ended, and a test must not fail for that.
	profile, err := os.MkdirTemp("", "tidestaff-browser-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+profile,
		fmt.Sprintf("--window-size=%d,900", width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--dump-dom", "file://"+page)
	cmd.Stderr = &stderr
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	// A helper process may keep the pipes for longer than the browser, which has
	// ended well then.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s: %v\n%s", browser, err, stderr.Bytes())
	}
	_, rest, ok := strings.Cut(string(out), `id="seen">`)
	encoded, _, ok2 := strings.Cut(rest, "<")
	if !ok || !ok2 {
		t.Fatalf("the script has left no answer\n%s\n%.2000s", stderr.Bytes(), out)
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	var v view
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestPageInABrowser lays pages out in light on a wide screen and in dark on a
// narrow one: nothing may be unreadable, cut off or fetched.
func TestPageInABrowser(t *testing.T) {
	browser := chromium(t)
	one, other := run(t, "before", 3), run(t, "after", 1)
	repeats := report.Repeat("after", run(t, "after", 1), other)
	for name, p := range map[string]struct {
		write  func(io.Writer) error
		charts int
	}{
		"report":  {one.WriteHTML, 5},
		"repeats": {repeats.WriteHTML, 5},
		"compare": {report.Compare(one, repeats, report.CompareOptions{All: true}).WriteHTML, 5},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := p.write(&b); err != nil {
				t.Fatal(err)
			}
			page := filepath.Join(t.TempDir(), "page.html")
			copied := strings.Replace(b.String(), "</body>", "<script>"+look+"</script></body>", 1)
			if err := os.WriteFile(page, []byte(copied), 0o666); err != nil {
				t.Fatal(err)
			}
			for width, dark := range map[int]bool{1280: false, 500: true} {
				v := open(t, browser, page, width, dark)
				if v.Dark != dark || v.Exception != "" {
					t.Fatalf("dark %v, exception %q; want dark %v and none", v.Dark, v.Exception, dark)
				}
				if v.Charts < p.charts || v.Tables == 0 || v.Scripts != 0 || v.Requests != 0 || strings.Contains(v.Title, "hacked") {
					t.Errorf("width %d: %d charts, %d tables, %d scripts, %d requests, title %q; want at least %d charts and a table, and no scripts or requests",
						width, v.Charts, v.Tables, v.Scripts, v.Requests, v.Title, p.charts)
				}
				if v.Overflow || len(v.Outside) > 0 || len(v.Pale) > 0 {
					t.Errorf("dark %v, width %d: wider than the window: %v, outside of charts: %q, pale: %q", dark, width, v.Overflow, v.Outside, v.Pale)
				}
			}
		})
	}
}
