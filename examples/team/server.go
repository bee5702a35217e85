package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The names of requests. They are the operations of the server and those of
// its users, so that both sides of a table speak of the same.
const (
	opGetSession   = "get_session"
	opListSessions = "list_sessions"
	opListBoxes    = "list_sandboxes"
	opListJobs     = "list_jobs"
	opExec         = "exec"
	opSend         = "send"
	opStartSession = "start_session"
	opSubmitJob    = "submit_job"
	opRESTSessions = "GET /api/sessions"
	opRESTBoxes    = "GET /api/sandboxes"
	opRESTJobs     = "GET /api/jobs"
	opCreate       = "POST /api/sandboxes"
	opDestroy      = "DELETE /api/sandboxes"
)

// Server is the control plane: an API over HTTP and the loops behind it.
type Server struct {
	store *Store
	ops   *probe.Ops
	loops *loops
	tools map[string]call
}

// call is what a request asks for: the user is authenticated, and what it
// returns becomes the answer's JSON.
type call func(ctx context.Context, user string, args arguments) (any, error)

// arguments are those of any call. A call looks at its own.
type arguments struct {
	Session int64  `json:"session"`
	Sandbox string `json:"sandbox"`
	Cursor  int64  `json:"cursor"`
	Text    string `json:"text"`

	// What begins when the request arrives, not when its turn has come.
	turn *turn   // of send
	job  *jobRun // of submit_job
}

func newServer(store *Store, ops *probe.Ops, l *loops) *Server {
	s := &Server{store: store, ops: ops, loops: l}
	s.tools = map[string]call{
		opGetSession: s.getSession, opListSessions: s.listSessions, opListBoxes: s.listSandboxes, opListJobs: s.listJobs,
		opExec: s.exec, opSend: s.send, opStartSession: s.startSession, opSubmitJob: s.submitJob,
	}
	return s
}

// Handler routes the API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", s.mcp)
	rest := func(name, pattern string, do call) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.rest(w, r, name, do) })
	}
	rest(opRESTSessions, "GET /api/sessions", s.listSessions)
	rest(opRESTBoxes, "GET /api/sandboxes", s.listSandboxes)
	rest(opRESTJobs, "GET /api/jobs", s.listJobs)
	rest(opCreate, "POST /api/sandboxes", s.createSandbox)
	rest(opDestroy, "DELETE /api/sandboxes/{sandbox}", s.destroySandbox)
	if s.loops.profile.soaks() {
		rest(opRetention, "POST /api/retention", s.retention)
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	return mux
}

// serve is the middleware: it runs a call as an operation of that name in the
// role "request", authenticated. The call goes on when its client has gone, so
// that a scan is counted whole or, at the end of the window, not at all.
func (s *Server) serve(r *http.Request, name string, args arguments, do call) (v any, err error) {
	probe.Do(s.loops.ctx, "request", func(ctx context.Context) {
		ctx, op := s.ops.Begin(ctx, name)
		defer func() { op.End(err) }()
		var user string
		if user, err = s.authenticate(ctx, r); err == nil {
			v, err = do(ctx, user, args)
		}
	})
	return v, err
}

var errUnauthorized = errors.New("unauthorized")

