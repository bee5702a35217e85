package memory

import "slices"

// A field is one number of an answer: bytes, calls, or nanoseconds of CPU time.
type field int

// All numbers that are asked for.
const (
	rss field = iota // the process's, from here
	anon
	file
	shmem
	hwm
	swap
	readChars
	writeChars
	readCalls
	writeCalls
	readBytes
	writeBytes
	usage // the group's, from here
	peak
	groupAnon
	groupCache // page cache with shmem in it, as the kernel counts
	groupShmem
	cpuUser
	cpuSystem
	began // how much CPU time passed while a window began, which is in doubt
	fields
)

var fieldNames = [fields]string{
	"rss", "anon", "file", "shmem", "hwm", "swap",
	"rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes",
	"usage", "peak", "group anon", "group cache", "group shmem", "cpu user", "cpu system", "began",
}

func (f field) String() string { return fieldNames[f] }

// amounts are the numbers of an answer; which of them were asked for is the
// asker's to say.
type amounts [fields]uint64

// An ask gives one answer.
type ask func(*amounts) error

// An asker is one way to an answer.
type asker struct {
	by    string
	gives []field
	open  func() (ask, func(), error) // the function ends it
}

// An answer is what is benchmarked, with those who have it: the kernel's own
// cost first, then ours.
type answer struct {
	name   string
	askers []asker
}

// The fields of the answers, which most askers give in full.
var (
	statusFields = []field{rss, anon, file, shmem, hwm, swap}
	ioFields     = []field{readChars, writeChars, readCalls, writeCalls, readBytes, writeBytes}
	usageFields  = []field{usage, peak}
	splitFields  = []field{groupAnon, groupCache, groupShmem}
	cpuFields    = []field{cpuUser, cpuSystem}
)

// The answers. Each is made anew, so that nothing is kept between benchmarks.
func answerRSS() answer {
	return answer{"RSS", []asker{
		kernel(statm), window(rss), part(partStatm, rss),
		{"gopsutil", []field{rss}, gopsutilRSS},
		{"procfs", []field{rss}, procfsRSS},
	}}
}

func answerStatus() answer {
	return answer{"RSSSplit", []asker{
		kernel(status), window(rss, anon, file, shmem, swap), part(partStatus, statusFields...),
		{"procfs", statusFields, procfsStatus},
	}}
}

func answerIO() answer {
	return answer{"ProcessIO", []asker{
		kernel(ioFile), window(readBytes, writeBytes), part(partIO, ioFields...),
		{"gopsutil", ioFields, gopsutilIO},
		{"procfs", ioFields, procfsIO},
	}}
}

func answerUsage() answer {
	return answer{"GroupUsage", []asker{
		kernel(usageFile, peakFile), window(usage), part(partUsage, usageFields...),
		{"containerd", usageFields, containerd("memory")},
		{"opencontainers", usageFields, opencontainers("memory")},
		{"gopsutil", usageFields, gopsutilMemory},
	}}
}

func answerSplit() answer {
	return answer{"GroupSplit", []asker{
		kernel(memoryStat), window(splitFields...), part(partSplit(), splitFields...),
		{"containerd", []field{groupAnon, groupCache}, containerd("memory")},
		{"opencontainers", splitFields, opencontainers("memory")},
		{"gopsutil", []field{groupAnon, groupCache}, gopsutilMemory},
	}}
}

func answerCPU() answer {
	return answer{"GroupCPU", []asker{
		kernel(cpuStat), window(cpuFields...), part(partCPU(), cpuFields...),
		{"containerd", cpuFields, containerd("cpuacct")},
		{"opencontainers", cpuFields, opencontainers("cpuacct")},
		{"gopsutil", cpuFields, gopsutilCPU},
	}}
}

// answerSample is what a sampler needs between two readings: the levels whose
// peaks the kernel does not keep.
func answerSample() answer {
	return answer{"Sample", []asker{
		kernel(statm, usageFile), part(partSample, rss, usage),
		{"containerd+procfs", []field{rss, usage}, both(procfsRSS, containerd("memory"))},
		{"opencontainers+procfs", []field{rss, usage}, both(procfsRSS, opencontainers("memory"))},
		{"gopsutil", []field{rss, usage}, both(gopsutilRSS, gopsutilMemory)},
	}}
}

// everything are the controllers of version 1 that the probe reads.
var everything = []string{"memory", "cpuacct", "cpu", "pids", "blkio"}

// answerAll is everything that one reading has, as far as they have it. The
// kernel's line has the files of the other answers only; a reading has more.
func answerAll() answer {
	process := both(procfsStatus, procfsIO)
	return answer{"Everything", []asker{
		kernel(status, ioFile, usageFile, peakFile, memoryStat, cpuStat),
		window(rss, anon, file, shmem, swap, readBytes, writeBytes,
			usage, groupAnon, groupCache, groupShmem, cpuUser, cpuSystem),
		{"containerd+procfs", slices.Concat(statusFields, usageFields, cpuFields), both(process, containerd(everything...))},
		{"opencontainers+procfs", slices.Concat(statusFields, usageFields, cpuFields), both(process, opencontainers(everything...))},
		{"gopsutil", []field{rss, usage, peak}, both(gopsutilRSS, gopsutilIO, gopsutilMemory, gopsutilCPU)},
	}}
}

// answers are all of them.
func answers() []answer {
	return []answer{
		answerRSS(), answerStatus(), answerIO(), answerUsage(), answerSplit(), answerCPU(), answerSample(), answerAll(),
	}
}

// both asks several for one answer.
func both(opens ...func() (ask, func(), error)) func() (ask, func(), error) {
	return func() (ask, func(), error) {
		var asks []ask
		var ends []func()
		end := func() {
			for _, f := range ends {
				f()
			}
		}
		for _, open := range opens {
			a, f, err := open()
			if err != nil {
				end()
				return nil, nil, err
			}
			asks, ends = append(asks, a), append(ends, f)
		}
		return func(to *amounts) error {
			for _, a := range asks {
				if err := a(to); err != nil {
					return err
				}
			}
			return nil
		}, end, nil
	}
}
