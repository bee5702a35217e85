package kernel

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An Image is a kernel that Debian builds for virtual machines. It has drivers
// for a serial console and an NVMe disk built in, so that it needs no modules.
type Image struct {
	// Series is the beginning of its release, such as "6.12".
	Series string
	// Suite is the part of Debian whose newest cloud kernel is of the series.
	Suite string
}

// Images are the two kernels between which the answers differ: version 2's
// memory.peak exists in both, and a write sets it back in the newer one only.
var Images = []Image{
	{Series: "6.1", Suite: "bookworm"},
	{Series: "6.12", Suite: "bookworm-backports"},
}

// metaPackage depends on the newest kernel of its suite.
const metaPackage = "linux-image-cloud-amd64"

// Path is the file in the user's cache folder into which [Image.Fetch] put the
// kernel. The error matches fs.ErrNotExist if it has not.
func (i Image) Path() (string, error) {
	dir, err := i.cache()
	if err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(dir, "vmlinuz-"+i.Series+".*"))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", &fs.PathError{Op: "find vmlinuz of Linux " + i.Series, Path: dir, Err: fs.ErrNotExist}
	}
	return found[0], nil
}

func (i Image) cache() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "tidestaff", "kernel", i.Series), err
}

// Fetch downloads the kernel's package with apt, from the mirror that this
// machine uses but through lists of its own, and unpacks the kernel alone:
// nothing is installed and no list of the machine changes. It returns the file
// at once if it is there already; to get a newer release, remove it.
func (i Image) Fetch(ctx context.Context) (string, error) {
	if name, err := i.Path(); !errors.Is(err, fs.ErrNotExist) {
		return name, err
	}
	dir, err := i.cache()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	deb, err := i.download(ctx, work)
	if err != nil {
		return "", fmt.Errorf("get Linux %s from Debian's %s: %w", i.Series, i.Suite, err)
	}
	kernel, err := unpack(ctx, deb, work)
	if err != nil {
		return "", fmt.Errorf("%s: %w", deb, err)
	}
	// Into place in one step, so that a fetch which is killed leaves no half.
	return i.place(kernel, dir)
}

func (i Image) place(kernel, dir string) (string, error) {
	name := filepath.Base(kernel)
	if !strings.HasPrefix(name, "vmlinuz-"+i.Series+".") {
		return "", fmt.Errorf("the newest kernel of Debian's %s is %s, want Linux %s", i.Suite, name, i.Series)
	}
	name = filepath.Join(dir, name)
	return name, os.Rename(kernel, name)
}

// unpack takes the one file boot/vmlinuz-* out of a package.
func unpack(ctx context.Context, deb, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	name, err := extract(out, dir)
	_, _ = io.Copy(io.Discard, out) // its exit code is about the whole
	return name, errors.Join(err, cmd.Wait())
}

func extract(archive io.Reader, dir string) (string, error) {
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			return "", errors.New("no boot/vmlinuz-* in the package")
		} else if err != nil {
			return "", err
		}
		if ok, _ := filepath.Match("boot/vmlinuz-*", strings.TrimPrefix(h.Name, "./")); !ok {
			continue
		}
		name := filepath.Join(dir, filepath.Base(h.Name))
		f, err := os.Create(name)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, r)
		return name, errors.Join(err, f.Close())
	}
}
