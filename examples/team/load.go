package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
)

// newLoad makes the load of six engineers on the server at base. Everything in
// it is counted work, the periodic calls included, so that both variants are
// asked for the same.
func newLoad(p profile, seed uint64, base string, client *http.Client) *drive.Driver {
	d := drive.New(drive.Options{Seed: seed, Cap: p.cap, Timeout: max(p.cap, 30*time.Second)})
	for i := range userCount {
		e := &engineer{index: i, profile: p, base: base, http: client, boxes: []string{deskOf(i)}}
		d.Add(e.user())
	}
	return d
}

// An engineer is one user: an MCP client and an open dashboard.
type engineer struct {
	index   int
	profile profile
	base    string
	http    *http.Client

	mu    sync.Mutex
	boxes []string // live sandboxes, to run commands in
}

func (e *engineer) user() drive.User {
	periodic := func(name string, every time.Duration, do func(context.Context) error) drive.Activity {
		every = e.profile.scaled(every)
		return drive.Activity{Name: name, Do: do, Every: every, Count: int(e.profile.load / every)}
	}
	u := drive.User{Activities: []drive.Activity{
		periodic(opListSessions, listEvery, listTool[Session](e, opListSessions, sessionID)),
		periodic(opListBoxes, listEvery, listTool[Sandbox](e, opListBoxes, sandboxID)),
		periodic(opListJobs, listEvery, listTool[Job](e, opListJobs, jobID)),
		periodic(opExec, execEvery, e.exec),
		periodic(opRESTSessions, refreshEvery, listREST[Session](e, "/api/sessions", sessionID)),
		periodic(opRESTBoxes, refreshEvery, listREST[Sandbox](e, "/api/sandboxes", sandboxID)),
		periodic(opRESTJobs, refreshEvery, listREST[Job](e, "/api/jobs", jobID)),
	}}
	for i := range e.profile.sessions {
		u.Scripts = append(u.Scripts, drive.Script{Work: e.profile.turns, Do: func(ctx context.Context, s *drive.Session) error {
			return e.session(s, i)
		}})
	}
	for i := range e.profile.userJobs {
		u.Scripts = append(u.Scripts, drive.Script{Do: func(ctx context.Context, s *drive.Session) error {
			return e.job(s, i)
		}})
	}
	u.Scripts = append(u.Scripts, drive.Script{Do: func(ctx context.Context, s *drive.Session) error { return e.churn(s) }})
	if e.profile.soaks() && e.index == 0 {
		u.Scripts = append(u.Scripts, drive.Script{Do: func(ctx context.Context, s *drive.Session) error { return e.sweep(s) }})
	}
	return u
}

func sessionID(s Session) int64  { return s.ID }
func sandboxID(sb Sandbox) int64 { return sb.ID }
func jobID(j Job) int64          { return j.ID }

// session is the i-th session: it starts, has its turns and is polled all the
// while.
func (e *engineer) session(s *drive.Session, i int) error {
	if err := s.Sleep(time.Duration(i) * e.profile.scaled(sessionEvery)); err != nil {
		return err
	}
	var se Session
	err := s.Do(opStartSession, func(ctx context.Context) error {
		name := fmt.Sprintf("%s-session-%d", userName(e.index), i+1)
		return e.tool(ctx, opStartSession, arguments{Sandbox: name}, &se)
	})
	if err != nil {
		return err
	}
	e.keep(se.Sandbox)
	for turn := range e.profile.turns {
		err := s.Do(opSend, func(ctx context.Context) error {
			return e.tool(ctx, opSend, arguments{Session: se.ID, Text: fmt.Sprintf("message %d", turn+1)}, nil)
		})
		if err != nil {
			return err
		}
		if err := e.awaitTurn(s, se.ID, turn+1); err != nil {
			return err
		}
		s.Done()
	}
	return nil
}

// awaitTurn polls a session until it has finished that many turns.
func (e *engineer) awaitTurn(s *drive.Session, id int64, turns int) error {
	return e.poll(s, func() (bool, error) {
		var se Session
		err := s.Do(opGetSession, func(ctx context.Context) error {
			err := e.tool(ctx, opGetSession, arguments{Session: id}, &se)
			if err == nil && se.ID != id {
				err = drive.Wrong(fmt.Errorf("session %d, want %d", se.ID, id))
			}
			return err
		})
		return se.Turns >= turns, err
	})
}

// job is the i-th job: submitted, then looked for in the listing until it is
// done. The jobs come at different times of the load.
func (e *engineer) job(s *drive.Session, i int) error {
	at := time.Duration(s.Rand.Int64N(int64(e.profile.load / 2)))
	if err := s.Sleep(at); err != nil {
		return err
	}
	var j Job
	err := s.Do(opSubmitJob, func(ctx context.Context) error {
		return e.tool(ctx, opSubmitJob, arguments{Text: titleOf(i)}, &j)
	})
	if err != nil {
		return err
	}
	return e.poll(s, func() (bool, error) {
		var page Page[Job]
		err := s.Do(opListJobs, func(ctx context.Context) error {
			return e.tool(ctx, opListJobs, arguments{}, &page)
		})
		done := slices.ContainsFunc(page.Items, func(k Job) bool { return k.ID == j.ID && k.State == stateDone })
		return done, err
	})
}

