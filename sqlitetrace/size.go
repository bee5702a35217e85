package sqlitetrace

import (
	"math"
	"os"

	"github.com/tidestaff/tidestaff/probe"
)

// sample looks at the sizes of the files. One that is not there has none.
//
// Note: it only asks the file system. Free pages stand in the file's header, but
// to open and close the file here would drop the POSIX locks that SQLite has on
// it: they belong to the process. [Probe.CountPages] asks SQLite.
func (all *databases) sample(p *Probe) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, db := range all.byKey {
		if db.path == "" {
			continue
		}
		for i, f := range [...]struct{ which, path string }{{"database", db.path}, {"wal", db.path + "-wal"}} {
			size := math.NaN()
			if info, err := os.Stat(f.path); err == nil {
				size = float64(info.Size())
			}
			db.sizes[i].get(func() *probe.Gauge {
				return p.core.Gauge(descFileSize, p.attrsOf(db, probe.Attr{Key: AttrFile, Value: f.which})...)
			}).Set(size)
		}
	}
}
