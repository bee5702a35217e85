package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidestaff/tidestaff/probe"
)

// A HistogramLog writes the distributions of one metric, interval by interval, as
// an interval log of HdrHistogram (version 1.3 of the format, histograms encoded
// by V2), which the tools of that family read, merge and draw. It is made by
// [NewHistogramLog].
type HistogramLog struct {
	out    *hdrhistogram.HistogramLogWriter
	metric string
	begun  bool
}

// NewHistogramLog makes a log of the series of a metric whose unit is "s". Values
// are in nanoseconds, Interval_Max in milliseconds. Each series is a tag: the values
// of its attributes, joined by slashes, such as "total" or "index/loop".
func NewHistogramLog(w io.Writer, metric string) *HistogramLog {
	return &HistogramLog{out: hdrhistogram.NewHistogramLogWriter(w), metric: metric}
}

// Add writes one line for each series of the reading. Readings that tile time are
// those of [probe.Window.Next]. The first Add writes the log's head. Times are
// whole milliseconds since 1970. Interval_Max is the upper end of a
// bucket; the exact maximum is in the reading.
//
// The error is the writer's, or says that the metric is not a distribution of
// times.
func (l *HistogramLog) Add(r *probe.Reading) error {
	if !l.begun {
		if err := l.head(r.Start.UnixMilli()); err != nil {
			return err
		}
		l.begun = true
	}
	for m := range r.Find(l.metric) {
		if m.Dist == nil || m.Unit != "s" {
			return fmt.Errorf("report: histogram log: metric %q is a %v in %q, not a distribution of times", m.Name, m.Kind, m.Unit)
		}
		h := m.Dist.HDR()
		h.SetTag(logTag(m.Attrs))
		h.SetStartTimeMs(r.Start.UnixMilli())
		h.SetEndTimeMs(r.End.UnixMilli())
		if err := l.out.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}

func (l *HistogramLog) head(start int64) error {
	if err := l.out.OutputComment("[" + l.metric + ", by tidestaff]"); err != nil {
		return err
	}
	if err := l.out.OutputLogFormatVersion(); err != nil {
		return err
	}
	if err := l.out.OutputStartTime(start); err != nil {
		return err
	}
	return l.out.OutputLegend()
}

// logTag is a series' tag. The format has no way to write a comma or a blank in
// one; the writer refuses most of them, and of those that it does not refuse a
// reader makes nothing.
func logTag(attrs []probe.Attr) string {
	values := make([]string, len(attrs))
	for i, a := range attrs {
		values[i] = strings.Map(func(r rune) rune {
			if r <= ' ' || r == ',' {
				return '_'
			}
			return r
		}, a.Value)
	}
	return strings.Join(values, "/")
}
