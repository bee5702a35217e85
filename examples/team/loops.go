package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// The operations that the server's loops end.
const (
	opTurn      = "agent turn"
	opQueueWait = "job queue wait"
	opJob       = "job" // from its slot to done
)

var errBusy = errors.New("the session is in a turn")

// loops are the server's background work: each loop runs in a role of its own,
// which is what its SQL time is accounted to.
type loops struct {
	store   *Store
	ops     *probe.Ops
	files   *fsstat.Probe
	logs    string // folder of the sessions' event logs
	profile profile
	batch   int        // records that a sweep moves in a transaction
	records probe.Core // the gauges' probe

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	turns  chan *turn
	jobs   chan *jobRun
	sweeps chan chan<- swept // each is asked for by who waits at the other end

	mu     sync.Mutex
	source *rand.Rand
}

// turn is one turn of an agent. The agent is a script that prints an event
// every half second, so its log is known from the time alone.
type turn struct {
	ctx     context.Context // carries op, for the writes of the loop
	op      *probe.Op
	session Session
	log     *fsstat.File
	began   time.Time
	seen    int // events tailed
}

// jobRun is a job on its way through queue and slot.
type jobRun struct {
	wait *probe.Op // until a slot takes it
	job  Job
}

// run starts all of them; stop ends them.
func (l *loops) run(seed uint64) {
	l.turns, l.jobs = make(chan *turn, 1024), make(chan *jobRun, 1024)
	l.sweeps = make(chan chan<- swept)
	l.source = rand.New(rand.NewPCG(seed, 2))
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.start("background:turns", l.tailTurns)
	for range jobSlots {
		l.start("background:jobs", l.runJobs)
	}
	l.start("background:retention", l.retain)
	l.start("background:gauges", func(ctx context.Context) {
		l.every(ctx, gaugesEvery, func() error { return l.count(ctx) })
	})
}

// start runs a loop in a role.
func (l *loops) start(role string, loop func(context.Context)) {
	l.wg.Go(func() { probe.Do(l.ctx, role, loop) })
}

// stop ends all loops and waits for them.
func (l *loops) stop() {
	l.cancel()
	l.wg.Wait()
}

// retain keeps the number of finished jobs, except in a soak, in which it moves
// what it is asked to and nothing else.
func (l *loops) retain(ctx context.Context) {
	if l.profile.soaks() {
		l.sweepOnRequest(ctx)
		return
	}
	l.every(ctx, retentionEvery, func() error {
		_, err := l.store.ArchiveJobs(ctx, l.profile.jobs, archiveBatch)
		return err
	})
}

// every calls fn at each period of the page, scaled. A failure is the next
// period's to mend; the probe has counted it.
func (l *loops) every(ctx context.Context, period time.Duration, fn func() error) {
	t := time.NewTicker(l.profile.scaled(period))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = fn()
		}
	}
}

// rng returns a random stream that the caller alone uses.
func (l *loops) rng() *rand.Rand {
	l.mu.Lock()
	defer l.mu.Unlock()
	return rand.New(rand.NewPCG(l.source.Uint64(), 3))
}

var descRecords = &probe.Desc{Name: "team.records", Unit: "{record}", Kind: probe.KindGauge,
	Help: "Jobs and sessions by state, as the gauges loop counted them last."}

// count brings the gauges of jobs and sessions up to date.
func (l *loops) count(ctx context.Context) error {
	counts, err := l.store.CountStates(ctx)
	for _, c := range counts {
		l.records.Gauge(descRecords, probe.Attr{Key: "team.kind", Value: c.Kind},
			probe.Attr{Key: "team.state", Value: c.State}).Set(float64(c.N))
	}
	return err
}

// newTurn begins the operation of a turn, from send to done.
func (l *loops) newTurn() *turn {
	t := new(turn)
	t.ctx, t.op = l.ops.Begin(probe.WithRole(l.ctx, "background:turns"), opTurn)
	return t
}