// poll asks each five seconds, scaled, until the answer is yes. An answer that
// takes longer moves the next question to the next point of that grid, as a
// client does that waits for one answer before it asks again. A failed poll is
// counted and asked again.
func (e *engineer) poll(s *drive.Session, ask func() (done bool, err error)) error {
	every := e.profile.scaled(pollEvery)
	for next := time.Now().Add(every); ; {
		if err := s.SleepUntil(next); err != nil {
			return err
		}
		if done, err := ask(); done && err == nil {
			return nil
		}
		for next = next.Add(every); next.Before(time.Now()); {
			next = next.Add(every)
		}
	}
}

// churn creates and destroys sandboxes from the dashboard.
func (e *engineer) churn(s *drive.Session) error {
	least, most := e.profile.scaled(createMin), e.profile.scaled(createMax)
	gap := func() time.Duration { return least + time.Duration(s.Rand.Int64N(int64(most-least))) }
	start := time.Now()
	due := time.Duration(s.Rand.Int64N(int64(gap()))) // somewhere within the first gap
	for i := 1; due < e.profile.load; i++ {
		if err := s.SleepUntil(start.Add(due)); err != nil {
			return err
		}
		name := fmt.Sprintf("%s-scratch-%d", userName(e.index), i)
		if err := s.Do(opCreate, func(ctx context.Context) error { return e.create(ctx, name) }); err != nil {
			return err
		}
		err := s.Do(opDestroy, func(ctx context.Context) error {
			return e.rest(ctx, http.MethodDelete, "/api/sandboxes/"+name, nil, nil)
		})
		if err != nil {
			return err
		}
		due += gap()
	}
	return nil
}

func (e *engineer) create(ctx context.Context, name string) error {
	var sb Sandbox
	err := e.rest(ctx, http.MethodPost, "/api/sandboxes", arguments{Sandbox: name}, &sb)
	if err == nil && (sb.Name != name || sb.State != stateLive) {
		err = drive.Wrong(fmt.Errorf("sandbox %q is %s, want %q live", sb.Name, sb.State, name))
	}
	return err
}

// exec runs a command in one of the engineer's sandboxes.
func (e *engineer) exec(ctx context.Context) error {
	var got execResult
	err := e.tool(ctx, opExec, arguments{Sandbox: e.anyBox(drive.Rand(ctx)), Text: "make test"}, &got)
	if err == nil && got.Output != "make test: ok" {
		err = drive.Wrong(fmt.Errorf("output %q", got.Output))
	}
	return err
}

func (e *engineer) keep(box string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.boxes = append(e.boxes, box)
}

func (e *engineer) anyBox(rng *rand.Rand) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boxes[rng.IntN(len(e.boxes))]
}

// listTool is a listing over MCP and listREST one over REST; both check the
// page.
func listTool[T any](e *engineer, name string, id func(T) int64) func(context.Context) error {
	return func(ctx context.Context) error {
		var page Page[T]
		return cmp.Or(e.tool(ctx, name, arguments{}, &page), checkPage(page, id))
	}
}

func listREST[T any](e *engineer, path string, id func(T) int64) func(context.Context) error {
	return func(ctx context.Context) error {
		var page Page[T]
		return cmp.Or(e.rest(ctx, http.MethodGet, path, nil, &page), checkPage(page, id))
	}
}

// checkPage wants the newest first and no more than a page of them.
func checkPage[T any](p Page[T], id func(T) int64) error {
	sorted := slices.IsSortedFunc(p.Items, func(a, b T) int { return cmp.Compare(id(b), id(a)) })
	if len(p.Items) > pageSize || !sorted {
		return drive.Wrong(fmt.Errorf("a page of %d items, newest first: %t", len(p.Items), sorted))
	}
	return nil
}

// tool calls a tool over MCP and decodes what it returns into out, if any.
func (e *engineer) tool(ctx context.Context, name string, args arguments, out any) error {
	id := json.RawMessage("1")
	var resp struct {
		Result struct {
			Content json.RawMessage `json:"structuredContent"`
		} `json:"result"`
		Error *rpcError `json:"error"`
	}
	req := rpc{Version: "2.0", ID: id, Method: "tools/call", Params: &toolCall{name, args}}
	if err := e.rest(ctx, http.MethodPost, "/mcp", req, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return drive.Wrong(errors.New(resp.Error.Message))
	}
	return decodeInto(resp.Result.Content, out)
}

// rest sends a request with the engineer's token, reads the body to its end
// and decodes it into out, if any.
func (e *engineer) rest(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+tokenOf(e.index))
	resp, err := e.http.Do(req)
	if err != nil {
		return err
	}
	data, err := drive.Body(resp)
	if err != nil {
		return err
	}
	return decodeInto(data, out)
}

func decodeInto(data []byte, out any) error {
	if out == nil {
		return nil
	}
	return drive.Wrong(json.Unmarshal(data, out))
}
