package memory

import (
	"math"
	"os"

	"github.com/shirou/gopsutil/v4/docker"
	"github.com/shirou/gopsutil/v4/process"
)

// self is this process, kept by whoever asks again and again.
func self() (*process.Process, error) { return process.NewProcess(int32(os.Getpid())) }

func gopsutilRSS() (ask, func(), error) {
	p, err := self()
	return func(to *amounts) error {
		m, err := p.MemoryInfo()
		if err != nil {
			return err
		}
		to[rss] = m.RSS
		return nil
	}, func() {}, err
}

func gopsutilIO() (ask, func(), error) {
	p, err := self()
	return func(to *amounts) error {
		c, err := p.IOCounters()
		if err != nil {
			return err
		}
		to[readChars], to[writeChars] = c.ReadBytes, c.WriteBytes
		to[readCalls], to[writeCalls] = c.ReadCount, c.WriteCount
		to[readBytes], to[writeBytes] = c.DiskReadBytes, c.DiskWriteBytes
		return nil
	}, func() {}, err
}

func gopsutilMemory() (ask, func(), error) {
	return func(to *amounts) error {
		m, err := docker.CgroupMemOwn()
		if err != nil {
			return err
		}
		to[usage], to[peak] = m.MemUsageInBytes, m.MemMaxUsageInBytes
		to[groupAnon], to[groupCache] = m.TotalRSS, m.TotalCache
		return nil
	}, func() {}, nil
}

func gopsutilCPU() (ask, func(), error) {
	return func(to *amounts) error {
		c, err := docker.CgroupCPUOwn()
		if err != nil {
			return err
		}
		to[cpuUser], to[cpuSystem] = nanoseconds(c.User), nanoseconds(c.System)
		return nil
	}, func() {}, nil
}

// nanoseconds of a number of seconds, which the kernel counted in microseconds
// or more.
func nanoseconds(s float64) uint64 { return uint64(math.Round(s*1e6)) * 1000 }
