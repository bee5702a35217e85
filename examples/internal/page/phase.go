package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe/report"
)

// A Run is one variant that is played.
type Run struct {
	Options
	URL  string // of the server
	Dir  string // the server's folder, which nobody need remove
	Show *progress.Line

	stage stage.Stage
}

// Load is the phase under load, the last one. It returns the reports of the
// server and of its users and then those of the phases before; none if there is
// none of the load.
func (r *Run) Load(ctx context.Context, d *drive.Driver, before ...*report.Report) ([]*report.Report, error) {
	server, load, err := r.Phase(ctx, PartServer, PartLoad, d)
	if server == nil || load == nil {
		return nil, err
	}
	return append([]*report.Report{server, load}, before...), err
}

// Phase opens a phase in the server, plays the load and closes it. It returns
// what the server measured and what its users did, under the name users: what
// they waited is measured on their side. The reports of a phase that was cut
// short are returned too.
func (r *Run) Phase(ctx context.Context, name, users string, d *drive.Driver) (server, load *report.Report, err error) {
	if err := r.stage.Open(ctx, name); err != nil {
		return nil, nil, err
	}
	load, played := play(ctx, users, d, r.Show)
	// Not ctx: after an interrupt the report is still wanted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	reports, err := r.stage.Close(ctx)
	if err != nil || len(reports) == 0 {
		return nil, nil, errors.Join(played, err)
	}
	server, err = report.Read(bytes.NewReader(reports[0].JSON))
	return server, load, errors.Join(played, err)
}

func play(ctx context.Context, name string, d *drive.Driver, show *progress.Line) (*report.Report, error) {
	run, err := report.Start(d, report.Options{Name: name})
	if err != nil {
		return nil, err
	}
	stop := show.Follow(func() string {
		o := d.Progress()
		return fmt.Sprintf("%2.0f s, %d of %d done (%.0f %%)", o.Elapsed.Seconds(), o.Done, o.Planned, 100*o.Share())
	})
	_, err = d.Run(ctx)
	stop()
	return run.Close(), err
}
