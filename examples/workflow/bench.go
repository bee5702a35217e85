package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

// A row is one benchmark of the page.
type row struct {
	name  string
	noun  string // what it does so many of in a second
	fixed bool   // as many of them whatever the number of jobs
	run   func(*bench) error
}

var rows = []row{
	{name: "streamed submission", noun: "jobs/s", run: (*bench).submission},
	{name: "cold scheduling tick", noun: "ticks/s", run: (*bench).coldTick},
	{name: "warm scheduling tick", noun: "ticks/s", run: (*bench).warmTick},
	{name: "time to first claim", noun: "claims/s", run: (*bench).firstClaim},
	{name: "memory per active marker", noun: "markers/s", run: (*bench).memory},
	{name: "heartbeat under scan", noun: "heartbeats/s", run: (*bench).heartbeat},
	{name: "join evaluation", noun: "children/s", fixed: true, run: (*bench).join},
	{name: "harvest throughput", noun: "records/s", run: (*bench).harvest},
	{name: "fsck", noun: "jobs/s", run: (*bench).fsck},
	{name: "gc", noun: "transitions/s", run: (*bench).gc},
}

// The attributes by which the series of the benchmarks are told apart.
const (
	attrNumber = "workflow.number" // in the order of the page
	attrRow    = "workflow.benchmark"
	attrNoun   = "workflow.noun"
)

var (
	descWall = &probe.Desc{Name: "workflow.benchmark.duration", Unit: "s", Kind: probe.KindGauge,
		Help: "Wall time of the benchmark."}
	descCPU = &probe.Desc{Name: "workflow.benchmark.cpu.time", Unit: "s", Kind: probe.KindGauge,
		Help: "CPU time of the process during the benchmark."}
	descRate = &probe.Desc{Name: "workflow.benchmark.rate", Unit: "1", Kind: probe.KindGauge,
		Help: "How much the benchmark did in a second of wall time, in its own noun."}
	descOperations = &probe.Desc{Name: "workflow.benchmark.file.operations", Unit: "1", Kind: probe.KindGauge,
		Help: "Opens, reads, writes, stats and listings, as fsstat counts them, and renames of markers, for each job (of a join, each child)."}
	descHeap = &probe.Desc{Name: "workflow.marker.memory", Unit: "By", Kind: probe.KindGauge,
		Help: "Live heap for each marker in the index of a new manager, after collections."}
	descAlloc = &probe.Desc{Name: "workflow.marker.allocated", Unit: "By", Kind: probe.KindGauge,
		Help: "Bytes that a new manager allocates for each marker."}
	descGap = &probe.Desc{Name: "workflow.heartbeat.gap", Unit: "s", Kind: probe.KindGauge,
		Help: "The longest time between two heartbeats during a scan."}
	descJobs = &probe.Desc{Name: "workflow.jobs", Unit: "{job}", Kind: probe.KindGauge,
		Help: "Jobs of the workspace that the benchmarks ran on."}
	descRenames = &probe.Desc{Name: "workflow.renames", Unit: "{rename}", Kind: probe.KindCounter,
		Help: "Markers renamed: each is a transition of a job."}
)

// A bench is the server: a loop on which the benchmarks run, one after another, and
// where slots of lag are served.
type bench struct {
	dir      string
	reread   bool
	children int           // of the job that waits
	every    time.Duration // heartbeats; see Manager.Beat

	core  probe.Core
	files *fsstat.Probe
	mem   *cgroup.Probe
	set   *probe.Set // what a benchmark is measured with

	work  chan func()     // one benchmark, or a request
	beats chan func()     // slots of lag; served within a benchmark too
	ctx   context.Context // ends with the loop
	stop  context.CancelFunc
	ended sync.WaitGroup

	// What follows is the loop's.
	row     row // that runs
	number  int // of that, from 1 on
	jobs    int // of the workspace
	ws      *Workspace
	manager *Manager // the last one
}

// roleLoop is the role of the loop's goroutine.
const roleLoop = "manager loop"

func newBench(dir string, reread bool, children int) *bench {
	b := &bench{dir: dir, reread: reread, children: children, every: time.Second, files: fsstat.New(fsstat.Options{}), mem: cgroup.New(cgroup.Options{}),
		work: make(chan func()), beats: make(chan func())}
	b.core.Descs = []*probe.Desc{descWall, descCPU, descRate, descOperations, descHeap, descAlloc, descGap, descJobs, descRenames}
	b.set = probe.NewSet(&b.core, b.files, b.mem)
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.ended.Go(func() { probe.Do(b.ctx, roleLoop, b.serve) })
	return b
}

