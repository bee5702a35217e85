package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Read reads a report. It ignores fields that it does not know, refuses a
// newer major version, and names the field that is wrong and the file's
// version:
//
//	report: version 1.0: metrics[3].dist.hdr: illegal base64 data at input byte 5
func Read(r io.Reader) (*Report, error) {
	rep, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return rep, nil
}

// ReadFile reads a report from a file, whose path is then in the error.
func ReadFile(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	rep, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", path, err)
	}
	return rep, nil
}

// looseReport is the file with everything that comes in numbers left raw, so
// that an error can say which of them it is in.
type looseReport struct {
	Schema     string            `json:"schema"`
	Version    string            `json:"version"`
	Name       string            `json:"name"`
	Started    string            `json:"started"`
	DurationNS *int64            `json:"duration_ns"`
	Provenance Provenance        `json:"provenance"`
	Host       Host              `json:"host"`
	Conditions []json.RawMessage `json:"conditions"`
	Deviations []string          `json:"deviations"`
	Metrics    []json.RawMessage `json:"metrics"`
	Events     []json.RawMessage `json:"events"`
	Dropped    uint64            `json:"dropped"`
	CarriedIn  int               `json:"carried_in"`
	CarriedOut int               `json:"carried_out"`
	Absent     []json.RawMessage `json:"absent"`
	Operations int64             `json:"operations"`
	Targets    []json.RawMessage `json:"targets"`
	Curve      *fileCurve        `json:"curve"`
	Parts      []json.RawMessage `json:"parts"`
	Runs       []json.RawMessage `json:"runs"`
	Excluded   string            `json:"excluded"`
}

// read is Read without the package's name in the error, to which ReadFile adds
// the path.
func read(r io.Reader) (*Report, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	// The version comes first: a newer file may differ in every other field.
	var head struct {
		Schema  string `json:"schema"`
		Version string `json:"version"`
	}
	if err := decode(b, &head); err != nil {
		return nil, err
	}
	if head.Schema != Schema {
		return nil, fmt.Errorf("schema: %q is not %q", head.Schema, Schema)
	}
	if err := checkVersion(head.Version); err != nil {
		return nil, err
	}
	rep, err := readReport(b)
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", head.Version, err)
	}
	return rep, nil
}

// checkVersion accepts every minor version of ours.
func checkVersion(v string) error {
	first, rest, ok := strings.Cut(v, ".")
	major, err := strconv.ParseUint(first, 10, 32)
	if _, err2 := strconv.ParseUint(rest, 10, 32); err != nil || err2 != nil || !ok {
		return fmt.Errorf("version: %q is not two numbers joined by a dot", v)
	}
	own, _, _ := strings.Cut(Version, ".")
	if first != own {
		age := "newer"
		if major == 0 {
			age = "older"
		}
		return fmt.Errorf("version: %q is %s than this reader's %s", v, age, Version)
	}
	return nil
}

// decode is json.Unmarshal with an error that begins with the field's path.
func decode(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("not a %s: %s", wrong.Type, wrong.Value)
		if wrong.Field != "" {
			err = at(wrong.Field, err)
		}
		return err
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return err
}

// at puts a step of the path before an error that may begin with more of it.
func at(field string, err error) error {
	if err == nil {
		return nil
	}
	var p *pathError
	if errors.As(err, &p) {
		return &pathError{field + "." + p.path, p.err}
	}
	return &pathError{field, err}
}

type pathError struct {
	path string
	err  error
}

// Error is the path to the field and what is wrong there.
func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }

// Unwrap gives the error without the path.
func (e *pathError) Unwrap() error { return e.err }

