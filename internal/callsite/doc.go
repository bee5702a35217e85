// Package callsite says which method, on which kind of goroutine, called: what
// a probe needs to know about an operation whose context carries no label.
//
// # What is found
//
// A [Finder] reads the calling goroutine's chain of calls and keeps one decision
// per chain, a method and a role. The method is the outermost exported method
// of the first package of the service on the chain, past the packages that
// stand between a service and a probe; see [Options] for those, and the
// functions methodOf and roleOf for the whole rule.
//
// # Accuracy and limits
//
// Names come from [runtime.Callers] and [runtime.CallersFrames] alone, once per
// chain, so that inlined functions are named as any other. On amd64 and arm64 a
// walk over the frame pointers tells chains apart: it yields one return address
// per physical frame, and their hash finds the decision again. The walk is
// never trusted blindly:
//
//   - at its first use in a process it must agree with runtime.Callers on a
//     known chain, or it is given up for good;
//   - the first time that a chain is seen, both must agree on it, or this chain
//     is told by runtime.Callers from then on. A frame that a fault in a
//     function without a frame hides from the walk is such a case;
//   - a walk counts only if it arrives at the goroutine's first frame. One that
//     meets anything odd, as it does below a callback from C, is thrown away.
//
// It reads no address outside the goroutine's own stack, so it cannot fault.
//
// Chains are told apart by 64 bits of hash: among 4,096 of them, two are the same
// once in 10^12 processes. A chain of more than 512 frames is told by its
// innermost 512, and its role is then [Unknown]. A decision is never
// forgotten; chains beyond the limit are [Other].
//
// # Concurrency
//
// All functions and methods may be called from any goroutine. A chain that is
// known takes no lock.
//
// # Cost
//
// A known chain allocates nothing. By frame pointers its cost grows with its
// frames, and is that of reading the clock a few times at most; runtime.Callers
// takes many times as long at any depth. BenchmarkFind has both at several depths,
// beside a pair of clock reads. A chain's first use costs much more than any other,
// since its names are looked up.
//
// # Platforms
//
// The walk is built for amd64 and arm64, unless the build tag tidestaff_nofp
// leaves it out; elsewhere runtime.Callers does everything. What a build changes
// about frames is tested by the step "call chains in other builds" of .ci/run.
package callsite
