package lag

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// captureName matches the names of captures and nothing else that anybody would
// keep: what matches may be removed. Sorted by name they are sorted by time.
var captureName = regexp.MustCompile(`^tidestaff-stall-\d{8}T\d{6}\.\d{3}Z-[\w.-]+-\d+\.(goroutines|trace)$`)

// captureBase is the common part of the names of a stall's files: when it began,
// whose it was and its number.
func captureBase(start time.Time, whose string, id uint64) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, whose)
	safe = safe[:min(len(safe), 40)] // file systems have 255 bytes for a name
	return fmt.Sprintf("tidestaff-stall-%s-%s-%d", start.UTC().Format("20060102T150405.000Z"), safe, id)
}

// A store keeps captures in a folder, within bounds.
type store struct {
	dir      string
	maxFiles int
	maxBytes int64
}

// write makes a file, whose content fill writes, and removes old ones. A file
// that could not be written whole does not stay. The stall's other files, whose
// names begin like this one's, do: the event names them.
func (s *store) write(base, kind string, fill func(io.Writer) error) (path string, n int64, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", 0, err
	}
	// Before, so that there is room on the disk; and after, when its size is known.
	if err := s.prune(base, s.maxFiles-1); err != nil {
		return "", 0, err
	}
	f, err := s.create(base, kind)
	if err != nil {
		return "", 0, err
	}
	path = f.Name()
	// A recorder's MaxBytes is a hint: it may hold twice as much.
	w := &boundedWriter{w: f, left: s.maxBytes}
	err = fill(w)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = s.prune(base, s.maxFiles)
	}
	if err != nil {
		_ = os.Remove(path) // there is an error already
		return "", 0, err
	}
	return path, s.maxBytes - w.left, nil
}

// create makes the file. Another probe, of this process or of another, may have had
// a stall of that number at the same millisecond; then the name has one part more.
func (s *store) create(base, kind string) (f *os.File, err error) {
	name := base
	for i := 2; i < 100; i++ {
		f, err = os.OpenFile(filepath.Join(s.dir, name+"."+kind), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return f, err
}

// errOwn is why a stall has not all of its captures.
var errOwn = errors.New("the stall's other captures are as many as Options.Capture.MaxFiles and MaxBytes allow")

// prune removes the oldest captures until there are at most so many files and
// the bytes are within their bound. It never removes those of the stall in hand.
func (s *store) prune(keep string, maxFiles int) error {
	entries, err := os.ReadDir(s.dir) // sorted by name
	if err != nil {
		return err
	}
	type capture struct {
		name string
		size int64
	}
	var files []capture
	total := int64(0)
	for _, e := range entries {
		if !e.Type().IsRegular() || !captureName.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil { // or it has gone meanwhile
			files = append(files, capture{e.Name(), info.Size()})
			total += info.Size()
		}
	}
	left := len(files)
	for _, f := range files {
		if left <= maxFiles && total <= s.maxBytes {
			return nil
		}
		if strings.HasPrefix(f.name, keep) {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, f.name)); err != nil && !os.IsNotExist(err) {
			return err
		}
		left, total = left-1, total-f.size
	}
	if left > maxFiles || total > s.maxBytes {
		return errOwn
	}
	return nil
}

// A boundedWriter fails when more is written than is left.
type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		return 0, fmt.Errorf("larger than Options.Capture.MaxBytes")
	}
	n, err := b.w.Write(p)
	b.left -= int64(n)
	return n, err
}
