package proc

import (
	"strings"
	"testing"
)

func TestParseIOStat(t *testing.T) {
	v := func(n uint64) Value { return Value{V: n, OK: true} }
	for _, tt := range []struct {
		name, text string
		want       DeviceIO
		err        string
	}{
		{"nothing yet", "", DeviceIO{}, ""},
		{"one device", "259:0 rbytes=4194304 wbytes=1048576 rios=8 wios=2 dbytes=0 dios=0\n",
			DeviceIO{v(4194304), v(1048576), v(8), v(2)}, ""},
		{"two devices, another order", "8:0 wbytes=1 rbytes=10 wios=1 rios=2\n253:1 rbytes=5 wbytes=3 rios=1 wios=1 cost.usage=7",
			DeviceIO{v(15), v(4), v(3), v(2)}, ""},
		{"a device without keys", "8:0 8:16 rbytes=1 wbytes=0 rios=1 wios=0\n8:32 \n", DeviceIO{v(1), v(0), v(1), v(0)}, ""},
		{"missing keys", "8:0 rbytes=7\n", DeviceIO{ReadBytes: v(7)}, ""},
		{"unknown text", "8:0 rbytes=7 mode=auto flag\n", DeviceIO{ReadBytes: v(7)}, ""},
		{"no number", "8:0 rbytes=x\n", DeviceIO{}, `"rbytes=x"`},
		{"no value", "8:0 rios\n", DeviceIO{}, `"rios"`},
		{"sum too large", "8:0 rios=18446744073709551615\n8:1 rios=1\n", DeviceIO{}, `"rios=1"`},
	} {
		got, err := ParseIOStat([]byte(tt.text))
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %+v, %v, want %+v, an error with %s", tt.name, got, err, tt.want, tt.err)
		}
	}
}

func TestParseBlkio(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		read, write Value
		err         string
	}{
		{"nothing yet", "Total 0\n", Value{}, Value{}, ""},
		{"two devices", "8:0 Read 4096\n8:0 Write 512\n8:0 Sync 4608\n8:0 Total 4608\n8:16 Read 4\n8:16 Write 0\nTotal 4612\n",
			Value{4100, true}, Value{512, true}, ""},
		{"no number", "8:0 Read lots\n", Value{}, Value{}, `"8:0 Read lots"`},
	} {
		read, write, err := ParseBlkio([]byte(tt.text))
		if read != tt.read || write != tt.write || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %v, %v, %v, want %v, %v, an error with %s", tt.name, read, write, err, tt.read, tt.write, tt.err)
		}
	}
}

// FuzzDeviceIO: whatever the text, each sum is of what the lines say or absent.
func FuzzDeviceIO(f *testing.F) {
	f.Add("259:0 rbytes=4194304 wbytes=1048576 rios=8 wios=2\n")
	f.Add("8:0 Read 4096\n8:0 Write 512\nTotal 4608\n")
	f.Add("8:0 8:16 rbytes=\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseIOStat([]byte(text))
		read, write, err2 := ParseBlkio([]byte(text))
		for _, v := range []Value{d.ReadBytes, d.WriteBytes, d.ReadOps, d.WriteOps, read, write} {
			if !v.OK && v.V != 0 {
				t.Errorf("%q: got %d for what is absent", text, v.V)
			}
		}
		if err != nil && d != (DeviceIO{}) || err2 != nil && (read.OK || write.OK) {
			t.Errorf("%q: got numbers beside an error", text)
		}
	})
}
