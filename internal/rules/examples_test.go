package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// exemplary are the packages whose every exported type must be seen at work.
var exemplary = []string{"probe", "lag", "sqlitetrace", "fsstat", "cgroup"}

// checkExamples wants every exported type of the exemplary packages to be used
// in one of the package's Example functions, so that godoc shows it in place.
//
// A type is used if an Example names it, or names a function or method that
// takes or returns it, a field or constant that has it, or one of its methods.
// That is decided by names alone, without type checking: it can be fooled by
// two things of one name, and needs no compiled packages.
func checkExamples(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		if p.module.dir != "." || !slices.Contains(exemplary, p.dir) {
			continue
		}
		said := exampleWords(p)
		used := maps.Clone(said)
		types := map[string]token.Pos{}
		for _, f := range p.code() {
			for _, d := range f.ast.Decls {
				collectTypes(d, types)
				addUsed(d, said, used)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(types)) {
			if !used[name] {
				pos := t.fset.Position(types[name])
				bad = append(bad, fmt.Sprintf("%s:%d: no Example uses type %s.%s", pos.Filename, pos.Line, p.dir, name))
			}
		}
	}
	return bad
}

// exampleWords returns every identifier in the bodies and names of p's Example
// functions.
func exampleWords(p *pkg) map[string]bool {
	said := map[string]bool{}
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.isTest() || fn.Recv != nil {
				continue
			}
			if about, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok {
				for word := range strings.SplitSeq(about, "_") {
					said[word] = true
				}
				addWords(fn.Body, said)
			}
		}
	}
	return said
}

// collectTypes records the exported types that d declares.
func collectTypes(d ast.Decl, types map[string]token.Pos) {
	if d, ok := d.(*ast.GenDecl); ok {
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
				types[s.Name.Name] = s.Pos()
			}
		}
	}
}

// addUsed adds to used the types in d that come with what an Example says.
func addUsed(d ast.Decl, said, used map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if said[d.Name.Name] {
			addWords(d.Type, used)
			if d.Recv != nil {
				addWords(d.Recv, used)
			}
		}
	case *ast.GenDecl:
		var typ ast.Expr // of a constant group: what the lines below its first repeat
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				addMembers(s, said, used)
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 {
					typ = s.Type
				}
				if typ != nil && anySaid(s.Names, said) {
					addWords(typ, used)
				}
			}
		}
	}
}

// addMembers adds the types of the fields and interface methods that an
// Example names, and an interface if it names one of its methods.
func addMembers(s *ast.TypeSpec, said, used map[string]bool) {
	var members *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		members = typ.Fields
	case *ast.InterfaceType:
		members = typ.Methods
	default:
		return
	}
	_, isInterface := s.Type.(*ast.InterfaceType)
	for _, m := range members.List {
		if anySaid(m.Names, said) {
			addWords(m.Type, used)
			used[s.Name.Name] = used[s.Name.Name] || isInterface
		}
	}
}

func anySaid(names []*ast.Ident, said map[string]bool) bool {
	return slices.ContainsFunc(names, func(n *ast.Ident) bool { return said[n.Name] })
}

// addWords adds every exported identifier below n.
func addWords(n ast.Node, said map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.IsExported() {
			said[id.Name] = true
		}
		return true
	})
}