// authenticate finds the user of the request's token among all tokens, each
// of which is decoded for that.
func (s *Server) authenticate(ctx context.Context, r *http.Request) (string, error) {
	tokens, err := s.store.Tokens(ctx)
	if err != nil {
		return "", err
	}
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := digest(bearer)
	for _, t := range tokens {
		if subtle.ConstantTimeCompare([]byte(t.SHA256), []byte(sum)) == 1 {
			return t.User, nil
		}
	}
	return "", errUnauthorized
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// tokenOf is the secret of the i-th user, and userName what it is called.
func tokenOf(i int) string  { return "team-secret-" + strconv.Itoa(i) }
func userName(i int) string { return "engineer-" + strconv.Itoa(i+1) }

// rest answers a REST call: its arguments are in the path, the query and the
// body.
func (s *Server) rest(w http.ResponseWriter, r *http.Request, name string, do call) {
	args := arguments{Sandbox: r.PathValue("sandbox")}
	args.Cursor, _ = strconv.ParseInt(r.URL.Query().Get("cursor"), 10, 64)
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	v, err := s.serve(r, name, args, do)
	if err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	respond(w, v)
}

// rpc is a JSON-RPC 2.0 message, in both directions.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  *toolCall       `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type toolCall struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

type toolResult struct {
	Content any `json:"structuredContent"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// mcp answers the part of the Model Context Protocol that calls a tool.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	var req rpc
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req); err != nil {
		respond(w, rpc{Version: "2.0", Error: &rpcError{-32700, err.Error()}})
		return
	}
	resp := rpc{Version: "2.0", ID: req.ID}
	if req.Method != "tools/call" || req.Params == nil || s.tools[req.Params.Name] == nil {
		resp.Error = &rpcError{-32601, "no such method or tool"}
		respond(w, resp)
		return
	}
	args := req.Params.Arguments
	switch req.Params.Name {
	case opSend:
		args.turn = s.loops.newTurn()
	case opSubmitJob:
		args.job = s.loops.newJob()
	}
	v, err := s.serve(r, req.Params.Name, args, s.tools[req.Params.Name])
	if err != nil {
		args.fail(err)
		resp.Error = &rpcError{-32000, err.Error()}
	} else {
		resp.Result = toolResult{v}
	}
	respond(w, resp)
}

// fail ends what began with a request that failed.
func (a arguments) fail(err error) {
	if a.turn != nil {
		a.turn.op.End(err)
	}
	if a.job != nil {
		a.job.wait.End(err)
	}
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails only for a client that has gone
}

// status is the HTTP status of a refusal.
func status(err error) int {
	switch {
	case errors.Is(err, errUnauthorized):
		return http.StatusUnauthorized
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, ErrTaken), errors.Is(err, ErrQuota), errors.Is(err, errBusy):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// getSession reads a session and makes sure that its sandbox is alive.
func (s *Server) getSession(ctx context.Context, _ string, args arguments) (any, error) {
	se, err := s.store.Session(ctx, args.Session)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.Sandbox(ctx, se.SandboxID); err != nil {
		return nil, err
	}
	return se, nil
}

func (s *Server) listSessions(ctx context.Context, user string, args arguments) (any, error) {
	return s.store.ListSessions(ctx, user, args.Cursor)
}

func (s *Server) listSandboxes(ctx context.Context, _ string, args arguments) (any, error) {
	return s.store.ListSandboxes(ctx, args.Cursor)
}

func (s *Server) listJobs(ctx context.Context, user string, args arguments) (any, error) {
	return s.store.ListJobs(ctx, user, args.Cursor)
}

// exec runs a command in a sandbox, which it finds by its name. There is no
// provider here: the answer is ready at once.
func (s *Server) exec(ctx context.Context, _ string, args arguments) (any, error) {
	sb, err := s.store.SandboxByName(ctx, args.Sandbox)
	if err != nil {
		return nil, err
	}
	return execResult{Sandbox: sb.ID, Output: args.Text + ": ok"}, nil
}

type execResult struct {
	Sandbox int64  `json:"sandbox"`
	Exit    int    `json:"exit"`
	Output  string `json:"output"`
}

// send gives a session its next message, which begins a turn of its agent.
func (s *Server) send(ctx context.Context, _ string, args arguments) (any, error) {
	se, err := s.store.Session(ctx, args.Session)
	if err != nil {
		return nil, err
	}
	if se.State != stateIdle {
		return nil, errBusy
	}
	se.State = stateRunning
	se.say(time.Now(), "user", args.Text)
	if err := s.store.PutSession(ctx, &se); err != nil {
		return nil, err
	}
	s.loops.begin(args.turn, se)
	return se, nil
}

// startSession makes a sandbox and a session in it.
func (s *Server) startSession(ctx context.Context, user string, args arguments) (any, error) {
	now := time.Now().UnixMilli()
	sb := newSandbox(s.loops.rng(), args.Sandbox, user, now)
	if err := s.store.CreateSandbox(ctx, &sb); err != nil {
		return nil, err
	}
	se := Session{Owner: user, SandboxID: sb.ID, Sandbox: sb.Name, State: stateIdle, Created: now}
	err := s.store.CreateSession(ctx, &se)
	return se, err
}

// submitJob queues a job for the next free slot.
func (s *Server) submitJob(ctx context.Context, user string, args arguments) (any, error) {
	j := Job{Owner: user, Title: args.Text, State: stateQueued, Created: time.Now().UnixMilli()}
	if err := s.store.CreateJob(ctx, &j); err != nil {
		return nil, err
	}
	s.loops.queue(args.job, j)
	return j, nil
}

func (s *Server) createSandbox(ctx context.Context, user string, args arguments) (any, error) {
	sb := newSandbox(s.loops.rng(), args.Sandbox, user, time.Now().UnixMilli())
	err := s.store.CreateSandbox(ctx, &sb)
	return sb, err
}

func (s *Server) destroySandbox(ctx context.Context, _ string, args arguments) (any, error) {
	sb, err := s.store.SandboxByName(ctx, args.Sandbox)
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.store.SettleSandbox(ctx, sb, time.Now().UnixMilli())
}
