package lagload

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A receiver is the truth: a goroutine that waits for bytes like any server's,
// and notes how long each message was under way until it ran.
type receiver struct {
	clock  clock
	sender *child
	conn   net.Conn
	ended  chan struct{}

	mu    sync.Mutex
	from  int64 // messages count that were sent from here
	to    int64 // to here; 0 while that is open
	waits []int64
	after chan struct{} // closed when a message came that was sent later
}

// newReceiver starts the sender and waits for its connection.
func newReceiver(period time.Duration) (*receiver, error) {
	r := &receiver{ended: make(chan struct{}), after: make(chan struct{})}
	var err error
	if r.clock, err = newClock(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if r.sender, err = startChild(fmt.Sprintf("send %s %s", l.Addr(), period)); err != nil {
		return nil, err
	}
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Second))
	if r.conn, err = l.Accept(); err != nil {
		r.sender.end()
		return nil, fmt.Errorf("the sender does not connect: %w", err)
	}
	return r, nil
}

// run takes the messages. Those that came during a wait are read one after
// another without another one, so that each counts for all that it waited.
func (r *receiver) run() {
	defer close(r.ended)
	var message [messageSize]byte
	for {
		if _, err := io.ReadFull(r.conn, message[:]); err != nil {
			return
		}
		r.note(int64(binary.LittleEndian.Uint64(message[:])), r.clock.now())
	}
}

func (r *receiver) note(sent, now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.to != 0 && sent > r.to:
		select {
		case <-r.after:
		default:
			close(r.after)
		}
	case sent >= r.from:
		r.waits = append(r.waits, now-sent)
	}
}

// begin starts the goroutine; only what is sent from now on counts.
func (r *receiver) begin() {
	r.from = r.clock.now()
	go r.run()
}

// end waits for all that has been sent by now, ends the sender and returns how
// long each message waited. The load must still be on.
func (r *receiver) end() ([]int64, error) {
	r.mu.Lock()
	r.to = r.clock.now()
	r.mu.Unlock()
	var err error
	select {
	case <-r.after:
	case <-r.ended:
		err = fmt.Errorf("the sender ended early")
	case <-time.After(time.Minute):
		err = fmt.Errorf("nothing from the sender for a minute")
	}
	r.sender.end()
	_ = r.conn.Close()
	<-r.ended
	return r.waits, err
}
