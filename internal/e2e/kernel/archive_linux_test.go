package kernel

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchive: the bytes of a small archive, as the kernel's documentation of
// the format (buffer-format.rst) has its fields.
func TestArchive(t *testing.T) {
	var got bytes.Buffer
	if err := writeArchive(&got, []entry{
		{name: "dev/null", mode: 0o020600, rdev: [2]int{1, 3}},
		{name: "a", mode: 0o100755, data: []byte("12345")},
	}); err != nil {
		t.Fatal(err)
	}
	const zero = "00000000"
	want := "070701" + "00000001" + "00002180" + zero + zero + "00000001" + zero + zero + zero + zero +
		"00000001" + "00000003" + "00000009" + zero + "dev/null\x00\x00" +
		"070701" + "00000002" + "000081ed" + zero + zero + "00000001" + zero + "00000005" + zero + zero +
		zero + zero + "00000002" + zero + "a\x00" + "12345\x00\x00\x00" +
		"070701" + "00000003" + zero + zero + zero + "00000001" + zero + zero + zero + zero +
		zero + zero + "0000000b" + zero + "TRAILER!!!\x00\x00\x00\x00"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
