package proc

import "time"

// Waits is how long the threads of this process have waited for a CPU that they
// were ready to use.
type Waits struct {
	// Waited is the sum over threads, of the time since OpenThreads; it never
	// goes down, though threads end and take their counters with them.
	Waited time.Duration
	Exist  int // threads that the process has
	Read   int // of these, threads whose counter was read
}
