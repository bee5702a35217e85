package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
)

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
	Offline   int      `json:"offline,omitempty"`
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

// address is where peers connect to: the network and the address in it.
func (b *Broker) address() [2]string {
	return [2]string{b.listen.Addr().Network(), b.listen.Addr().String()}
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
	defer context.AfterFunc(b.ctx, func() { conn.Close() })()
	p := &peer{conn: conn, out: make(chan reply, maxWaiting)}
	gone := make(chan struct{})
	defer close(gone)
	b.ended.Go(func() { p.write(gone) })
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var req request
		if json.Unmarshal(lines.Bytes(), &req) != nil || !b.post(func(ctx context.Context) { b.handle(ctx, p, req) }) {
			break
		}
	}
	conn.Close()
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
				p.conn.Close()
				return
			}
		case <-gone:
			return
		}
	}
}
