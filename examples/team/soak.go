package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// A soak has the turns of all sessions at once while retention moves the
// history to the archive. Whoever writes meanwhile waits for retention's
// transaction, so its columns are two sizes of that, of the server "after".

// opRetention asks for the sweep and is answered at its end.
const opRetention = "POST /api/retention"

// A sweep is what retention moves to the archive in a soak. Creations move a
// sandbox each as well, so the history has a few more than that.
type sweep struct {
	sandboxes, jobs int
	over            time.Duration // how long it should take, at the page's speed
}

// swept is what one has moved.
type swept struct {
	Sandboxes int `json:"sandboxes"`
	Jobs      int `json:"jobs"`
	err       error
}

func (p profile) soaks() bool { return p.sweep.sandboxes+p.sweep.jobs > 0 }

// sweepOnRequest is the retention loop of a soak.
func (l *loops) sweepOnRequest(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case asked := <-l.sweeps:
			asked <- l.sweep(ctx)
		}
	}
}

// sweep moves the sandboxes and then the jobs, a transaction at each tick. The
// ticks are as far apart as the transactions are large: both columns move as
// many records in as long a time, unless a transaction takes longer than that.
func (l *loops) sweep(ctx context.Context) (s swept) {
	all := l.profile.sweep
	tick := time.NewTicker(l.profile.scaled(all.over) * time.Duration(l.batch) / time.Duration(all.sandboxes+all.jobs))
	defer tick.Stop()
	s.Sandboxes, s.err = l.move(ctx, tick.C, all.sandboxes, func(batch int) (int64, error) { return l.store.ArchiveSandboxes(ctx, batch) })
	if s.err == nil {
		s.Jobs, s.err = l.move(ctx, tick.C, all.jobs, func(batch int) (int64, error) { return l.store.ArchiveJobs(ctx, 0, batch) })
	}
	return s
}

// move moves n records in batches; fewer, if there are no more.
func (l *loops) move(ctx context.Context, tick <-chan time.Time, n int, archive func(batch int) (int64, error)) (moved int, err error) {
	for moved < n {
		select {
		case <-ctx.Done():
			return moved, ctx.Err()
		case <-tick:
		}
		k, err := archive(min(l.batch, n-moved))
		if moved += int(k); err != nil || k == 0 {
			return moved, err
		}
	}
	return moved, nil
}

