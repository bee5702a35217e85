package probetest

import "os"

// descriptors are the process's open files, by number, with what they lead to.
// Nil if /proc is not there.
func descriptors() map[string]string {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	open := make(map[string]string, len(entries))
	for _, e := range entries {
		// One that is gone was the descriptor of the folder itself.
		if to, err := os.Readlink(dir + "/" + e.Name()); err == nil {
			open[e.Name()] = to
		}
	}
	return open
}
