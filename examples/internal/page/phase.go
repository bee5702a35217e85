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

// Phase opens a phase in the processes of a stage, of which the first one is
// the server, plays the load and closes it. It returns what the server measured
// and what its users did, under the name users: what they waited is measured on
// their side. The reports of a phase that was cut short are returned too.
func Phase(ctx context.Context, s *stage.Stage, name, users string, d *drive.Driver, show *progress.Line) (server, load *report.Report, err error) {
	if err := s.Open(ctx, name); err != nil {
		return nil, nil, err
	}
	load, played := play(ctx, users, d, show)
	// Not ctx: after an interrupt the report is still wanted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	reports, err := s.Close(ctx)
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

// Join makes a variant's column of its parts, of which the first one's
// conditions are the data before the load. Without parts there is no column.
func (o Options) Join(variant string, deviations []string, parts ...*report.Report) *report.Report {
	if len(parts) == 0 {
		return nil
	}
	column := report.Join(variant, parts...)
	column.Conditions = append(parts[0].Conditions, o.conditions()...)
	column.Deviations = deviations
	for _, part := range parts {
		part.Conditions = nil
	}
	return column
}