// retention has a sweep made by the loop whose work that is.
func (s *Server) retention(ctx context.Context, _ string, _ arguments) (any, error) {
	answer := make(chan swept, 1)
	select {
	case s.loops.sweeps <- answer:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case moved := <-answer:
		return moved, moved.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sweep asks for retention's sweep when the last session has begun, and waits
// for its end.
func (e *engineer) sweep(s *drive.Session) error {
	if err := s.Sleep(time.Duration(e.profile.sessions) * e.profile.scaled(sessionEvery)); err != nil {
		return err
	}
	return s.Do(opRetention, func(ctx context.Context) error {
		var got swept
		err := e.rest(ctx, http.MethodPost, "/api/retention", arguments{}, &got)
		want := swept{Sandboxes: e.profile.sweep.sandboxes, Jobs: e.profile.sweep.jobs}
		if err == nil && got != want {
			err = drive.Wrong(fmt.Errorf("retention moved %d sandboxes and %d jobs, want %d and %d",
				got.Sandboxes, got.Jobs, want.Sandboxes, want.Jobs))
		}
		return err
	})
}

// The metrics that only the soak's rows are made of.
const (
	metricAffected     = "tidestaff.db.affected_rows"
	metricTransaction  = "tidestaff.db.transaction.duration"
	metricHold         = "tidestaff.db.lock.hold.duration"
	metricLockWaits    = "tidestaff.db.lock.waits"
	metricLockWait     = "tidestaff.db.lock.wait.time"
	metricLockPoll     = "tidestaff.db.lock.poll.time"
	metricOthersWaited = "tidestaff.db.others.wait.time"
	metricOpFailures   = "tidestaff.operation.failures"
	attrHolder         = "tidestaff.lock.holder"
	attrHolderRole     = "tidestaff.lock.holder.role"
	attrResource       = "tidestaff.db.resource"
)

// What retention's transactions are accounted to.
const (
	roleRetention    = "background:retention"
	archiveSandboxes = "(*Store).ArchiveSandboxes"
	archiveJobs      = "(*Store).ArchiveJobs"
)

var inRetention = []probe.Attr{{Key: probe.AttrRole, Value: roleRetention}}

// soakTable has the rows of the page's soak, and what its story tells of the
// lock.
func soakTable(p profile, columns []*report.Report) *report.Table {
	t := &report.Table{Ratio: true, Columns: page.Columns(columns), Title: fmt.Sprintf(
		"Team: %d engineers × %d sessions × %d turns while the history moves to the archive, profile %s; columns by rows a transaction",
		userCount, p.sessions, p.turns, p.name)}
	held := func(label, method string) report.Row {
		return page.Served(label, metricHold, "p50/p95/max", "ms", "begin to commit", probe.AttrMethod, method)
	}
	swept := page.Waited("Retention, from its request to its end", opRetention, "max")
	swept.Unit = "s"
	t.Rows = slices.Concat([]report.Row{
		page.Lag(),
		page.Waited("get_session (MCP)", opGetSession, "p50/p95"),
		turnRow(p),
		finished("Turns finished", opTurn, "{turn}"),
		finished("Jobs finished", opJob, "{job}"),
	}, page.Cost(), []report.Row{
		{Label: "Archive transactions", Part: page.PartServer, Metric: metricTransaction, Attrs: inRetention, Stat: "count"},
		{Label: "Rows per archive transaction", Part: page.PartServer, Metric: metricAffected, Attrs: inRetention, Stat: "mean/max",
			How: "of its INSERT and of its DELETE"},
		held("Write lock held, ArchiveSandboxes", archiveSandboxes),
		held("Write lock held, ArchiveJobs", archiveJobs),
		{Label: "Write lock held, all others", Part: page.PartServer, Metric: metricHold, Stat: "p50/p95/max", Unit: "ms",
			Match: func(m *probe.Metric) bool { return m.Attr(probe.AttrRole) != roleRetention }},
		{Label: "Waited for retention's lock, together", Part: page.PartServer, Metric: metricOthersWaited, Unit: "ms",
			Attrs: append([]probe.Attr{{Key: attrResource, Value: "lock"}}, inRetention...)},
		swept,
	}, page.Outcome())
	return t
}

// finished counts the operations that ended well.
func finished(label, op, unit string) report.Row {
	return report.Row{Label: label, Part: page.PartServer, Value: func(r *report.Report) (float64, string, bool) {
		return ended(r, op), unit, true
	}}
}

// ended is how many operations of the server ended well.
func ended(server *report.Report, op string) float64 {
	named := probe.Attr{Key: page.AttrOperation, Value: op}
	n := -page.Sum(server, metricOpFailures, named)
	for m := range server.Reading().Find(page.MetricOperation, named) {
		n += float64(m.Dist.Count())
	}
	return n
}

// holders is the table of the methods that held the write lock, the longest
// hold first.
func holders(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Who held the write lock, " + column, Part: page.PartServer,
		By: []string{probe.AttrMethod, probe.AttrRole},
		Columns: []report.PivotColumn{
			{Title: "holds", Metric: metricHold, Stat: "count"},
			{Title: "p50", Metric: metricHold, Stat: "p50", Unit: "ms"},
			{Title: "p95", Metric: metricHold, Stat: "p95", Unit: "ms"},
			{Title: "longest", Metric: metricHold, Stat: "max", Unit: "ms"},
			{Title: "held", Metric: metricHold, Stat: "sum", Unit: "ms"},
			{Title: "others waited", Metric: metricOthersWaited, Unit: "ms",
				Attrs: []probe.Attr{{Key: attrResource, Value: "lock"}}},
		},
		Sort: 3,
	}
}

// waiters is the table of who waited for whom, from the ledger of the lock.
// Polling is the part of it in which the lock was free already.
func waiters(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Who waited for the write lock and who held it, " + column, Part: page.PartServer,
		By: []string{probe.AttrMethod, probe.AttrRole, attrHolder, attrHolderRole},
		Columns: []report.PivotColumn{
			{Title: "waits", Metric: metricLockWaits},
			{Title: "waited", Metric: metricLockWait, Unit: "ms"},
			{Title: "of it polling", Metric: metricLockPoll, Unit: "ms"},
		},
		Sort: 1,
	}
}

// soakDeviations are where a soak departs from the page's.
func soakDeviations(p profile) []string {
	return []string{
		fmt.Sprintf("retention's pace is set: all of it within %v s, which the page does not tell", p.scaled(p.sweep.over).Seconds()),
		"a transaction of 500 rows holds the lock for a fraction of the page's 0.9 s",
	}
}