// each decodes the elements of a list and hands them on.
func each[T any](field string, list []json.RawMessage, f func(*T) error) error {
	for i, b := range list {
		v := new(T)
		err := decode(b, v)
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return at(field+"["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// readReport reads one report, the whole or a part. It wants what cannot be
// guessed (when, how long, the list of metrics, be it empty) and takes the rest
// as it comes.
func readReport(b []byte) (*Report, error) {
	var l looseReport
	if err := decode(b, &l); err != nil {
		return nil, err
	}
	if l.DurationNS == nil || *l.DurationNS < 0 {
		return nil, at("duration_ns", errors.New("missing or negative"))
	}
	if l.Operations < 0 {
		return nil, at("operations", errors.New("negative"))
	}
	if l.Metrics == nil {
		return nil, at("metrics", errors.New("missing"))
	}
	started, err := time.Parse(time.RFC3339Nano, l.Started)
	if err != nil {
		return nil, at("started", err)
	}
	r := &Report{Name: l.Name, Started: started, Duration: time.Duration(*l.DurationNS),
		Provenance: l.Provenance, Host: l.Host, Deviations: l.Deviations,
		Operations: l.Operations, Excluded: l.Excluded}
	r.reading = probe.Reading{Start: r.Started, End: r.Started.Add(r.Duration),
		Dropped: l.Dropped, CarriedIn: l.CarriedIn, CarriedOut: l.CarriedOut}
	for _, err := range []error{
		each("conditions", l.Conditions, r.readCondition),
		r.readMetrics(l.Metrics),
		each("targets", l.Targets, r.readTarget),
		each("events", l.Events, r.readEvent),
		each("absent", l.Absent, func(a *fileAbsent) error {
			if a.Name == "" {
				return at("name", errors.New("missing"))
			}
			if a.Reason == "" {
				return at("reason", errors.New("missing"))
			}
			r.reading.Absent = append(r.reading.Absent, probe.Absent(*a))
			return nil
		}),
		at("curve", r.readCurve(l.Curve)),
		r.readParts(l.Parts),
		r.readRuns(l.Runs),
	} {
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readParts reads the reports within this one. A part that cannot be found by
// its name would be lost.
func (r *Report) readParts(list []json.RawMessage) error {
	for i, b := range list {
		p, err := readReport(b)
		if err == nil && (p.Name == "" || r.Part(p.Name) != nil) {
			err = at("name", fmt.Errorf("%q is empty or taken", p.Name))
		}
		if err != nil {
			return at("parts["+strconv.Itoa(i)+"]", err)
		}
		r.Parts = append(r.Parts, p)
	}
	return nil
}

// readRuns reads the repeats. Parts beside them could not be reached.
func (r *Report) readRuns(list []json.RawMessage) error {
	if len(list) > 0 && len(r.Parts) > 0 {
		return at("runs", errors.New("there are parts too"))
	}
	for i, b := range list {
		run, err := readReport(b)
		if err != nil {
			return at("runs["+strconv.Itoa(i)+"]", err)
		}
		r.Runs = append(r.Runs, run)
	}
	return nil
}

// readCondition keeps whole numbers whole: a seed has 64 bits.
func (r *Report) readCondition(raw *struct {
	Condition
	Value json.RawMessage `json:"value"`
}) error {
	c := raw.Condition
	dec := json.NewDecoder(bytes.NewReader(raw.Value))
	dec.UseNumber()
	if err := dec.Decode(&c.Value); err != nil {
		return at("value", errors.New("missing"))
	}
	switch v := c.Value.(type) {
	case string, bool:
	case json.Number:
		if n, err := v.Int64(); err == nil {
			c.Value = n
		} else if f, err := v.Float64(); err == nil {
			c.Value = f
		} else {
			return at("value", fmt.Errorf("%s is out of range", v))
		}
	default:
		return at("value", fmt.Errorf("%s is not a string, a number or a bool", raw.Value))
	}
	r.Conditions = append(r.Conditions, c)
	return nil
}

// readEvent takes over one event. Nothing of it is checked against the window:
// a stall may have begun before.
func (r *Report) readEvent(f *fileEvent) error {
	if f.Name == "" {
		return at("name", errors.New("missing"))
	}
	start, err := time.Parse(time.RFC3339Nano, f.Start)
	if err != nil {
		return at("start", err)
	}
	r.reading.Events = append(r.reading.Events, probe.Event{ID: f.ID, Name: f.Name, Start: start,
		Duration: time.Duration(f.DurationNS), Ongoing: f.Ongoing, Cause: f.Cause, Text: f.Text, Attrs: f.Attrs.list()})
	return nil
}

// readCurve wants the same number of slices everywhere, which a schema cannot
// say.
func (r *Report) readCurve(f *fileCurve) error {
	if f == nil {
		return nil
	}
	if len(f.AtNS) != len(f.ForNS) {
		return at("for_ns", fmt.Errorf("has %d slices, at_ns %d", len(f.ForNS), len(f.AtNS)))
	}
	c := &Curve{Omitted: f.Omitted}
	for i := range f.AtNS {
		c.At = append(c.At, time.Duration(f.AtNS[i]))
		c.For = append(c.For, time.Duration(f.ForNS[i]))
	}
	for i, s := range f.Series {
		if len(s.Values) != len(f.AtNS) {
			return at(fmt.Sprintf("series[%d].values", i), fmt.Errorf("has %d slices, at_ns %d", len(s.Values), len(f.AtNS)))
		}
		unit, _ := memoryUnit(s.Unit)
		out := Series{Name: s.Name, Unit: unit, Attrs: s.Attrs.list(), Stat: s.Stat}
		for _, v := range s.Values {
			out.Values = append(out.Values, v.read(s.Unit))
		}
		c.Series = append(c.Series, out)
	}
	r.Curve = c
	return nil
}
