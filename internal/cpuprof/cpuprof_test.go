package cpuprof

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// message builds a protocol buffer from numbers and bytes.
type message []byte

func (m message) number(n, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, n<<3|wireVarint), v)
}

func (m message) bytes(n uint64, b []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, n<<3|wireBytes), uint64(len(b)))
	return append(m, b...)
}

func (m message) packed(n uint64, vs ...uint64) message {
	var b []byte
	for _, v := range vs {
		b = binary.AppendUvarint(b, v)
	}
	return m.bytes(n, b)
}

func (m message) zip() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(m); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// small is a profile of two samples in one location, into which a call was
// inlined; the first has labels, its lists are not packed, and unknown fields are
// between.
func small() message {
	m := message{}.
		bytes(profileSampleType, message{}.number(valueTypeType, 1).number(valueTypeUnit, 2)).
		bytes(profileSampleType, message{}.number(valueTypeType, 3).number(valueTypeUnit, 4)).
		bytes(profileSample, message{}.number(sampleLocation, 1).number(sampleLocation, 2).number(sampleValue, 3).number(sampleValue, 30_000_000).
			bytes(sampleLabel, message{}.number(labelKey, 5).number(labelStr, 6)).
			bytes(sampleLabel, message{}.number(labelKey, 5).number(3, 99))).
		bytes(profileSample, message{}.packed(sampleLocation, 2, 1).packed(sampleValue, 1, 10_000_000)).
		bytes(profileSample, message{}.packed(sampleValue, 1, 10_000_000)).
		bytes(profileLocation, message{}.number(locationID, 1).
			bytes(locationLine, message{}.number(lineFunction, 7)).bytes(locationLine, message{}.number(lineFunction, 8))).
		bytes(profileLocation, message{}.number(locationID, 2).bytes(locationLine, message{}.number(lineFunction, 8))).
		bytes(profileFunction, message{}.number(functionID, 7).number(functionName, 7)).
		bytes(profileFunction, message{}.number(functionID, 8).number(functionName, 8)).
		number(12, 1)
	for _, s := range []string{"", "samples", "count", "cpu", "nanoseconds", "role", "request", "inner", "outer"} {
		m = m.bytes(profileString, []byte(s))
	}
	return append(binary.AppendUvarint(m, 99<<3|wireFixed64), 1, 2, 3, 4, 5, 6, 7, 8)
}

func TestDecode(t *testing.T) {
	got, err := Decode(bytes.NewReader(small().zip()))
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{
		{Function: "inner", Labels: map[string]string{"role": "request"}, Count: 3, CPU: 30_000_000},
		{Function: "outer", Count: 1, CPU: 10_000_000},
		{Count: 1, CPU: 10_000_000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if n, cpu := Total(got); n != 5 || cpu != 50_000_000 {
		t.Errorf("got %d samples of %d ns, want 5 of 50,000,000", n, cpu)
	}
	byRole := By(got, func(s *Sample) string { return s.Labels["role"] })
	if diff := cmp.Diff([]Sample{{Function: "request", Count: 3, CPU: 30_000_000}, {Count: 2, CPU: 20_000_000}}, byRole); diff != "" {
		t.Errorf("by role (-want +got):\n%s", diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	sample := func(m message) message { return small().bytes(profileSample, m) }
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"nothing", nil, "EOF"},
		{"no gzip", []byte("goroutine 1 [running]:"), "gzip"},
		{"half of it", small().zip()[:40], "unexpected EOF"},
		{"a message cut off", message(small()[:len(small())-3]).zip(), "ends too early"},
		{"another profile", message{}.zip(), "not a CPU profile"},
		{"a length beyond the end", message{profileString<<3 | wireBytes, 9}.zip(), "ends too early"},
		{"a number without end", append(message{profileString << 3}, bytes.Repeat([]byte{0xff}, 11)...).zip(), "64 bits"},
		{"a group", message{profileString<<3 | 3}.zip(), "wire type 3"},
		{"too few values", sample(message{}.packed(sampleValue, 1)).zip(), "sample 3: 1 values, want 2"},
		{"a negative value", sample(message{}.packed(sampleValue, 1, 1<<63)).zip(), "a negative value"},
		{"a label that is no string", sample(message{}.packed(sampleValue, 1, 1).bytes(sampleLabel, message{}.number(labelKey, 77).number(labelStr, 1))).zip(), "string 77 of 9"},
	} {
		if _, err := Decode(bytes.NewReader(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// burn computes until a profile that runs meanwhile must have a sample; how much
// that is depends on the machine, so the caller looks and comes again.
//
//go:noinline
func burn(n int64) {
	var x uint64
	for i := range n {
		x = x*6364136223846793005 + uint64(i)
	}
	runtime.KeepAlive(x)
}

// TestRealProfile reads what the runtime of this Go release writes.
func TestRealProfile(t *testing.T) {
	for n := int64(50_000_000); n < 10_000_000_000; n *= 4 {
		var b bytes.Buffer
		if err := pprof.StartCPUProfile(&b); err != nil {
			t.Skipf("the test itself is profiled: %v", err)
		}
		pprof.Do(context.Background(), pprof.Labels("role", "request", "method", "Burn"), func(context.Context) { burn(n) })
		pprof.StopCPUProfile()
		samples, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			if strings.HasSuffix(s.Function, "cpuprof.burn") && s.Labels["role"] == "request" && s.Labels["method"] == "Burn" && s.Count > 0 && s.CPU > 0 {
				return
			}
		}
	}
	t.Error("no sample of a labelled function, however long it ran")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small()))
	f.Add([]byte(small()[:60]))
	f.Fuzz(func(t *testing.T, b []byte) {
		samples, err := decode(b)
		if err != nil && samples != nil {
			t.Error("samples beside an error")
		}
		for _, s := range samples {
			if s.Count < 0 || s.CPU < 0 {
				t.Errorf("negative: %+v", s)
			}
		}
	})
}
