package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe"
)

// The names of operations. They are those of the server and those of its
// users, so that both sides of a table speak of the same.
const (
	opSend      = "send"
	opPeers     = "peers"
	opProgress  = "save progress"
	opDashboard = "GET /api/state"

	opHello = "hello" // gives a connection its peer's name
)

// roleDispatcher is the goroutine that everything happens on.
const roleDispatcher = "dispatcher"

// Broker passes messages between peers and answers dashboards. One goroutine,
// the dispatcher, owns its state and the store: whatever wants something of
// them posts a function, and while one runs the others wait. That is the loop
// whose lag the table shows.
type Broker struct {
	store  *Store
	ops    *probe.Ops
	listen net.Listener // for peers

	loop  chan func(context.Context)
	ctx   context.Context // ends with the broker
	stop  context.CancelFunc
	ended sync.WaitGroup

	peers map[string]*peer // the dispatcher's, by name
}

// newBroker starts the dispatcher and serves peers.
func newBroker(store *Store, ops *probe.Ops) (*Broker, error) {
	listen, err := stage.ListenIn(store.dir)
	if err != nil {
		return nil, err
	}
	b := &Broker{store: store, ops: ops, listen: listen, loop: make(chan func(context.Context)), peers: map[string]*peer{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.ended.Go(func() { probe.Do(b.ctx, roleDispatcher, b.dispatch) })
	b.ended.Go(b.accept)
	return b, nil
}

// Close ends all connections and the dispatcher, and waits for them.
func (b *Broker) Close() error {
	b.stop()
	err := b.listen.Close()
	b.ended.Wait()
	return err
}

// dispatch is the loop. ctx has its role.
func (b *Broker) dispatch(ctx context.Context) {
	for {
		select {
		case f := <-b.loop:
			f(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// post waits until the dispatcher takes f, which it then runs. It is false at
// the broker's end.
func (b *Broker) post(f func(context.Context)) bool {
	select {
	case b.loop <- f:
		return true
	case <-b.ctx.Done():
		return false
	}
}

// do carries out an operation. It is called by the dispatcher.
func (b *Broker) do(ctx context.Context, name string, work func(context.Context) error) error {
	ctx, op := b.ops.Begin(ctx, name)
	err := work(ctx)
	op.End(err)
	return err
}

// Dashboard is what a dashboard asks for, from outside the dispatcher. Cold
// means without what was kept.
func (b *Broker) Dashboard(cold bool) (all []Summary, err error) {
	done := make(chan struct{})
	posted := b.post(func(ctx context.Context) {
		defer close(done)
		if cold {
			b.store.Forget()
		}
		err = b.do(ctx, opDashboard, func(ctx context.Context) (err error) {
			all, err = b.store.Summaries(ctx)
			return err
		})
	})
	if !posted {
		return nil, errors.New("the broker has stopped")
	}
	<-done // what the dispatcher has taken it does
	return all, err
}

// handle answers a peer's request. It is called by the dispatcher.
func (b *Broker) handle(ctx context.Context, p *peer, req request) {
	r := reply{Op: req.Op}
	var err error
	switch req.Op {
	case opHello:
		if p.name != "" || req.Name == "" || b.peers[req.Name] != nil {
			err = fmt.Errorf("hello of %q: want a free name, once", req.Name)
		} else {
			p.name, b.peers[req.Name] = req.Name, p
		}
	case opPeers:
		err = b.do(ctx, req.Op, func(context.Context) error { r.Peers = slices.Sorted(maps.Keys(b.peers)); return nil })
	case opSend:
		err = b.do(ctx, req.Op, func(ctx context.Context) error { return b.send(ctx, p.name, req, &r) })
	case opProgress:
		err = b.do(ctx, req.Op, func(ctx context.Context) error { return b.store.SaveProgress(ctx, req.Progress) })
	default:
		err = fmt.Errorf("%q: no such operation", req.Op)
	}
	if err != nil {
		r.Error = err.Error()
	}
	p.tell(r)
}

// send passes a message on to the job that it is for, else to the sender's
// siblings, which are the other jobs of its group. Both are in the job files.
func (b *Broker) send(ctx context.Context, from string, req request, r *reply) error {
	jobs, malformed, err := b.store.Jobs(ctx)
	r.Malformed = malformed
	sender, known := jobs[from]
	if _, ok := jobs[req.To]; err != nil || req.To != "" && !ok {
		return cmp.Or(err, fmt.Errorf("send to %q: %w", req.To, errUnknownJob))
	}
	for id, j := range jobs {
		sibling := req.To == "" && id != from && known && sender.Group == j.Group
		if p := b.peers[id]; p != nil && (id == req.To || sibling) {
			p.tell(reply{From: from, Text: req.Text})
			r.Delivered++
		}
	}
	return nil
}

// request is a line from a peer.
type request struct {
	Op       string     `json:"op"`
	Name     string     `json:"name,omitempty"` // of hello
	To       string     `json:"to,omitempty"`   // a job; empty for all siblings
	Text     string     `json:"text,omitempty"`
	Progress []Progress `json:"progress,omitempty"`
}

// reply is a line to a peer: the answer to a request or, without an operation,
// a message.
type reply struct {
	Op        string   `json:"op,omitempty"`
	Error     string   `json:"error,omitempty"`
	Delivered int      `json:"delivered,omitempty"`
	Malformed []string `json:"malformed,omitempty"` // what is wrong with which job files
	Peers     []string `json:"peers,omitempty"`
	From      string   `json:"from,omitempty"`
	Text      string   `json:"text,omitempty"`
}

// The bounds of a connection: the length of a line, and how many lines may wait
// for a peer that is slow to read. One that lets more wait is cut off; one that
// asks fast waits for the dispatcher with each request.
const (
	maxLine    = 64 << 10
	maxWaiting = 256
)

// peer is a connection.
type peer struct {
	conn net.Conn
	out  chan reply
	name string // the dispatcher's; empty before hello
}

// tell queues a line for the peer. It never waits: this is the dispatcher.
func (p *peer) tell(r reply) {
	select {
	case p.out <- r:
	default:
		p.conn.Close() // which ends serve
	}
}

// accept serves each connection of a peer, until the listener is closed.
func (b *Broker) accept() {
	for {
		conn, err := b.listen.Accept()
		if err != nil {
			return
		}
		b.ended.Go(func() { b.serve(conn) })
	}
}

// serve reads a connection's requests, each of which it posts to the
// dispatcher, until either side ends it.
func (b *Broker) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { conn.Close() })
	p := &peer{conn: conn, out: make(chan reply, maxWaiting)}
	b.ended.Go(func() { p.write(ctx.Done()) })
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var req request
		if json.Unmarshal(lines.Bytes(), &req) != nil || !b.post(func(ctx context.Context) { b.handle(ctx, p, req) }) {
			break
		}
	}
	b.post(func(context.Context) {
		if b.peers[p.name] == p {
			delete(b.peers, p.name)
		}
	})
}

// write sends what is queued until the connection is gone.
func (p *peer) write(gone <-chan struct{}) {
	enc := json.NewEncoder(p.conn)
	for {
		select {
		case r := <-p.out:
			if enc.Encode(r) != nil {
				p.conn.Close() // which ends serve
			}
		case <-gone:
			return
		}
	}
}
