// Package rules holds the rules of this repository as tests: who may import
// whom, what is documented, how large things may grow, and which versions the
// modules require.
//
// It has no code of its own. Each rule is a function from a tree (a read-only
// view of the repository's Go files and modules) to a list of complaints; the
// test TestRepository applies all of them to the working copy, and
// TestEachRuleCanFail to a small tree in memory that breaks one rule at a time.
//
// A rule that stands in the way of something right is changed here, in the open
// and with its reason, and not worked around: the allow-list of imports is in
// imports_test.go, the pinned versions are in modules_test.go.
package rules
