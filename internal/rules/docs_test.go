package rules

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// checkPackageDocs wants one package comment in every package of every module,
// commands and packages of tests alone included. Two comments are as bad as
// none: godoc would join them, and a licence header would become one of them.
func checkPackageDocs(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		start, docs := "Package "+p.name(), 0
		if p.name() == "main" {
			start = "Command " + path.Base(p.dir)
		}
		for _, f := range p.files {
			if f.ast.Doc == nil {
				continue
			}
			docs++
			if text := f.ast.Doc.Text(); !hasWords(text, start) {
				bad = append(bad, fmt.Sprintf("%s: the package comment does not start with %q", f.path, start))
			}
		}
		if docs != 1 {
			bad = append(bad, fmt.Sprintf("%s: %d package comments, want one that starts with %q", p.dir, docs, start))
		}
	}
	return bad
}

// hasWords tells whether text starts with these words and not a longer one.
func hasWords(text, words string) bool {
	rest, ok := strings.CutPrefix(text, words)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \n,.:;'([s"))
}

// checkExportedDocs wants a doc comment on everything that the library exports:
// types, functions, methods of exported types and interfaces, constants and
// variables (a comment on their group will do), and the fields of options, whose
// zero value must be explained. Fields of other structs are exempt: where they
// need words, the type's own comment or a comment on a run of them has it.
func checkExportedDocs(t *tree) []string {
	var bad []string
	for _, p := range t.packages {
		if !p.inLibrary() {
			continue
		}
		for _, f := range p.code() {
			for _, d := range f.ast.Decls {
				for _, u := range undocumented(d) {
					bad = append(bad, fmt.Sprintf("%s: exported %s has no doc comment that starts with its name", t.at(u.node), u.name))
				}
			}
		}
	}
	return bad
}

// An item is an identifier and where it is declared.
type item struct {
	name string
	node ast.Node
}

// undocumented lists what a declaration exports without saying what it is.
func undocumented(d ast.Decl) []item {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name, exported := funcName(d)
		if exported && !named(d.Doc, d.Name.Name) {
			return []item{{name, d}}
		}
	case *ast.GenDecl:
		var out []item
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				out = append(out, undocumentedType(d, s)...)
			case *ast.ValueSpec:
				out = append(out, undocumentedValues(d, s)...)
			}
		}
		return out
	}
	return nil
}

func undocumentedType(d *ast.GenDecl, s *ast.TypeSpec) []item {
	if !s.Name.IsExported() {
		return nil
	}
	var out []item
	doc := s.Doc
	if doc == nil && !d.Lparen.IsValid() {
		doc = d.Doc
	}
	if !named(doc, s.Name.Name) {
		out = append(out, item{s.Name.Name, s})
	}
	var members *ast.FieldList
	switch body := s.Type.(type) {
	case *ast.InterfaceType:
		members = body.Methods
	case *ast.StructType:
		if strings.HasSuffix(s.Name.Name, "Options") {
			members = body.Fields
		}
	}
	if members == nil {
		return out
	}
	for _, m := range members.List {
		for _, n := range m.Names {
			if n.IsExported() && m.Doc == nil && m.Comment == nil {
				out = append(out, item{s.Name.Name + "." + n.Name, n})
			}
		}
	}
	return out
}

func undocumentedValues(d *ast.GenDecl, s *ast.ValueSpec) []item {
	if d.Doc != nil || s.Doc != nil || s.Comment != nil {
		return nil
	}
	var out []item
	for _, n := range s.Names {
		if n.IsExported() {
			out = append(out, item{n.Name, n})
		}
	}
	return out
}

// named tells whether a comment starts with the name it is about, with or
// without an article.
func named(doc *ast.CommentGroup, name string) bool {
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	return hasWords(text, name)
}

// funcName returns the name of a function, with its receiver's if it has one,
// and whether a user can see it.
func funcName(d *ast.FuncDecl) (name string, exported bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	recv := d.Recv.List[0].Type
	for {
		switch x := recv.(type) {
		case *ast.StarExpr:
			recv = x.X
		case *ast.IndexExpr:
			recv = x.X
		case *ast.IndexListExpr:
			recv = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name, x.IsExported() && d.Name.IsExported()
		default:
			return d.Name.Name, false
		}
	}
}