// begin hands a turn to the loop that tails it.
func (l *loops) begin(t *turn, se Session) {
	t.session, t.began = se, time.Now()
	l.turns <- t
}

// tailTurns follows the agents of all turns.
func (l *loops) tailTurns(ctx context.Context) {
	running := map[*turn]bool{}
	tick := time.NewTicker(l.profile.scaled(eventEvery / 4))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for t := range running {
				t.end(ctx.Err())
			}
			return
		case t := <-l.turns:
			if err := l.openLog(t); err != nil {
				t.end(err)
			} else {
				running[t] = true
			}
		case <-tick.C:
			for t := range running {
				if done, err := l.tail(t); done || err != nil {
					t.end(err)
					delete(running, t)
				}
			}
		}
	}
}

// openLog opens the session's event log for the turn's events.
func (l *loops) openLog(t *turn) (err error) {
	path := filepath.Join(l.logs, fmt.Sprintf("session-%d.jsonl", t.session.ID))
	t.log, err = l.files.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// end ends the turn's operation and closes its log.
func (t *turn) end(err error) {
	if t.log != nil {
		err = errors.Join(err, t.log.Close())
	}
	t.op.End(err)
}

// tail takes what the agent has printed since, logs it, and writes the session
// if its state has changed: thinking, reading, editing, testing, and idle at
// the end.
func (l *loops) tail(t *turn) (done bool, err error) {
	every, length := l.profile.scaled(eventEvery), int(l.profile.turn/eventEvery)
	state, now := t.session.State, time.Now()
	for t.seen < length && t.began.Add(time.Duration(t.seen+1)*every).Before(now) {
		t.session.State = agentStates[t.seen*len(agentStates)/length]
		event := t.session.say(now, "agent", page.Prose[:80])
		if _, err := t.log.Write(append(page.Encode(event), '\n')); err != nil {
			return false, err
		}
		t.seen++
	}
	if t.seen == length {
		t.session.State = stateIdle
		t.session.Turns++
	}
	if t.session.State == state {
		return false, nil
	}
	return t.seen == length, l.store.PutSession(t.ctx, &t.session)
}

var agentStates = [...]string{"thinking", "reading", "editing", "testing"}

// tailLines is how much of its transcript a session's record keeps.
const tailLines = 16

// say appends a line to the transcript's tail and returns it.
func (se *Session) say(now time.Time, kind, text string) Entry {
	line := Entry{At: now.UnixMilli() - se.Created, Kind: kind, Text: text}
	se.Tail = append(se.Tail, line)
	se.Tail = se.Tail[max(0, len(se.Tail)-tailLines):]
	return line
}

// newJob begins the operation of a job's wait for a slot.
func (l *loops) newJob() *jobRun {
	r := new(jobRun)
	_, r.wait = l.ops.Begin(probe.WithRole(l.ctx, "background:jobs"), opQueueWait)
	return r
}

// queue hands a job to the slots.
func (l *loops) queue(r *jobRun, j Job) {
	r.job = j
	l.jobs <- r
}

// runJobs is one slot.
func (l *loops) runJobs(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-l.jobs:
			r.wait.End(nil)
			jobCtx, op := l.ops.Begin(ctx, opJob)
			op.End(l.runJob(jobCtx, r.job))
		}
	}
}

// runJob takes a job through its states; the finished one has the timeline.
func (l *loops) runJob(ctx context.Context, j Job) error {
	timeline := newTimeline(l.rng())
	for i, state := range []string{stateRunning, stateTesting, stateDone} {
		j.State, j.Timeline = state, timeline[:(i+1)*len(timeline)/3]
		if state == stateDone {
			j.Finished = time.Now().UnixMilli()
		}
		if err := l.store.PutJob(ctx, &j); err != nil || state == stateDone {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(l.profile.scaled(jobLength) / 2):
		}
	}
	return nil
}
