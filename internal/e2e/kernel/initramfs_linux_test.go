package kernel

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// An entry is one file of an initramfs.
type entry struct {
	name string
	mode uint32 // type and permissions, as stat has them
	rdev [2]int // of a device: its major and minor number
	data []byte
}

// machineFiles is all that a virtual machine has: the program that is its first
// process, the console for it to print on, and places to mount at.
func machineFiles(program []byte) []entry {
	const dir = syscall.S_IFDIR | 0o755
	const device = syscall.S_IFCHR | 0o600
	return []entry{
		{name: "dev", mode: dir},
		{name: "dev/console", mode: device, rdev: [2]int{5, 1}},
		{name: "dev/null", mode: device, rdev: [2]int{1, 3}},
		{name: "proc", mode: dir},
		{name: "sys", mode: dir},
		{name: "tmp", mode: dir},
		{name: "mnt", mode: dir},
		{name: "init", mode: syscall.S_IFREG | 0o755, data: program},
	}
}

// writeInitramfs writes the file that the kernel unpacks into its first file
// system.
func writeInitramfs(name string, entries []entry) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	// The machine unpacks slower than this one packs, and the file is used
	// twice: little compression is the fastest.
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err == nil {
		err = errors.Join(writeArchive(z, entries), z.Close())
	}
	return errors.Join(err, f.Close())
}

// writeArchive writes a cpio archive of the format "newc", the one that the
// kernel reads.
func writeArchive(w io.Writer, entries []entry) error {
	for i, e := range append(entries, entry{name: "TRAILER!!!"}) {
		if err := e.write(w, i+1); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// write writes the entry: a header of hexadecimal numbers, the name and the
// data, both padded to a multiple of four bytes.
func (e entry) write(w io.Writer, inode int) error {
	var b bytes.Buffer
	b.WriteString("070701")
	for _, field := range []int{
		inode, int(e.mode),
		0, 0, // owner and group: root
		1,           // links
		0,           // time of change: none, so that equal files make equal archives
		len(e.data), // size
		0, 0,        // the device that it was on
		e.rdev[0], e.rdev[1],
		len(e.name) + 1, // the name ends in a zero byte
		0,               // checksum, which this format does not have
	} {
		fmt.Fprintf(&b, "%08x", field)
	}
	b.WriteString(e.name + "\x00")
	pad(&b)
	header := b.Len()
	b.Write(e.data)
	pad(&b)
	if header%4 != 0 {
		return errors.New("the data is not aligned")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func pad(b *bytes.Buffer) {
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
}
