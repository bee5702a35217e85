// Package fshttp serves files over HTTP through a probe of package fsstat. It is
// a package of its own so that a program without a server does not link one.
//
// # What is measured
//
// What package fsstat measures: opens, reads and bytes, those that the kernel
// sends from file to connection included.
//
// # Accuracy and limits
//
// http.FileServer over [Dir] sends by sendfile as it does over http.Dir.
// http.FileServerFS does so over no file system; the probe's FS changes nothing
// about that. The first 512 bytes of a file whose type its name does not tell are
// read twice, as by package net/http itself.
//
// # Concurrency
//
// A file system may be used from any goroutine.
//
// # Cost
//
// That of package fsstat.
//
// # Platforms
//
// All.
package fshttp
