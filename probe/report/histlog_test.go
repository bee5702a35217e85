package report

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidestaff/tidestaff/probe"
)

// What is written is read back by hdrhistogram-go: intervals, tags and counts.
func TestHistogramLog(t *testing.T) {
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d := &probe.Desc{Name: "lag", Unit: "s", Help: "x", Digits: 3}
	total := core.Recorder(d, probe.Attr{Key: "name", Value: ",a b\n"}, probe.Attr{Key: "component", Value: "total"})
	plain := core.Recorder(d)

	var b bytes.Buffer
	l := NewHistogramLog(&b, "lag")
	var r probe.Reading
	start := time.UnixMilli(1_800_000_000_123)
	for i := range 3 {
		for range i + 1 {
			total.Record(int64(200 * time.Millisecond))
		}
		plain.Record(int64(time.Millisecond))
		w.Next(&r)
		r.Start, r.End = start.Add(time.Duration(i)*time.Second), start.Add(time.Duration(i+1)*time.Second)
		if err := l.Add(&r); err != nil {
			t.Fatal(err)
		}
	}

	wantV2(t, b.String())
	read := hdrhistogram.NewHistogramLogReader(&b)
	for i := range 3 {
		for _, want := range []struct {
			tag   string
			count int64
			value time.Duration
		}{{"_a_b_/total", int64(i + 1), 200 * time.Millisecond}, {"", 1, time.Millisecond}} {
			h, err := read.NextIntervalHistogram()
			if err != nil || h == nil {
				t.Fatalf("interval %d: got %v, %v", i, h, err)
			}
			if h.Tag() != want.tag || h.TotalCount() != want.count || h.ValueAtQuantile(50) < int64(want.value) || h.ValueAtQuantile(50) > int64(want.value)*1001/1000 {
				t.Errorf("interval %d: got %d of %v under %q, want %+v", i, h.TotalCount(), time.Duration(h.ValueAtQuantile(50)), h.Tag(), want)
			}
			// The reader counts in fractions of a second.
			if off := h.StartTimeMs() - start.UnixMilli() - int64(i)*1000; off < -1 || off > 1 {
				t.Errorf("interval %d: got a start that is off by %d ms", i, off)
			}
		}
	}
	if h, err := read.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("got %v, %v at the end, want nothing", h, err)
	}
}

// wantV2 wants every line to hold a compressed histogram of HdrHistogram's V2 encoding,
// by the cookies with which it and what is compressed in it begin.
func wantV2(t *testing.T, log string) {
	t.Helper()
	lines := 0
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, `"StartTimestamp"`) {
			continue
		}
		lines++
		packed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line[strings.LastIndex(line, ",")+1:]))
		if err != nil || len(packed) < 8 || binary.BigEndian.Uint32(packed) != 0x1c849314 {
			t.Fatalf("got %q, error %v, want a compressed V2 histogram", line, err)
		}
		z, err := zlib.NewReader(bytes.NewReader(packed[8:])) // behind the cookie and the length
		if err != nil {
			t.Fatal(err)
		}
		var cookie uint32
		if err := binary.Read(z, binary.BigEndian, &cookie); err != nil || cookie != 0x1c849313 {
			t.Errorf("got the cookie %#x, error %v, want V2's", cookie, err)
		}
	}
	if lines != 6 {
		t.Errorf("got %d histograms, want 6", lines)
	}
}

func TestHistogramLogRefuses(t *testing.T) {
	var core probe.Core
	core.Recorder(&probe.Desc{Name: "rows", Unit: "{row}", Help: "x"}).Record(1)
	core.Counter(&probe.Desc{Name: "time", Unit: "s", Help: "x"}).Add(1)
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	r := w.Close()
	for metric, want := range map[string]string{
		"rows": `metric "rows" is a distribution in "{row}"`, "time": `metric "time" is a counter in "s"`, "none": "",
	} {
		err := NewHistogramLog(new(bytes.Buffer), metric).Add(r)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", metric, err, want)
		}
	}
}
