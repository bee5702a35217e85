package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// TestServer asks the API the ways in which a client can be wrong, and once
// each the ways in which it is right.
func TestServer(t *testing.T) {
	s := openStores(t, 60, 5)[after]
	l := &loops{store: s, ops: new(probe.Ops), files: fsstat.New(fsstat.Options{}), logs: t.TempDir(), profile: profile{speed: 100}}
	l.run(1)
	defer l.stop()
	srv := httptest.NewServer(newServer(s, l.ops, l).Handler())
	defer srv.Close()
	tool := func(name, args string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
	}
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
		want                      string // within the body
	}{
		"ready":             {"GET", "/readyz", "", "", 200, "ok"},
		"no token":          {"GET", "/api/sessions", "", "", 401, "unauthorized"},
		"unknown token":     {"GET", "/api/jobs", "nobody's", "", 401, "unauthorized"},
		"no token, tool":    {"POST", "/mcp", "", tool(opListBoxes, "{}"), 200, `"error":{"code":-32000,"message":"unauthorized"}`},
		"unknown tool":      {"POST", "/mcp", tokenOf(0), tool("reboot", "{}"), 200, `"code":-32601`},
		"unknown method":    {"POST", "/mcp", tokenOf(0), `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 200, `"code":-32601`},
		"not JSON":          {"POST", "/mcp", tokenOf(0), "{", 200, `"code":-32700`},
		"not JSON, REST":    {"POST", "/api/sandboxes", tokenOf(0), "{", 400, "unexpected EOF"},
		"unknown session":   {"POST", "/mcp", tokenOf(0), tool(opGetSession, `{"session":99999}`), 200, `"message":"not found"`},
		"unknown sandbox":   {"DELETE", "/api/sandboxes/nobody's", tokenOf(0), "", 404, "not found"},
		"taken name":        {"POST", "/api/sandboxes", tokenOf(1), `{"sandbox":"` + deskOf(0) + `"}`, 409, "the name is taken"},
		"exec":              {"POST", "/mcp", tokenOf(2), tool(opExec, `{"sandbox":"`+deskOf(2)+`","text":"ls"}`), 200, `"output":"ls: ok"`},
		"listing":           {"POST", "/mcp", tokenOf(2), tool(opListBoxes, "{}"), 200, `"next":17`},
		"second page, REST": {"GET", "/api/sandboxes?cursor=8", tokenOf(0), "", 200, `{"items":[{"id":7,"name":"box-7"`},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, srv.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.token)
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.want) {
				t.Errorf("got %d %.300s (%v), want %d with %s", resp.StatusCode, body, err, c.status, c.want)
			}
		})
	}
}

// TestTurn plays one turn by hand: the agent's events arrive in order, the
// record is written at each change of state and no more often, and a second
// message is refused until the turn is over.
func TestTurn(t *testing.T) {
	s := openStores(t, 10, 5)[after]
	l := &loops{store: s, ops: new(probe.Ops), files: fsstat.New(fsstat.Options{}), logs: t.TempDir(), profile: profile{speed: 1, turn: turnLength}}
	l.run(1)
	defer l.stop()
	srv := newServer(s, l.ops, l)
	start := func(box string) Session {
		v, err := srv.startSession(t.Context(), userName(0), arguments{Sandbox: box})
		if err != nil {
			t.Fatal(err)
		}
		return v.(Session)
	}
	busy := start("busy")
	if _, err := srv.send(t.Context(), userName(0), arguments{Session: busy.ID, Text: "hello", turn: l.newTurn()}); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.send(t.Context(), userName(0), arguments{Session: busy.ID, Text: "again", turn: l.newTurn()}); err != errBusy {
		t.Errorf("a message during a turn: got %v, want %v", err, errBusy)
	}

	se := start("mine") // its turn is the test's, not the loop's
	turn := l.newTurn()
	turn.session = se
	if err := l.openLog(turn); err != nil {
		t.Fatal(err)
	}
	var states []string
	length := int(turnLength / eventEvery)
	for n := 1; n <= length; n++ {
		turn.began = time.Now().Add(-time.Duration(n)*eventEvery - time.Millisecond) // n events are due, and no more for half a second
		done, err := l.tail(turn)
		if err != nil || done != (n == length) {
			t.Fatalf("event %d: got done %t, %v", n, done, err)
		}
		stored, err := s.Session(t.Context(), se.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(states) == 0 || states[len(states)-1] != stored.State {
			states = append(states, stored.State)
		}
	}
	turn.end(nil)
	want := []string{"thinking", "reading", "editing", "testing", stateIdle}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(filepath.Join(l.logs, fmt.Sprintf("session-%d.jsonl", se.ID)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if len(lines) != length {
		t.Errorf("the log has %d events, want %d", len(lines), length)
	}
	for _, line := range lines {
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind != "agent" {
			t.Errorf("the log has %q (%v), want an event of the agent", line, err)
		}
	}
}