func (b *bench) serve(ctx context.Context) {
	for {
		select {
		case f := <-b.work:
			f()
		case beat := <-b.beats:
			beat()
		case <-ctx.Done():
			return
		}
	}
}

// do has the loop carry something out, and waits.
func (b *bench) do(f func() error) (err error) {
	done := make(chan struct{})
	select {
	case b.work <- func() { defer close(done); err = f() }:
		<-done
		return err
	case <-b.ctx.Done():
		return errors.New("the manager has stopped")
	}
}

// beat is what lag goes through.
func (b *bench) beat(beat func()) {
	select {
	case b.beats <- beat:
	case <-b.ctx.Done():
	}
}

// serveBeat serves a slot of lag, if one is due. The error is that of the loop's end.
func (b *bench) serveBeat() error {
	select {
	case beat := <-b.beats:
		beat()
	default:
	}
	return b.ctx.Err()
}

func (b *bench) close() error {
	b.stop()
	b.ended.Wait()
	if b.ws == nil {
		return nil
	}
	return b.ws.Close()
}

// begin begins with an empty workspace for so many jobs.
func (b *bench) begin(jobs int) (err error) {
	if b.ws != nil {
		err = b.ws.Close()
	}
	b.jobs, b.manager = jobs, nil
	b.core.Gauge(descJobs).Set(float64(jobs))
	ws, opened := b.open(strconv.Itoa(jobs))
	b.ws = ws
	return errors.Join(err, opened)
}

func (b *bench) open(name string) (*Workspace, error) {
	return OpenWorkspace(filepath.Join(b.dir, name), b.files, b.core.Counter(descRenames))
}

// newManager is one that has seen nothing yet.
func (b *bench) newManager(ws *Workspace) *Manager {
	m := NewManager(ws, "manager")
	m.Reread, m.Beat, m.Serve = b.reread, b.every, b.serveBeat
	b.manager = m
	return m
}

// job is the payload of the i-th job.
func job(i int) Job {
	return Job{ID: fmt.Sprintf("job-%06d", i), Created: int64(i), Command: []string{"sh", "-c", "true"}}
}

// placement is the folder of the i-th job: none has many.
func placement(i int) string { return fmt.Sprintf("bench/%02d/%03d", i%64, i/64/100) }

// end is a runner that has nothing to do.
func end(j Job) Result { return Result{ID: j.ID} }

// A cost is what a benchmark took.
type cost struct {
	wall       time.Duration
	cpu        float64 // seconds
	timed      bool    // the CPU time is known
	operations int64   // on files
}

// measure is what it takes to do something.
func (b *bench) measure(do func() error) (c cost, err error) {
	runtime.GC() // what came before is not its cost
	w, err := b.set.Watch()
	if err != nil {
		return c, err
	}
	began := time.Now()
	err = do()
	c.wall = time.Since(began)
	r := w.Close()
	if s, ok := cgroup.StatsOf(r); ok {
		c.cpu, c.timed = s.CPU.Time.V, s.CPU.Time.OK
	}
	if s, ok := fsstat.StatsOf(r); ok {
		c.operations = s.Opens + s.Reads + s.Writes + s.Stats + s.ReadDirs
	}
	for m := range r.Find(descRenames.Name) {
		c.operations += int64(m.Value)
	}
	return c, err
}

// report sets what the report says of the benchmark that runs, which did something
// n times.
func (b *bench) report(n int, c cost) {
	set := func(d *probe.Desc, v float64) {
		b.core.Gauge(d, probe.Attr{Key: attrNumber, Value: fmt.Sprintf("%2d", b.number)}, probe.Attr{Key: attrRow, Value: b.row.name},
			probe.Attr{Key: attrNoun, Value: b.row.noun}).Set(v)
	}
	set(descWall, c.wall.Seconds())
	set(descRate, float64(n)/c.wall.Seconds())
	if c.timed {
		set(descCPU, c.cpu)
	}
	jobs := b.jobs
	if b.row.fixed {
		jobs = n
	}
	set(descOperations, float64(c.operations)/float64(jobs))
}

// bench measures and reports.
func (b *bench) bench(n int, do func() error) error {
	c, err := b.measure(do)
	b.report(n, c)
	return err
}

// submission fills the workspace.
func (b *bench) submission() error {
	return b.bench(b.jobs, func() error { return submit(b.ctx, b.ws, b.jobs, placement) })
}

func submit(ctx context.Context, ws *Workspace, jobs int, placement func(i int) string) error {
	for i := range jobs {
		if err := cmp.Or(ctx.Err(), ws.Submit(placement(i), job(i))); err != nil {
			return err
		}
	}
	return nil
}

