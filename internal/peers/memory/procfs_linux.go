package memory

import "github.com/prometheus/procfs"

func procfsRSS() (ask, func(), error) {
	p, err := procfs.Self()
	return func(to *amounts) error {
		s, err := p.Stat()
		if err != nil {
			return err
		}
		to[rss] = uint64(s.ResidentMemory())
		return nil
	}, func() {}, err
}

func procfsStatus() (ask, func(), error) {
	p, err := procfs.Self()
	return func(to *amounts) error {
		s, err := p.NewStatus()
		if err != nil {
			return err
		}
		to[rss], to[anon], to[file], to[shmem] = s.VmRSS, s.RssAnon, s.RssFile, s.RssShmem
		to[hwm], to[swap] = s.VmHWM, s.VmSwap
		return nil
	}, func() {}, err
}

func procfsIO() (ask, func(), error) {
	p, err := procfs.Self()
	return func(to *amounts) error {
		s, err := p.IO()
		if err != nil {
			return err
		}
		to[readChars], to[writeChars] = s.RChar, s.WChar
		to[readCalls], to[writeCalls] = s.SyscR, s.SyscW
		to[readBytes], to[writeBytes] = s.ReadBytes, s.WriteBytes
		return nil
	}, func() {}, err
}
