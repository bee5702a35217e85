package drive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidestaff/tidestaff/examples/internal/drive"
)

// TestFailureClasses plays against a real server that fails in each way.
func TestFailureClasses(t *testing.T) {
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "fine") })
	mux.HandleFunc("/late", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/late-body", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begins")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "ten bytes.")
	})
	mux.HandleFunc("/cut-chunk", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "a chunk")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/hangup", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer close(release)
	closed := httptest.NewServer(mux)
	closed.Close()

	client := drive.Client(10)
	defer client.CloseIdleConnections()
	get := func(url string, want string) func(context.Context) error {
		return func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			body, err := drive.Body(resp)
			if err == nil && string(body) != want {
				err = drive.Wrong(fmt.Errorf("got %q, want %q", body, want))
			}
			return err
		}
	}
	tests := []struct {
		name string
		do   func(context.Context) error
		want drive.Class
	}{
		{"ok", get(srv.URL+"/ok", "fine"), ""},
		{"content", get(srv.URL+"/ok", "other"), drive.ClassWrong},
		{"status", get(srv.URL+"/gone", ""), drive.ClassWrong},
		{"no answer", get(srv.URL+"/late", ""), drive.ClassTimeout},
		{"body stalls", get(srv.URL+"/late-body", ""), drive.ClassTimeout},
		{"short body", get(srv.URL+"/short", ""), drive.ClassEarlyEnd},
		{"cut chunk", get(srv.URL+"/cut-chunk", ""), drive.ClassEarlyEnd},
		{"hang-up", get(srv.URL+"/hangup", ""), drive.ClassEarlyEnd},
		{"closed port", get(closed.URL+"/ok", ""), drive.ClassRefused},
		{"elsewhere", get("http://192.0.2.1/ok", ""), drive.ClassOther},
	}
	var user drive.User
	for _, tt := range tests {
		a := drive.Activity{Name: tt.name, Rate: 1000, Count: 2, Do: tt.do}
		if tt.want == drive.ClassTimeout { // the others have 30 s, enough for any machine
			a.Timeout = 300 * ms
		}
		user.Activities = append(user.Activities, a)
	}
	p := play(t, t.Context(), drive.Options{}, user)
	if p.err != nil {
		t.Fatal(p.err)
	}
	for _, tt := range tests {
		var want []drive.Failure
		if tt.want != "" {
			want = []drive.Failure{{Class: tt.want, N: 2}}
		}
		got := p.results[tt.name]
		if diff := cmp.Diff(want, got.Failures); diff != "" {
			t.Errorf("%s: failures (-want +got):\n%s", tt.name, diff)
		}
		if got.Response.N != 2 {
			t.Errorf("%s: n = %d, want 2: failures are kept", tt.name, got.Response.N)
		}
		if tt.want == drive.ClassTimeout && got.Response.Max < 300*ms {
			t.Errorf("%s: max = %v, want at least the time-out", tt.name, got.Response.Max)
		}
	}
	if p.Done != p.Planned {
		t.Errorf("done %d of %d: failed operations are done too", p.Done, p.Planned)
	}
}

func TestClassify(t *testing.T) {
	timeout := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	tests := []struct {
		err  error
		want drive.Class
	}{
		{nil, ""},
		{errors.New("x"), drive.ClassOther},
		{drive.Wrong(errors.New("x")), drive.ClassWrong},
		{fmt.Errorf("job: %w", drive.Wrong(io.EOF)), drive.ClassWrong},
		{context.Canceled, drive.ClassCanceled},
		{fmt.Errorf("get: %w", context.DeadlineExceeded), drive.ClassTimeout},
		{timeout, drive.ClassTimeout},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), drive.ClassEarlyEnd},
	}
	for _, tt := range tests {
		if got := drive.Classify(tt.err); got != tt.want {
			t.Errorf("Classify(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
	if drive.Wrong(nil) != nil {
		t.Error("Wrong(nil) is an error")
	}
}

func TestDrain(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short" {
			w.Header().Set("Content-Length", "100")
		}
		io.WriteString(w, "ten bytes.")
	}))
	defer srv.Close()
	client := drive.Client(1)
	defer client.CloseIdleConnections()
	for path, want := range map[string]drive.Class{"/whole": "", "/short": drive.ClassEarlyEnd} {
		resp, err := client.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := drive.Drain(resp)
		if n != 10 || drive.Classify(err) != want {
			t.Errorf("%s: got %d bytes, %v, want 10 and class %q", path, n, err, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	good := []string{"127.0.0.1:80", "127.9.8.7", "http://127.0.0.1:8080/x", "[::1]:80", "http://[::1]/", "::1", "localhost:1", "http://LOCALHOST/", "[::ffff:127.0.0.1]:1"}
	bad := []string{"", "10.0.0.1:80", "http://example.com/", "example.com:80", "0.0.0.0:80", "http://127.0.0.1.example.com/", "http://127.0.0.1@example.com/", "[2001:db8::1]:80", "localhost.example.com:1"}
	for _, target := range good {
		if err := drive.Loopback(target); err != nil {
			t.Errorf("Loopback(%q) = %v", target, err)
		}
	}
	for _, target := range bad {
		if err := drive.Loopback(target); err == nil {
			t.Errorf("Loopback(%q) = nil, want an error", target)
		}
	}
}

// TestClientFollowsNobodyElsewhere: a redirect away from this machine fails
// before anything is sent.
func TestClientFollowsNobodyElsewhere(t *testing.T) {
	srv := httptest.NewServer(http.RedirectHandler("http://192.0.2.1:9/", http.StatusFound))
	defer srv.Close()
	client := drive.Client(1)
	defer client.CloseIdleConnections()
	client.Timeout = 20 * time.Second
	_, err := client.Get(srv.URL)
	if err == nil || drive.Classify(err) != drive.ClassOther {
		t.Errorf("error = %v, want the guard's", err)
	}
}

// TestGetJSON wants the answer decoded, and one that is not JSON to be wrong.
func TestGetJSON(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `[1, 2]`) })
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `fine`) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	client := drive.Client(1)
	defer client.CloseIdleConnections()
	var got []int
	if err := drive.GetJSON(t.Context(), client, srv.URL+"/ok", &got); err != nil || !cmp.Equal(got, []int{1, 2}) {
		t.Errorf("got %v, %v, want [1 2]", got, err)
	}
	for _, path := range []string{"/text", "/nowhere"} {
		if err := drive.GetJSON(t.Context(), client, srv.URL+path, &got); drive.Classify(err) != drive.ClassWrong {
			t.Errorf("%s: got %v, want wrong content", path, err)
		}
	}
}
