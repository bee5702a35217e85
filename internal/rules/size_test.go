package rules

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// The limits that fail. The targets in CONTRIBUTING.md are lower: what lies
// between them and these is for a reviewer to judge.
const (
	maxLines   = 500 // of a file
	maxExports = 40  // top-level identifiers of a package
	goalP90    = 35  // lines of a function; reported, never failed
)

// checkFileSize wants files that can be read at one sitting, tests included.
func checkFileSize(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		for _, f := range p.files {
			if f.lines > maxLines && !ast.IsGenerated(f.ast) {
				bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d: is it still one concept?", f.path, f.lines, maxLines))
			}
		}
	}
	return bad
}

// checkExportCount wants a public package that a person can keep in mind. A
// name that several systems' files declare counts once; methods do not count.
func checkExportCount(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		if !p.isPublic() {
			continue
		}
		if names := exports(p); len(names) > maxExports {
			bad = append(bad, fmt.Sprintf("%s: %d exported identifiers, at most %d: %s",
				p.dir, len(names), maxExports, strings.Join(names, " ")))
		}
	}
	return bad
}

// exports returns the exported top-level names of p, sorted.
func exports(p *pkg) []string {
	var names []string
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	for _, f := range p.code() {
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						add(s.Names...)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkInit wants no work at import time: a program that links a probe and
// does not use it must not notice.
func checkInit(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		if !p.inLibrary() {
			continue
		}
		for _, f := range p.code() {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					bad = append(bad, fmt.Sprintf("%s: func init in a library package", t.at(fn)))
				}
			}
		}
	}
	return bad
}

// sizes reports a package in one line, for a person who wonders where it grows.
func (t *tree) sizes(p *pkg) string {
	var code, tests, longest int
	var funcs []int
	for _, f := range p.files {
		longest = max(longest, f.lines)
		if f.isTest() {
			tests += f.lines
			continue
		}
		code += f.lines
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				funcs = append(funcs, t.fset.Position(fn.End()).Line-t.fset.Position(fn.Pos()).Line+1)
			}
		}
	}
	p90, mark := percentile90(funcs), ""
	if p90 > goalP90 {
		mark = fmt.Sprintf(" (goal %d)", goalP90)
	}
	return fmt.Sprintf("%-28s %5d lines of code, %5d of tests, longest file %3d, %3d functions, p90 %2d lines%s, %2d exports",
		p.dir, code, tests, longest, len(funcs), p90, mark, len(exports(p)))
}

// percentile90 is the nearest-rank 90th percentile, 0 of nothing. It sorts n.
func percentile90(n []int) int {
	if len(n) == 0 {
		return 0
	}
	slices.Sort(n)
	return n[(len(n)*9+9)/10-1]
}
