package container

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is the one file of the image.
const program = "/probe"

// buildImage is the file system of a container that has nothing but this
// package's tests: they are built without cgo, so that they need no library, and
// without the race detector, which needs cgo.
func buildImage(t *testing.T) *bytes.Buffer {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command in PATH")
	}
	name := filepath.Join(t.TempDir(), "probe")
	cmd := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	header := &tar.Header{Name: program[1:], Mode: 0o755, Size: int64(len(data)), ModTime: time.Unix(0, 0)}
	if err := w.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &image
}
