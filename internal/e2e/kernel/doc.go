// Package kernel tests package cgroup on real kernels: what a folder of fixtures
// says a kernel does, these kernels do.
//
// # What runs where
//
// Version 2 runs in virtual machines, since few machines of a continuous
// integration have it, and none has two kernels. TestVersion2 boots Debian's
// cloud kernels of Linux 6.1 and 6.12, under software emulation, with an
// initramfs that has one program: this package's tests, built without cgo. As
// the first process it mounts what a system has, runs each check in a process
// and a group of its own, prints the results on the serial console and switches
// the machine off. A third machine has neither pressure nor the memory controller.
// Each has four minutes, and one more try if it does not come to its end; it needs
// 10 to 30 seconds on two cores that are free.
//
// Version 1 and its mixture with version 2 run on the machine itself.
// TestVersion1 makes groups of its own below those that it is in, runs each check
// in a process there, and removes them. It needs root, and a machine that has
// version 1, as a hybrid one does.
//
// Limits are what the check has set. Everything else is held against the kernel's
// own file, read before and after: where two instants are read, what lies between
// them is the tolerance. Peaks are compared with the memory that the check made
// resident, to a few MiB, because the Go runtime moves as well.
//
// # By hand
//
//	apt-get install --no-install-recommends qemu-system-x86
//	go run ./internal/e2e/kernel/fetch
//	go test -v ./internal/e2e/kernel
//
// The second command downloads the kernels through Debian's apt into the user's
// cache folder; it installs nothing. Where the emulator or the kernels are
// missing, the tests skip and say so.
package kernel
