package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidestaff/tidestaff/probe"
)

// Write writes the report as one line of JSON; see [Schema]. Encoding the
// histograms costs about a millisecond for each distribution.
func (r *Report) Write(w io.Writer) error {
	f, err := r.file()
	if err != nil {
		return fmt.Errorf("report: write: %w", err)
	}
	f.Schema, f.Version = Schema, Version
	b, err := marshal(f)
	if err != nil {
		return fmt.Errorf("report: write: %w", err)
	}
	if _, err = w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("report: write: %w", err)
	}
	return nil
}

// WriteFile writes the report to a file, which is either the old one or whole:
// the report goes to a new file beside it, which then takes its name. What is
// not a regular file, such as /dev/stdout, is written to as it is.
func (r *Report) WriteFile(path string) error {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return err
	}
	if err := replace(path, b.Bytes()); err != nil {
		return fmt.Errorf("report: write: %w", err)
	}
	return nil
}

// replace writes b to path by way of a temporary file in the same folder, since
// a rename cannot cross file systems.
func replace(path string, b []byte) error {
	// The file that a link leads to is replaced, not the link.
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, b, 0o666)
	}
	// Not os.CreateTemp: its files are for the owner only, and a report gets
	// what the umask gives.
	temp := path + ".new-" + strconv.FormatUint(rand.Uint64(), 36)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		// Without it a crash could leave the name on an empty file.
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// marshal is json.Marshal that leaves <, > and & alone: statements have them.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// file converts the report and its parts.
func (r *Report) file() (*fileReport, error) {
	f := &fileReport{
		Name:       r.Name,
		Started:    stamp(r.Started),
		DurationNS: int64(r.Duration),
		Provenance: r.Provenance,
		Host:       r.Host,
		Conditions: r.Conditions,
		Deviations: r.Deviations,
		Metrics:    []fileMetric{},
		Events:     []fileEvent{},
		Dropped:    r.reading.Dropped,
		CarriedIn:  r.reading.CarriedIn,
		CarriedOut: r.reading.CarriedOut,
		Absent:     []fileAbsent{},
		Operations: r.Operations,
		Targets:    targetsFile(r.Targets),
		Curve:      r.Curve.file(),
		Excluded:   r.Excluded,
	}
	for i := range r.reading.Metrics {
		m, err := r.fileMetric(i)
		if err != nil {
			return nil, err
		}
		f.Metrics = append(f.Metrics, m)
	}
	for _, e := range r.reading.Events {
		f.Events = append(f.Events, fileEvent{ID: e.ID, Name: e.Name, Start: stamp(e.Start),
			DurationNS: int64(e.Duration), Ongoing: e.Ongoing, Cause: e.Cause, Text: e.Text, Attrs: attrsOf(e.Attrs)})
	}
	for _, a := range r.reading.Absent {
		f.Absent = append(f.Absent, fileAbsent(a))
	}
	return f, r.fileParts(f)
}

// fileParts converts the reports within this one. It refuses parts that
// [Report.Part] could not find again, as it could not if there are runs too.
func (r *Report) fileParts(f *fileReport) error {
	for i, p := range r.Parts {
		if p.Name == "" || r.Part(p.Name) != p {
			return fmt.Errorf("parts[%d]: name %q is empty or taken", i, p.Name)
		}
		pf, err := p.file()
		if err != nil {
			return fmt.Errorf("part %q: %w", p.Name, err)
		}
		f.Parts = append(f.Parts, *pf)
	}
	for i, run := range r.Runs {
		rf, err := run.file()
		if err != nil {
			return fmt.Errorf("runs[%d]: %w", i, err)
		}
		f.Runs = append(f.Runs, *rf)
	}
	return nil
}

// fileMetric converts the metric at i. A scalar that is not a number has no
// value in the file; the bench units of detail metrics stay out, since no
// benchmark reports them.
func (r *Report) fileMetric(i int) (fileMetric, error) {
	m := &r.reading.Metrics[i]
	unit, _ := fileUnit(m.Unit)
	f := fileMetric{Name: m.Name, Unit: unit, Kind: m.Kind.String(), Detail: m.Detail, Attrs: attrsOf(m.Attrs)}
	if p := m.Prov; p != (probe.Provenance{}) {
		f.Prov = &fileProv{How: p.How.String(), Method: p.Method, Samples: p.Samples, MaxGapNS: int64(p.MaxGap)}
	}
	if !m.Detail {
		for _, b := range m.Bench {
			f.Bench = append(f.Bench, fileBench(b))
		}
	}
	if m.Dist == nil {
		f.Value = toFile(m.Value, m.Unit)
		return f, nil
	}
	d, err := distFile(m.Dist)
	if err != nil {
		return f, fmt.Errorf("metric %s: %w", m.Name, err)
	}
	f.Dist = d
	return f, nil
}

// distFile encodes a distribution. One without values has no percentile, no
// maximum and no buckets.
func distFile(d *probe.Dist) (*fileDist, error) {
	f := &fileDist{Count: d.Count(), Sum: d.Sum(), Clamped: d.Clamped()}
	if f.Count == 0 {
		return f, nil
	}
	b, err := d.HDR().Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	hdr := string(b)
	f.HDR = &hdr
	top := d.Max()
	f.Max = &top
	// The file has every percentile: whoever prints one sees the count.
	f.P50, f.P90, f.P95 = quantile(d, 0.50), quantile(d, 0.90), quantile(d, 0.95)
	f.P99, f.P999 = quantile(d, 0.99), quantile(d, 0.999)
	return f, nil
}

// quantile is a pointer, since the file leaves out what there is not.
func quantile(d *probe.Dist, q float64) *int64 {
	v := d.Quantile(q)
	return &v
}

// file converts the curve, nil if there is none.
func (c *Curve) file() *fileCurve {
	if c == nil {
		return nil
	}
	f := &fileCurve{AtNS: []int64{}, ForNS: []int64{}, Series: []fileSeries{}, Omitted: c.Omitted}
	for i := range c.At {
		f.AtNS = append(f.AtNS, int64(c.At[i]))
		f.ForNS = append(f.ForNS, int64(c.For[i]))
	}
	for _, s := range c.Series {
		unit, _ := fileUnit(s.Unit)
		fs := fileSeries{Name: s.Name, Unit: unit, Attrs: attrsOf(s.Attrs), Stat: s.Stat, Values: []*number{}}
		for _, v := range s.Values {
			fs.Values = append(fs.Values, toFile(v, s.Unit))
		}
		f.Series = append(f.Series, fs)
	}
	return f
}
