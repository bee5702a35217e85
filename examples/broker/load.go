package main

import (
	"cmp"
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
	"github.com/tidestaff/tidestaff/examples/internal/page"
)

// desk is the load generator's side: every peer's connection, and the
// dashboard's.
type desk struct {
	*page.Run
	profile profile
	http    *http.Client
	peers   []*client // runners, then sessions, then managers
}

// connect connects every peer.
func (d *desk) connect(ctx context.Context) error {
	var at [2]string
	if err := drive.GetJSON(ctx, d.http, d.URL+"/readyz", &at); err != nil {
		return err
	}
	for i := range runnerCount + sessionCount + managerCount {
		name := jobID(i) // a runner has its job's
		if n := i - runnerCount - sessionCount; n >= 0 {
			name = groupOf(n)
		} else if i >= runnerCount {
			name = fmt.Sprintf("session-%d", i-runnerCount+1)
		}
		c, err := connect(ctx, at, name)
		if err != nil {
			return err
		}
		d.peers = append(d.peers, c)
	}
	return nil
}

func (d *desk) close() {
	for _, c := range d.peers {
		c.conn.Close()
	}
	d.http.CloseIdleConnections()
}

// load is everyone at once. Everything in it is counted work, so that both
// variants are asked for the same.
func (d *desk) load() *drive.Driver {
	driver := d.driver()
	add := func(name string, every time.Duration, do func(context.Context) error) {
		every = d.profile.scaled(every)
		driver.Add(drive.User{Activities: []drive.Activity{{Name: name, Do: do, Every: every, Count: int(d.profile.load / every)}}})
	}
	for i, c := range d.peers {
		switch {
		case i < runnerCount:
			add(opSend, sendEvery, runner(c, i))
		case i < runnerCount+sessionCount:
			add(opPeers, peersEvery, func(ctx context.Context) error {
				r, err := c.ask(ctx, request{Op: opPeers})
				return cmp.Or(err, want(len(r.Peers), len(d.peers)))
			})
		default:
			add(opProgress, progressEvery, d.manager(c, i-runnerCount-sessionCount))
		}
	}
	add(opDashboard, dashboardEvery, func(ctx context.Context) error { return d.dashboard(ctx, false) })
	return driver
}

func (d *desk) driver() *drive.Driver {
	return drive.New(drive.Options{Seed: d.Seed, Cap: d.profile.cap, Timeout: max(d.profile.cap, 30*time.Second)})
}

// want is what is wrong with an answer of got things.
func want(got, want int) error {
	if got == want {
		return nil
	}
	return drive.Wrong(fmt.Errorf("%d in the answer, want %d", got, want))
}

// The dashboards that are asked for before the load: some with nothing kept from
// before, then some with what those read.
const coldReads, warmReads = 2, 3

// fiveReads reads all run summaries, cold and warm, one after the other.
func (d *desk) fiveReads() *drive.Driver {
	driver := d.driver()
	driver.Add(drive.User{Scripts: []drive.Script{{Do: func(_ context.Context, s *drive.Session) (err error) {
		for i := 0; i < coldReads+warmReads && err == nil; i++ {
			err = s.Do(opDashboard, func(ctx context.Context) error { return d.dashboard(ctx, i < coldReads) })
		}
		return err
	}}}})
	return driver
}

// dashboard wants a summary of every run.
func (d *desk) dashboard(ctx context.Context, cold bool) error {
	var all []Summary
	err := drive.GetJSON(ctx, d.http, fmt.Sprintf("%s/api/state?cold=%t", d.URL, cold), &all)
	return cmp.Or(err, want(len(all), runCount))
}

// runner is the i-th one: it sends by turns to its siblings and to one of them.
func runner(c *client, i int) func(context.Context) error {
	turn, sibling := i, jobID((i+managerCount)%runnerCount)
	return func(ctx context.Context) error {
		req, to := request{Op: opSend, Text: "the build is green, you may go on"}, runnersEach-1
		if turn++; turn%2 == 0 {
			req.To, to = sibling, 1
		}
		r, err := c.ask(ctx, req)
		return cmp.Or(err, want(r.Delivered, to), want(len(r.Malformed), 0))
	}
}

// manager is the i-th one: it lets each of its jobs write a line to its log, as
// their processes do, then saves how far they are.
func (d *desk) manager(c *client, i int) func(context.Context) error {
	done := 0
	return func(ctx context.Context) error {
		done++
		req := request{Op: opProgress}
		for n := range runnersEach {
			job := runnerCount + n*managerCount + i // the run has its job's number
			l := Line{At: time.Now().UnixMilli(), Done: done, Total: d.profile.lines, Text: "on its way"}
			if err := appendLine(filepath.Join(d.Dir, runName(job)), l); err != nil {
				return err
			}
			req.Progress = append(req.Progress, Progress{Job: jobID(job), Done: l.Done, Total: l.Total})
		}
		_, err := c.ask(ctx, req)
		return err
	}
}

func appendLine(path string, l Line) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(page.Encode(l), '\n'))
	return errors.Join(err, f.Close())
}

// client is a peer's side of its connection. It asks one thing at a time.
type client struct {
	conn net.Conn
	enc  *json.Encoder
	dec  *json.Decoder
}

// connect connects a peer and says hello.
func connect(ctx context.Context, at [2]string, name string) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, at[0], at[1])
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
	for err == nil && r.Op == "" {
		r = reply{}
		err = c.dec.Decode(&r)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case r.Error != "":
		err = drive.Wrong(errors.New(r.Error))
	}
	return r, err
}
