// Package sqlsuite plays a program against a real driver, bare and wrapped by
// sqlitetrace, and wants to see no difference but the numbers that were measured.
//
// Each driver has a package of tests of its own beside this one, since two of
// them register the same name.
package sqlsuite
