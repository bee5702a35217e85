package report

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Schema and Version head every report file. A minor version adds fields,
// which an older reader ignores; a major version changes their meaning, and an
// older reader refuses it. The schema itself is schema/report-v1.json beside
// this package.
const (
	Schema  = "tidestaff/report"
	Version = "1.1"
)

// The file's types. In the file a time is in nanoseconds: whatever the
// descriptions have in seconds is written as integers with the unit "ns". What
// is not there is left out or null.

type fileReport struct {
	Schema     string       `json:"schema,omitempty"`
	Version    string       `json:"version,omitempty"`
	Name       string       `json:"name"`
	Started    string       `json:"started"`
	DurationNS int64        `json:"duration_ns"`
	Provenance Provenance   `json:"provenance"`
	Host       Host         `json:"host"`
	Conditions Conditions   `json:"conditions,omitempty"`
	Deviations []string     `json:"deviations,omitempty"`
	Metrics    []fileMetric `json:"metrics"`
	Events     []fileEvent  `json:"events"`
	Dropped    uint64       `json:"dropped"`
	CarriedIn  int          `json:"carried_in"`
	CarriedOut int          `json:"carried_out"`
	Absent     []fileAbsent `json:"absent"`
	Operations int64        `json:"operations,omitempty"`
	Targets    []fileTarget `json:"targets,omitempty"`
	Curve      *fileCurve   `json:"curve,omitempty"`
	Parts      []fileReport `json:"parts,omitempty"`
	Runs       []fileReport `json:"runs,omitempty"`
	Excluded   string       `json:"excluded,omitempty"`
}

// fileTarget has no value where there is none, and several from repeats.
type fileTarget struct {
	Name    string    `json:"name"`
	Op      string    `json:"op,omitempty"`
	Bound   *number   `json:"bound,omitempty"`
	Unit    string    `json:"unit,omitempty"`
	Values  []*number `json:"values,omitempty"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"`
}

type fileMetric struct {
	Name   string      `json:"name"`
	Unit   string      `json:"unit"`
	Kind   string      `json:"kind"`
	Detail bool        `json:"detail,omitempty"`
	Attrs  attrs       `json:"attrs,omitempty"`
	Value  *number     `json:"value,omitempty"`
	Dist   *fileDist   `json:"dist,omitempty"`
	Prov   *fileProv   `json:"prov,omitempty"`
	Bench  []fileBench `json:"bench,omitempty"`
}

// fileDist has the statistics for readers that know no HDR histograms; a
// reader of ours takes them from hdr, and from the exact sum and max.
type fileDist struct {
	Count   uint64  `json:"count"`
	Sum     int64   `json:"sum"`
	Max     *int64  `json:"max,omitempty"`
	P50     *int64  `json:"p50,omitempty"`
	P90     *int64  `json:"p90,omitempty"`
	P95     *int64  `json:"p95,omitempty"`
	P99     *int64  `json:"p99,omitempty"`
	P999    *int64  `json:"p999,omitempty"`
	Clamped uint64  `json:"clamped,omitempty"`
	HDR     *string `json:"hdr,omitempty"` // base64 of the V2 compressed encoding; none if count is 0
}

type fileProv struct {
	How      string `json:"how"`
	Method   string `json:"method,omitempty"`
	Samples  uint64 `json:"samples,omitempty"`
	MaxGapNS int64  `json:"max_gap_ns,omitempty"`
}

type fileBench struct {
	Unit   string `json:"unit"`
	Stat   string `json:"stat"`
	PerOp  bool   `json:"per_op,omitempty"`
	Better string `json:"better,omitempty"`
	Exact  bool   `json:"exact,omitempty"`
}

type fileEvent struct {
	ID         uint64 `json:"id"`
	Name       string `json:"name"`
	Start      string `json:"start"`
	DurationNS int64  `json:"duration_ns"`
	Ongoing    bool   `json:"ongoing,omitempty"`
	Cause      string `json:"cause,omitempty"`
	Text       string `json:"text,omitempty"`
	Attrs      attrs  `json:"attrs,omitempty"`
}

type fileAbsent struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type fileCurve struct {
	AtNS    []int64      `json:"at_ns"`
	ForNS   []int64      `json:"for_ns"`
	Series  []fileSeries `json:"series"`
	Omitted int          `json:"omitted,omitempty"`
}

type fileSeries struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Attrs  attrs     `json:"attrs,omitempty"`
	Stat   string    `json:"stat"`
	Values []*number `json:"values"`
}

// number is a float64 that prints whole numbers without an exponent or a
// point, so that a count of nanoseconds or bytes is an integer in the file.
type number float64

// MarshalJSON prints 20000000 where encoding/json would print 2e+07 from some
// size on, which schema validators and people read as a fraction.
func (n number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return strconv.AppendInt(nil, int64(f), 10), nil
	}
	return json.Marshal(f)
}

// numberOf is nil for what JSON has no number for: NaN means absent, and an
// infinity is nobody's measurement.
func numberOf(v float64) *number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	n := number(v)
	return &n
}

// stamp is a time in the file.
func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }

// fileUnit is the unit in the file and what a value is multiplied by to get
// there.
func fileUnit(unit string) (string, float64) {
	if unit == "s" {
		return "ns", 1e9
	}
	return unit, 1
}

// memoryUnit is its inverse.
func memoryUnit(unit string) (string, float64) {
	if unit == "ns" {
		return "s", 1e-9
	}
	return unit, 1
}

// toFile converts to the file's unit, nanoseconds to whole ones.
func toFile(v float64, unit string) *number {
	_, scale := fileUnit(unit)
	if scale != 1 {
		v = math.Round(v * scale)
	}
	return numberOf(v)
}

// attrs are an object in the file and come back sorted by key.
type attrs map[string]string

// attrsOf is nil for no attributes, so that the field is left out.
func attrsOf(list []probe.Attr) attrs {
	if len(list) == 0 {
		return nil
	}
	as := make(attrs, len(list))
	for _, a := range list {
		as[a.Key] = a.Value
	}
	return as
}

// list sorts the attributes: an object has no order to restore.
func (as attrs) list() []probe.Attr {
	if len(as) == 0 {
		return nil
	}
	list := make([]probe.Attr, 0, len(as))
	for _, k := range slices.Sorted(maps.Keys(as)) {
		list = append(list, probe.Attr{Key: k, Value: as[k]})
	}
	return list
}
