package proc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// mount is one line of /proc/self/mountinfo that is a cgroup file system, or
// any other that may hide one.
type mount struct {
	id, parent  uint64
	root, point string   // unescaped; root is inside the file system, relative to our cgroup namespace
	version     int      // 1 or 2, 0 for other file systems
	controllers []string // version 1 only, "name=systemd" among them
}

// has reports whether m is a version 1 hierarchy with the controller.
func (m *mount) has(controller string) bool {
	return slices.Contains(m.controllers, controller)
}

// parseMountinfo parses /proc/self/mountinfo. Lines may be longer than any
// fixed buffer: an overlay's lists every layer.
func parseMountinfo(b []byte) ([]mount, error) {
	var mounts []mount
	for len(b) > 0 {
		var line []byte
		line, b = nextLine(b)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, ok := parseMount(line)
		if !ok {
			return nil, fmt.Errorf("mountinfo: not a mount: %q", clip(line))
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// parseMount splits
//
//	36 35 0:28 /root /mount/point rw,noatime shared:1 - cgroup cgroup rw,cpu,cpuacct
//
// where "shared:1" stands for any number of optional fields, none included,
// and the single dash ends them.
func parseMount(line []byte) (mount, bool) {
	var f [6][]byte
	rest := line
	for i := range f {
		f[i], rest = nextField(rest)
	}
	for {
		var opt []byte
		opt, rest = nextField(rest)
		if len(opt) == 0 {
			return mount{}, false
		}
		if string(opt) == "-" {
			break
		}
	}
	fstype, rest := nextField(rest)
	id, ok1 := digits(f[0])
	parent, ok2 := digits(f[1])
	if !ok1 || !ok2 || len(fstype) == 0 {
		return mount{}, false
	}
	m := mount{id: id, parent: parent, root: unescape(f[3]), point: unescape(f[4])}
	switch string(fstype) {
	case "cgroup2":
		m.version = 2
	case "cgroup":
		m.version = 1
		_, rest = nextField(rest) // source: any text, and may be missing
		options, _ := nextField(rest)
		m.controllers = strings.Split(unescape(options), ",")
	}
	return m, true
}

// unescape undoes the kernel's octal escapes of space, tab, newline, backslash
// and, in newer kernels, of more. Anything else is kept as it is.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if c, ok := octal(b[i:]); ok {
			out = append(out, c)
			i += 3
			continue
		}
		out = append(out, b[i])
	}
	return string(out)
}

func octal(b []byte) (byte, bool) {
	if len(b) < 4 || b[0] != '\\' {
		return 0, false
	}
	v := 0
	for _, c := range b[1:4] {
		if c < '0' || c > '7' {
			return 0, false
		}
		v = v<<3 | int(c-'0')
	}
	return byte(v), v <= 0xff
}

// visible drops the mounts that a later mount hides. A path leads to a mount
// unless, somewhere on the way up, another child of the same parent is mounted
// on it or on a folder above it.
//
// Note: comparing mount points alone is not enough. Two mounts on one point
// are told apart only by their parents: the upper one is a child of the lower.
func visible(mounts []mount) []mount {
	byID := make(map[uint64]*mount, len(mounts))
	children := make(map[uint64][]*mount, len(mounts))
	for i := range mounts {
		m := &mounts[i]
		byID[m.id] = m
		if m.parent != m.id { // the first root file system is its own parent
			children[m.parent] = append(children[m.parent], m)
		}
	}
	var out []mount
	for i := range mounts {
		if mounts[i].version != 0 && !hidden(&mounts[i], byID, children) {
			out = append(out, mounts[i])
		}
	}
	return out
}

func hidden(m *mount, byID map[uint64]*mount, children map[uint64][]*mount) bool {
	for _, c := range children[m.id] {
		if c.point == m.point {
			return true // mounted on top of m itself
		}
	}
	for depth := 0; m != nil && depth < len(byID); depth++ {
		for _, c := range children[m.parent] {
			if _, above := under(m.point, c.point); above && c != m && c.point != m.point {
				return true
			}
		}
		if m.parent == m.id {
			break
		}
		m = byID[m.parent]
	}
	return false
}

// under returns what follows dir in path, if path is dir or lies below it.
// It compares whole components: /a/bc is not under /a/b.
func under(path, dir string) (rest string, ok bool) {
	if dir == "/" {
		return strings.TrimPrefix(path, "/"), strings.HasPrefix(path, "/")
	}
	rest, ok = strings.CutPrefix(path, dir)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}
