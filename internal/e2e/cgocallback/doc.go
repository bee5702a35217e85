// Package cgocallback attributes work that C code calls back for, with call
// chains that lead through C, on threads of C, and with frame pointers that C
// left behind.
package cgocallback
