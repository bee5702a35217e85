// Package spikes measures how much of a short spike of memory each way to watch
// a process's resident set sees: package cgroup exactly, by the kernel's
// high-water mark, and by samples every 10 ms, 100 ms and 1 s.
//
// # What is measured
//
// A plan of spikes, drawn from a seed: 5 to 80 MiB are mapped, written to, held
// for 0 to 300 ms and given back, each somewhere in a slot of its own, so that
// the samplers, which run on, have no phase with them. All ways watch all spikes
// at once, from one process, a window each, tiled by Next: a tile is one slot,
// and its peak less the resident set before the spike is what was seen of it.
//
// The exact ways are two: a probe that sets the mark back, and one that is told
// not to (cgroup.Options.NoReset), which is exact all the same as long as another
// probe of the process does it. One more window of the first is open over all
// slots.
//
// The sampled ways are shown the machine as a sandbox without a high-water mark
// has it: a folder with the live statm, and a status file without VmHWM. A probe
// that could read the mark would be exact.
//
// # Accuracy and limits
//
// The kernel counts resident pages per CPU, and its high-water mark leaves out
// what is not folded yet: the exact ways miss up to 32 pages a CPU (more from 17
// CPUs up) of each kind of page, which is what their errors consist of, beside
// movements of the rest of the process.
//
// A sample may be late on a busy machine; each peak says how many it rests on and
// what the longest gap was. The study checks that each says so, and that each
// calls itself exact or sampled as it should.
//
// `go run ./internal/peers/cmd/spikes` runs it.
package spikes
