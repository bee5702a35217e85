package fsstat

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of the metrics, beside the role's ([probe.AttrRole]).
const (
	// AttrOperation is "open", "read", "write", "stat" or "readdir".
	AttrOperation = "tidestaff.file.operation"
	// AttrDirection is "read" or "write"; OpenTelemetry's name for it.
	AttrDirection = "disk.io.direction"
	// AttrErrorType is the class of an error; OpenTelemetry's name for it.
	AttrErrorType = "error.type"
)

var (
	operations = &probe.Desc{Name: "tidestaff.file.operations", Unit: "{operation}", Kind: probe.KindCounter,
		Help:  "Opens, reads, writes, stats and directory reads of files that went through the probe.",
		Bench: []probe.Bench{{Unit: "fs-ops/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	fileIO = &probe.Desc{Name: "tidestaff.file.io", Unit: "By", Kind: probe.KindCounter,
		Help:  "Bytes read from and written to files, those that the kernel copied included.",
		Bench: []probe.Bench{{Unit: "fs-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	kernelIO = &probe.Desc{Name: "tidestaff.file.kernel_io", Unit: "By", Kind: probe.KindCounter,
		Help: "Those of the bytes that are known to have been copied by the kernel, from or to files, without the program seeing them."}
	fileErrors = &probe.Desc{Name: "tidestaff.file.errors", Unit: "{error}", Kind: probe.KindCounter,
		Help: "Failed file operations by class: not_exist, permission, exist, closed, deadline, other."}

	descs = []*probe.Desc{operations, fileIO, kernelIO, fileErrors}
)

// An operation and a direction are indices; their names are attributes.
type (
	operation int
	direction int
)

const (
	opOpen operation = iota
	opRead
	opWrite
	opStat
	opReadDir
)

const (
	in direction = iota
	out
)

var (
	operationNames = [...]string{"open", "read", "write", "stat", "readdir"}
	directionNames = [...]string{"read", "write"}
	classNames     = [...]string{"not_exist", "permission", "exist", "closed", "deadline", "other"}
	classErrors    = [...]error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, fs.ErrClosed, os.ErrDeadlineExceeded}
)

// series are the counters of one role.
type series struct {
	core *probe.Core
	role probe.Attr

	operations [len(operationNames)]*probe.Counter
	io, kernel [len(directionNames)]*probe.Counter
	errors     [len(classNames)]atomic.Pointer[probe.Counter] // made when one happens
}

func (p *Probe) newSeries(role string) *series {
	s := &series{core: &p.core, role: probe.Attr{Key: probe.AttrRole, Value: role}}
	for i, name := range operationNames {
		s.operations[i] = p.core.Counter(operations, s.role, probe.Attr{Key: AttrOperation, Value: name})
	}
	for i, name := range directionNames {
		way := probe.Attr{Key: AttrDirection, Value: name}
		s.io[i] = p.core.Counter(fileIO, s.role, way)
		if seesKernel {
			s.kernel[i] = p.core.Counter(kernelIO, s.role, way)
		}
	}
	return s
}

// fail counts an error by its class.
func (s *series) fail(err error) {
	class := 0
	for class < len(classErrors) && !errors.Is(err, classErrors[class]) {
		class++
	}
	c := s.errors[class].Load()
	if c == nil {
		c = s.core.Counter(fileErrors, s.role, probe.Attr{Key: AttrErrorType, Value: classNames[class]})
		s.errors[class].Store(c) // the same one for all who race here
	}
	c.Add(1)
}