// coldTick is the first tick of a manager. It launches nothing, here and below:
// the jobs are still to be there.
func (b *bench) coldTick() error {
	return b.tick(b.newManager(b.ws))
}

// warmTick is the next one.
func (b *bench) warmTick() error { return b.tick(b.manager) }

func (b *bench) tick(m *Manager) error {
	return b.bench(1, func() error { return want(m.Tick())(b.jobs) })
}

// want is what is wrong with a count.
func want(got int, err error) func(want int) error {
	return func(want int) error {
		if err == nil && got != want {
			err = fmt.Errorf("got %d, want %d", got, want)
		}
		return err
	}
}

// firstClaim is from the start of a new manager's tick to the first claim.
func (b *bench) firstClaim() error {
	m := b.newManager(b.ws)
	m.Workers, m.Launch = 1, end
	var began, claimed time.Time
	m.Claimed = func(string) { claimed = time.Now() }
	c, err := b.measure(func() error {
		began = time.Now()
		return want(m.Tick())(b.jobs)
	})
	c.wall = claimed.Sub(began)
	b.report(1, c)
	return err
}

// memory is what the index of a new manager costs.
func (b *bench) memory() error {
	err := b.index()
	r := testing.Benchmark(func(t *testing.B) {
		probetest.PerItem(t, b.jobs, func() any {
			m := NewManager(b.ws, "manager")
			m.Serve = b.serveBeat
			_, failed := m.Tick()
			err = errors.Join(err, failed)
			return m
		})
	})
	b.core.Gauge(descHeap).Set(r.Extra["heap-bytes/item"])
	b.core.Gauge(descAlloc).Set(r.Extra["alloc-bytes/item"])
	return err
}

// index builds it once: of all jobs, one of which has ended.
func (b *bench) index() error {
	return b.bench(b.jobs, func() error { return want(b.newManager(b.ws).Tick())(b.jobs - 1) })
}

// heartbeat scans one flat folder, with a heartbeat between any two jobs.
func (b *bench) heartbeat() error {
	flat, err := b.open("flat-" + strconv.Itoa(b.jobs))
	if err != nil {
		return err
	}
	defer flat.Close()
	if err := submit(b.ctx, flat, b.jobs, func(int) string { return "flat" }); err != nil {
		return err
	}
	m := b.newManager(flat)
	m.Beat = 0
	// A heartbeat at the beginning, one before the only folder and one before each job.
	err = b.bench(b.jobs+2, func() error { return want(m.Tick())(b.jobs) })
	b.core.Gauge(descGap).Set(m.gap.Seconds())
	return errors.Join(err, want(m.beats, nil)(b.jobs+2))
}

// join evaluates once whether a job's children have ended.
func (b *bench) join() error {
	ws, err := b.open("join-" + strconv.Itoa(b.jobs))
	if err != nil {
		return err
	}
	defer ws.Close()
	name, err := family(b.ctx, ws, b.children)
	if err != nil {
		return err
	}
	m := b.newManager(ws)
	m.Workers, m.Launch = b.children, end
	if _, err := m.Tick(); err != nil {
		return err
	}
	return b.bench(b.children, func() error { return want(m.Join(name))(b.children) })
}

// family submits children and a parent that waits for them.
func family(ctx context.Context, ws *Workspace, children int) (parent string, err error) {
	p := Job{ID: "parent", Created: int64(children)}
	for i := range children {
		p.Children = append(p.Children, "children/"+job(i).ID)
	}
	return "parents/parent", errors.Join(submit(ctx, ws, children, func(int) string { return "children" }), ws.Submit("parents", p))
}

// harvest drains the results of all jobs, which have ended then.
func (b *bench) harvest() error {
	m := b.newManager(b.ws)
	m.Workers, m.Launch = b.jobs, end
	if _, err := m.Tick(); err != nil {
		return err
	}
	return b.bench(b.jobs, func() error {
		n := 0
		for _, err := range b.ws.Harvest() {
			if err != nil {
				return err
			}
			n++
		}
		return want(n, nil)(b.jobs)
	})
}

// fsck looks at everything.
func (b *bench) fsck() error {
	return b.bench(b.jobs, func() error {
		found, err := b.ws.Fsck()
		return want(len(found), err)(0)
	})
}

// gc forgets the whole journal: of each job its submission, its claim and its end.
func (b *bench) gc() error {
	return b.bench(3*b.jobs, func() error { return want(b.ws.GC(0))(3 * b.jobs) })
}
