package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
)

// desk is the load generator's side: every peer's connection, and the
// dashboard's.
type desk struct {
	profile profile
	dir     string // the broker's, for the logs that runs write themselves
	base    string // the dashboard's URL
	http    *http.Client
	peers   []*client // runners, then sessions, then managers
}

// connect connects every peer.
func (d *desk) connect(ctx context.Context) error {
	var at address
	if err := drive.GetJSON(ctx, d.http, d.base+"/readyz", &at); err != nil {
		return err
	}
	for i := range runnerCount + sessionCount + managerCount {
		c, err := connect(ctx, at, peerName(i))
		if err != nil {
			return err
		}
		d.peers = append(d.peers, c)
	}
	return nil
}

// peerName is the name of the i-th peer. A runner has its job's.
func peerName(i int) string {
	switch {
	case i < runnerCount:
		return jobID(i)
	case i < runnerCount+sessionCount:
		return fmt.Sprintf("session-%d", i-runnerCount+1)
	}
	return groupOf(i - runnerCount - sessionCount)
}

func (d *desk) close() {
	for _, c := range d.peers {
		c.conn.Close()
	}
	d.http.CloseIdleConnections()
}

// load is everyone at once. Everything in it is counted work, so that both
// variants are asked for the same.
func (d *desk) load(seed uint64) *drive.Driver {
	driver := drive.New(drive.Options{Seed: seed, Cap: d.profile.cap, Timeout: max(d.profile.cap, 30*time.Second)})
	add := func(name string, every time.Duration, do func(context.Context) error) {
		every = d.profile.scaled(every)
		driver.Add(drive.User{Activities: []drive.Activity{{Name: name, Do: do, Every: every, Count: int(d.profile.load / every)}}})
	}
	for i, c := range d.peers {
		switch {
		case i < runnerCount:
			add(opSend, sendEvery, (&runner{c, jobID((i + managerCount) % runnerCount), i}).send)
		case i < runnerCount+sessionCount:
			add(opPeers, peersEvery, func(ctx context.Context) error {
				r, err := c.ask(ctx, request{Op: opPeers})
				return errors.Join(err, want(len(r.Peers), len(d.peers), err))
			})
		default:
			add(opProgress, progressEvery, (&manager{d, c, i - runnerCount - sessionCount, 0}).progress)
		}
	}
	add(opDashboard, dashboardEvery, func(ctx context.Context) error { return d.summaries(ctx, "/api/state") })
	return driver
}

// want is what is wrong with an answer of got things, unless there was an error
// before.
func want(got, want int, err error) error {
	if err != nil || got == want {
		return nil
	}
	return drive.Wrong(fmt.Errorf("%d in the answer, want %d", got, want))
}

// The run summaries that are read before the load: some with nothing kept from
// before, then some with what those read.
const (
	coldReads = 2
	warmReads = 3
)

// fiveReads reads all run summaries, cold and warm, one after the other.
func (d *desk) fiveReads(seed uint64) *drive.Driver {
	driver := drive.New(drive.Options{Seed: seed, Cap: d.profile.cap})
	driver.Add(drive.User{Scripts: []drive.Script{{Do: func(_ context.Context, s *drive.Session) error {
		for i := range coldReads + warmReads {
			path := "/api/runs"
			if i < coldReads {
				path += "?cold=1"
			}
			if err := s.Do(opSummaries, func(ctx context.Context) error { return d.summaries(ctx, path) }); err != nil {
				return err
			}
		}
		return nil
	}}}})
	return driver
}

// summaries wants one of every run.
func (d *desk) summaries(ctx context.Context, path string) error {
	var all []Summary
	err := drive.GetJSON(ctx, d.http, d.base+path, &all)
	return errors.Join(err, want(len(all), runCount, err))
}

// client is a peer's side of its connection. It asks one thing at a time.
type client struct {
	conn net.Conn
	enc  *json.Encoder
	dec  *json.Decoder
}

// connect connects a peer and says hello.
func connect(ctx context.Context, at address, name string) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, at.Network, at.Address)
	if err != nil {
		return nil, err
	}
	c := &client{conn, json.NewEncoder(conn), json.NewDecoder(conn)}
	if _, err := c.ask(ctx, request{Op: opHello, Name: name}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// ask sends a request and waits for its answer. Messages that came before it
// are read and dropped. When ctx ends, so does the connection: an answer that
// comes later would be taken for that of the next request.
func (c *client) ask(ctx context.Context, req request) (r reply, err error) {
	defer context.AfterFunc(ctx, func() { c.conn.Close() })()
	err = c.enc.Encode(req)
	for err == nil {
		r = reply{}
		if err = c.dec.Decode(&r); err == nil && r.Op == req.Op {
			if r.Error != "" {
				err = drive.Wrong(errors.New(r.Error))
			}
			return r, err
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// A runner sends by turns to its siblings and to one of them.
type runner struct {
	client  *client
	sibling string
	turn    int
}

func (r *runner) send(ctx context.Context) error {
	req, to := request{Op: opSend, Text: "the build is green, you may go on"}, runnersEach-1
	if r.turn++; r.turn%2 == 0 {
		req.To, to = r.sibling, 1
	}
	got, err := r.client.ask(ctx, req)
	return errors.Join(err, want(got.Delivered, to, err), want(len(got.Malformed), 0, err))
}

// A manager tells the broker how far its jobs are.
type manager struct {
	*desk
	client *client
	index  int
	ticks  int
}

// progress lets each of the manager's jobs write a line to its log, as their
// processes do, then saves how far they are.
func (m *manager) progress(ctx context.Context) error {
	m.ticks++
	req := request{Op: opProgress}
	for n := range runnersEach {
		i := runnerCount + n*managerCount + m.index // the run has its job's number
		l := Line{At: time.Now().UnixMilli(), Kind: "progress", Done: m.ticks, Total: m.profile.lines, Text: "on its way"}
		if err := appendLine(filepath.Join(m.dir, runsName, filepath.FromSlash(runName(i))), l); err != nil {
			return err
		}
		req.Progress = append(req.Progress, Progress{Job: jobID(i), Done: l.Done, Total: l.Total})
	}
	_, err := m.client.ask(ctx, req)
	return err
}

func appendLine(path string, l Line) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(encode(l), '\n'))
	return errors.Join(err, f.Close())
}
