//go:build cgo && !windows

package cgocallback

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>

extern void goCallback(uintptr_t);

static void *threadMain(void *handle) {
	goCallback((uintptr_t)handle);
	return 0;
}

static void callBack(uintptr_t handle) { goCallback(handle); }

static int callBackOnThread(uintptr_t handle) {
	pthread_t t;
	int err = pthread_create(&t, 0, threadMain, (void *)handle);
	return err ? err : pthread_join(t, 0);
}
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
)

//export goCallback
func goCallback(handle C.uintptr_t) { cgo.Handle(handle).Value().(func())() }

// call calls f through C.
func call(f func()) {
	h := cgo.NewHandle(f)
	defer h.Delete()
	C.callBack(C.uintptr_t(h))
}

// callOnThread calls f on a thread that C has started, and waits for it.
func callOnThread(f func()) error {
	h := cgo.NewHandle(f)
	defer h.Delete()
	if err := C.callBackOnThread(C.uintptr_t(h)); err != 0 {
		return syscall.Errno(err)
	}
	return nil
}
