// Package memory puts package cgroup beside the other ways to ask a Linux
// kernel for the memory and the CPU time of a process and of its control group,
// at their newest versions: containerd/cgroups, opencontainers/cgroups,
// gopsutil and prometheus/procfs.
//
// # What is compared
//
// One benchmark per answer: the resident set; its split with its high-water
// mark; the process's IO; the group's memory with its peak; the split of that;
// the group's CPU time; what a sampler needs between two readings; and
// everything that one reading of the probe has. Who does not have an answer is
// not in its benchmark, and each rival is asked for as little more than the
// answer as it lets itself be.
//
//   - kernel reads the files through kept descriptors and looks at nothing: what
//     nobody can be below.
//   - tidestaff is a reading of an open window of a Probe, as a user has it. It
//     always reads everything, so that its time is the same for each answer. Of
//     samples it is the probe's sampler, by its own account.
//   - tidestaff-part is the part of it that the answer takes: kept files and
//     their parser.
//
// # What the tests say
//
// All of them are held to the same answers at the same instant (TestAgree), and
// the cases in which a rival is wrong each have a test that shows it: once it is
// mended, that test fails, and this list is to be shortened.
//
//   - A process whose cgroup namespace is not that of the mount: the root group's
//     numbers, which are the whole machine's, from containerd/cgroups,
//     opencontainers/cgroups and gopsutil. On version 2, where the root has no
//     usage, 0 from the first and the last, and an emulation from the second
//     (TestForeignNamespace).
//   - A process in a group below the one that is mounted: the mounted group's
//     numbers from gopsutil; on version 2, 0 from the other two
//     (TestNestedBelowMount).
//   - A process whose group no mount shows: no error and no numbers from
//     containerd/cgroups, no error and 0 from opencontainers/cgroups
//     (TestHiddenMount).
//   - What the kernel does not have: 0 from containerd/cgroups,
//     opencontainers/cgroups, gopsutil and procfs (TestAbsentIsZero).
//   - The fields HWM and Swap of gopsutil's MemoryInfo are always 0 on Linux
//     (TestGopsutilHasNoMark).
//
// On version 1 everything runs in groups of this process's own, below those that
// it was started in, which takes root; on version 2 in the group that it is in.
//
// `go run ./internal/peers/cmd/bench -set memory` measures and prints them, and
// package cgroup's own benchmarks with them.
package memory
