// Package container holds package cgroup against Docker: what a process sees of
// its container's limits, memory, CPU quota and out-of-memory kills is what the
// daemon's own statistics and the machine's files say.
//
// The tests start a daemon of their own, with its own folders, socket and
// cgroups, without a bridge and without firewall rules, and stop it. Its one
// image has one file: this package's tests, built without cgo. The process in
// the container rests between two calls of the test, which compares the numbers
// meanwhile. Limits, peaks and counts of kills are equal to the byte. Where two
// instants are read, the tolerance is stated with the comparison.
//
// # By hand
//
//	apt-get install --no-install-recommends docker.io
//	go test -v ./internal/e2e/container
//
// as root, on a machine with cgroup version 1 or a hybrid one: package kernel
// has version 2. Where something is missing, the test skips and says so.
package container
