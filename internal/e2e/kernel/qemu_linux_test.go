package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// qemu is the emulator.
const qemu = "qemu-system-x86_64"

// bootTimeout is how long a virtual machine may take from switching it on to
// switching it off. On a free processor it takes 10 to 20 seconds, and on one that
// many want, a minute or two.
const bootTimeout = 4 * time.Minute

// qemuArgs are the options of the emulator. They look like more than is needed,
// and are not: each stands for a machine that did not come up.
//
//   - The processor is emulated. What passes for hardware virtualisation inside
//     a virtual machine often cannot run a kernel.
//   - Without cmpxchg16b (-cx16) the kernel uses another allocator's fast path:
//     the emulator's own, in the version of Debian 12, makes half of the boots
//     end in a double fault.
//   - With a thread for each of two processors, one boot in five died when the
//     kernel patched its own text; hence one processor and one thread.
//   - Of the machine types, microvm hung more often than not.
func qemuArgs(kernel, initramfs, disk, options string) []string {
	return []string{
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-M", "pc", "-accel", "tcg,thread=single", "-cpu", "max,-cx16", "-smp", "1", "-m", "384",
		"-kernel", kernel, "-initrd", initramfs,
		"-append", "console=ttyS0 panic=-1 quiet loglevel=3 " + options,
		"-drive", "file=" + disk + ",if=none,id=d,format=raw", "-device", "nvme,drive=d,serial=x",
	}
}

// errNotDone says that a machine went down or hung before its checks were over,
// which says nothing about them.
var errNotDone = errors.New("the virtual machine did not finish")

// bootTwice boots a machine, and again if it did not finish: an emulated
// processor is not a perfect one. What the first try printed is logged.
func bootTwice(boot func() (string, error), logf func(format string, args ...any)) (string, error) {
	console, err := boot()
	if errors.Is(err, errNotDone) {
		logf("%v; once more. It printed:\n%s", err, console)
		console, err = boot()
	}
	return console, err
}

// boot runs an emulator to its end, but not for longer than limit, and returns
// what its machine printed.
func boot(ctx context.Context, limit time.Duration, emulator string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, emulator, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	// The kernel stops the emulator when the thread that started it ends, so
	// that it does not outlive a test that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	console := strings.ReplaceAll(out.String(), "\r", "")
	switch {
	case ctx.Err() != nil:
		return console, fmt.Errorf("%w: stopped after %v", errNotDone, limit)
	case err != nil:
		return console, fmt.Errorf("%s: %w", emulator, err)
	case !strings.Contains(console, "\n"+sayDone+"\n"):
		return console, errNotDone
	}
	return console, nil
}
