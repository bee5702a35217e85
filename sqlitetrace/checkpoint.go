package sqlitetrace

import (
	"database/sql/driver"
	"math"

	"github.com/tidestaff/tidestaff/probe"
)

// AttrCheckpointMode is how a checkpoint was asked for: "passive", "full",
// "restart", "truncate" or "noop".
const AttrCheckpointMode = "tidestaff.sqlite.checkpoint.mode"

var (
	descCheckpoint = &probe.Desc{Name: "tidestaff.sqlite.checkpoint.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "Time in the driver of each PRAGMA wal_checkpoint of the program's own, its waits included. SQLite's automatic ones, within a commit, are not seen.",
		Bounds: []float64{1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}}
	descCheckpointBlocked = &probe.Desc{Name: "tidestaff.sqlite.checkpoint.blocked", Unit: "{checkpoint}", Kind: probe.KindCounter,
		Help: "Checkpoints that a reader or a writer kept from finishing, as the rows of PRAGMA wal_checkpoint say."}
	descLogFrames = &probe.Desc{Name: "tidestaff.sqlite.checkpoint.log_frames", Unit: "{frame}", Kind: probe.KindGauge,
		Help: "Frames in the write-ahead log after the last checkpoint whose row was read; absent without such a log."}
	descMovedFrames = &probe.Desc{Name: "tidestaff.sqlite.checkpoint.moved_frames", Unit: "{frame}", Kind: probe.KindGauge,
		Help: "Frames of those in the write-ahead log that have been moved into the database; absent without such a log."}

	checkpointDescs = []*probe.Desc{descCheckpoint, descCheckpointBlocked, descLogFrames, descMovedFrames}
)

// A checkpointMode is how a checkpoint is asked for.
type checkpointMode uint8

const (
	checkpointPassive checkpointMode = iota // SQLite's default, also for words that it does not know
	checkpointFull
	checkpointRestart
	checkpointTruncate
	checkpointNoop
	checkpointModes
)

var checkpointWords = [checkpointModes]struct{ sql, attr string }{
	{"PASSIVE", "passive"}, {"FULL", "full"}, {"RESTART", "restart"}, {"TRUNCATE", "truncate"}, {"NOOP", "noop"},
}

// checkpoint tells whether the statement is a PRAGMA wal_checkpoint, with or
// without a schema and a mode.
func (c *clause) checkpoint() (mode checkpointMode, ok bool) {
	if c.words[0] != "PRAGMA" {
		return 0, false
	}
	for i := 1; i < len(c.words)-1; i++ {
		if c.words[i] != "WAL_CHECKPOINT" {
			continue
		}
		for m, w := range checkpointWords {
			if c.words[i+1] == w.sql {
				return checkpointMode(m), true
			}
		}
		return checkpointPassive, true
	}
	return 0, false
}

// A checkpointSeries has what is measured of a database's checkpoints of a mode.
type checkpointSeries struct {
	duration *probe.Recorder
	blocked  *probe.Counter
}

// checkpoints gives the series of the mode that the execution's text asks for.
func (x *execution) checkpoints() *checkpointSeries {
	p, db, mode := x.conn.probe, x.conn.db, x.text.checkpoint
	return db.checkpoints[mode].get(func() *checkpointSeries {
		attrs := p.attrsOf(db, probe.Attr{Key: AttrCheckpointMode, Value: checkpointWords[mode].attr})
		return &checkpointSeries{p.core.Recorder(descCheckpoint, attrs...), p.core.Counter(descCheckpointBlocked, attrs...)}
	})
}

// checkpointed records a checkpoint that spent busy nanoseconds in the driver.
func (x *execution) checkpointed(busy int64) {
	x.checkpoints().duration.RecordShard(x.conn.shard, busy)
}

// checkpointRows are the rows of a checkpoint. They have a look at what passes
// by; what SQLite says is not asked for twice.
//
// Rows that scan by themselves, from Go 1.27 on, let nothing pass by that can be
// looked at.
type checkpointRows struct{ *rows }

// peeked gives the rows of a checkpoint, and all others as they are.
func (r *rows) peeked(exact driver.Rows) driver.Rows {
	if exact == driver.Rows(r) {
		return checkpointRows{r}
	}
	return exact
}

// Next implements [driver.Rows].
func (r checkpointRows) Next(dest []driver.Value) error {
	err := r.rows.Next(dest)
	if err == nil {
		r.x.saw(dest)
	}
	return err
}

// saw takes the numbers of a checkpoint's row: whether it was kept from
// finishing, the frames in the log, and how many of them have been moved.
func (x *execution) saw(row []driver.Value) {
	var n [3]int64
	if len(row) != len(n) {
		return
	}
	for i, v := range row {
		var ok bool
		if n[i], ok = v.(int64); !ok {
			return
		}
	}
	if n[0] != 0 {
		x.checkpoints().blocked.Add(1)
	}
	p, db := x.conn.probe, x.conn.db
	for i, d := range [...]*probe.Desc{descLogFrames, descMovedFrames} {
		level := float64(n[i+1])
		if level < 0 { // there is no log
			level = math.NaN()
		}
		db.frames[i].get(func() *probe.Gauge { return p.core.Gauge(d, p.attrsOf(db)...) }).Set(level)
	}
}
