package rules

import (
	"fmt"
	"go/ast"
	"go/token"
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

// checkExportCount wants a public package that a person can keep in mind. What
// is learnt together counts once: a name that several systems' files declare, a
// type with its methods, an enumeration with its constants.
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

// exports returns the exported top-level names of p, sorted, without the
// constants of an exported type of p.
func exports(p *pkg) []string {
	var names []string
	for _, f := range p.code() {
		for _, d := range f.ast.Decls {
			for _, id := range declared(d) {
				if id.IsExported() {
					names = append(names, id.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// declared returns the top-level names of d, but for those of an enumeration.
func declared(d ast.Decl) []*ast.Ident {
	var ids []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		var typ ast.Expr // what the lines below the first of a group repeat
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				ids = append(ids, s.Name)
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 {
					typ = s.Type
				}
				if id, ok := typ.(*ast.Ident); !ok || !id.IsExported() || d.Tok != token.CONST {
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return ids
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
