package report

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
)

// A Provenance says which program ran where. A field that could not be found
// out is empty, zero or nil, and is not written: none of them has a zero that
// means something.
type Provenance struct {
	// Commit is the version control revision that the Go command stamped into
	// the binary, and Dirty whether files differed from it. `go run` and
	// `go test` stamp none.
	Commit string `json:"commit,omitempty"`
	Dirty  *bool  `json:"dirty,omitempty"`
	// Module is the main module's path, Version its version ("(devel)" for a
	// local build).
	Module  string `json:"module,omitempty"`
	Version string `json:"version,omitempty"`

	Go     string `json:"go"`
	GOOS   string `json:"goos"`
	GOARCH string `json:"goarch"`
	// Race is whether the race detector was compiled in, which slows
	// everything several times over.
	Race bool `json:"race"`

	GOMAXPROCS int `json:"gomaxprocs"`
	// GOGC is the percentage in force, or "off".
	GOGC string `json:"gogc"`
	// GOMEMLIMIT is in bytes, 0 if there is no limit.
	GOMEMLIMIT int64 `json:"gomemlimit,omitempty"`

	// NumCPU counts the CPUs that the process may run on.
	NumCPU   int    `json:"ncpu"`
	CPUModel string `json:"cpu_model,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	// Cgroup is nil if the process's cgroup is not to be seen.
	Cgroup *Cgroup `json:"cgroup,omitempty"`
}

// A Cgroup is the limits that bind the control group that the process is in:
// the smallest of its own and of those above it that can be seen.
type Cgroup struct {
	// Version of the controllers that the numbers come from: 1 or 2.
	Version int `json:"version"`
	// CPUs is the CPU quota in CPUs, 0 if there is none or it is not to be
	// seen.
	CPUs float64 `json:"cpus,omitempty"`
	// Memory is the limit in bytes, 0 if there is none or it is not to be
	// seen.
	Memory int64 `json:"memory_bytes,omitempty"`
}

// readProvenance collects what the runtime knows and, below root, what the
// kernel tells.
func readProvenance(root string) Provenance {
	p := Provenance{
		Go:         runtime.Version(),
		GOOS:       runtime.GOOS,
		GOARCH:     runtime.GOARCH,
		Race:       raceEnabled,
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		NumCPU:     runtime.NumCPU(),
	}
	p.collector()
	if info, ok := debug.ReadBuildInfo(); ok {
		p.build(info)
	}
	p.CPUModel, p.Kernel, p.Cgroup = machine(root)
	return p
}

// collector reads the garbage collector's settings in force, which
// debug.SetGCPercent can tell only by changing them.
func (p *Provenance) collector() {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() == metrics.KindUint64 {
		// The runtime shows GOGC=off as the largest number.
		p.GOGC = "off"
		if v := s[0].Value.Uint64(); v < math.MaxInt32 {
			p.GOGC = strconv.FormatUint(v, 10)
		}
	}
	if s[1].Value.Kind() == metrics.KindUint64 {
		if v := s[1].Value.Uint64(); v < math.MaxInt64 {
			p.GOMEMLIMIT = int64(v)
		}
	}
}

// build takes over what the Go command stamped into the binary.
func (p *Provenance) build(info *debug.BuildInfo) {
	p.Module, p.Version = info.Main.Path, info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			p.Commit = s.Value
		case "vcs.modified":
			dirty := s.Value == "true"
			p.Dirty = &dirty
		}
	}
}

// text is the provenance in one line, "" if there is none.
func (p *Provenance) text() string {
	if p.Go == "" {
		return ""
	}
	s := p.Go + " " + p.GOOS + "/" + p.GOARCH + ", GOMAXPROCS " + strconv.Itoa(p.GOMAXPROCS) +
		" of " + strconv.Itoa(p.NumCPU) + " CPUs, GOGC " + p.GOGC
	if p.GOMEMLIMIT > 0 {
		s += ", GOMEMLIMIT " + formatValue(float64(p.GOMEMLIMIT), "By", "")
	}
	if p.Race {
		s += ", race detector"
	}
	if p.CPUModel != "" {
		s += ", " + p.CPUModel
	}
	if p.Kernel != "" {
		s += ", kernel " + p.Kernel
	}
	return s + p.Cgroup.text() + p.commit()
}

// text is the limits as the tail of a line, "" if there is no cgroup.
func (c *Cgroup) text() string {
	if c == nil {
		return ""
	}
	s := ", cgroup v" + strconv.Itoa(c.Version)
	if c.CPUs > 0 {
		s += ", " + strconv.FormatFloat(c.CPUs, 'g', 3, 64) + " CPUs"
	}
	if c.Memory > 0 {
		s += ", " + formatValue(float64(c.Memory), "By", "") + " memory"
	}
	return s
}

// commit is the abbreviated revision as the tail of a line.
func (p *Provenance) commit() string {
	if p.Commit == "" {
		return ""
	}
	s := ", commit " + p.Commit[:min(12, len(p.Commit))]
	if p.Dirty != nil && *p.Dirty {
		s += " with local changes"
	}
	return s
}
