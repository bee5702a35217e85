package rules

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// rootPath is the module path of the library.
const rootPath = "github.com/tidestaff/tidestaff"

// systems are the operating systems on which everything must build.
var systems = []string{"linux", "darwin", "windows", "freebsd"}

// A tree is the repository as the rules see it. It is made from an fs.FS, so
// that a test can hand in a repository of a few lines that breaks a rule.
type tree struct {
	fset     *token.FileSet
	modules  []*module
	packages []*pkg
	work     []directive // of go.work
}

// A module is a folder with a go.mod.
type module struct {
	dir  string // from the repository's root; "." for the library's own
	path string
	mod  []directive
}

// A pkg is a folder with Go files, those of its external tests included.
type pkg struct {
	module *module
	dir    string // from the repository's root
	files  []*source
}

// A source is one parsed Go file.
type source struct {
	path    string // from the repository's root
	ast     *ast.File
	lines   int
	systems []string // those of systems for which the file is built, without cgo
}

// load reads every module and package below the root of fsys.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	byDir := map[string]*pkg{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(p):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Name() == "go.mod":
			return t.addModule(fsys, p)
		case p == "go.work":
			data, err := fs.ReadFile(fsys, p)
			t.work = parseDirectives(data)
			return err
		case path.Ext(p) == ".go":
			return t.addFile(fsys, p, byDir)
		}
		return nil
	})
	for _, p := range t.packages {
		p.module = t.moduleOf(p.dir)
		if p.module == nil && err == nil {
			err = fmt.Errorf("%s: no go.mod in or above it", p.dir)
		}
	}
	return t, err
}

// ignored tells which folders the go command ignores as well.
func ignored(dir string) bool {
	base := path.Base(dir)
	return base == "testdata" || base == "vendor" || dir != "." && strings.ContainsAny(base[:1], "._")
}

func (t *tree) addModule(fsys fs.FS, p string) error {
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	m := &module{dir: path.Dir(p), mod: parseDirectives(data)}
	for _, d := range m.mod {
		if d.verb == "module" {
			m.path = d.args[0]
		}
	}
	t.modules = append(t.modules, m)
	return nil
}

func (t *tree) addFile(fsys fs.FS, p string, byDir map[string]*pkg) error {
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(t.fset, p, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	src := &source{path: p, ast: file, lines: bytes.Count(data, []byte("\n"))}
	for _, goos := range systems {
		ok, err := builtFor(p, data, goos)
		if err != nil {
			return err
		}
		if ok {
			src.systems = append(src.systems, goos)
		}
	}
	dir := path.Dir(p)
	if byDir[dir] == nil {
		byDir[dir] = &pkg{dir: dir}
		t.packages = append(t.packages, byDir[dir])
	}
	byDir[dir].files = append(byDir[dir].files, src)
	return nil
}

// builtFor tells whether the name and the build constraints of a file include
// goos. It asks go/build, which is what the go command itself uses.
func builtFor(p string, data []byte, goos string) (bool, error) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = goos, "amd64", false
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return ctx.MatchFile(path.Dir(p), path.Base(p))
}

// moduleOf returns the innermost module that holds dir, or nil.
func (t *tree) moduleOf(dir string) *module {
	var best *module
	for _, m := range t.modules {
		if within(dir, m.dir) && (best == nil || len(m.dir) > len(best.dir) || best.dir == ".") {
			best = m
		}
	}
	return best
}

// within tells whether dir is top or lies below it.
func within(dir, top string) bool {
	return top == "." || dir == top || strings.HasPrefix(dir, top+"/")
}

// name is the package's name, that of its external tests if it has no other.
func (p *pkg) name() string {
	for _, f := range p.files {
		if !f.isTest() {
			return f.ast.Name.Name
		}
	}
	return strings.TrimSuffix(p.files[0].ast.Name.Name, "_test")
}

// code are the files that are not tests.
func (p *pkg) code() []*source {
	return slices.DeleteFunc(slices.Clone(p.files), (*source).isTest)
}

// inLibrary tells whether p belongs to the root module and is no command:
// what a user's program links, or what those packages are made of.
func (p *pkg) inLibrary() bool {
	return p.module.dir == "." && p.name() != "main" && len(p.code()) > 0
}

// isPublic tells whether programs outside this repository can import p.
func (p *pkg) isPublic() bool {
	return p.inLibrary() && !slices.Contains(strings.Split(p.dir, "/"), "internal")
}

func (f *source) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// at gives the position of a node as file:line.
func (t *tree) at(n ast.Node) string {
	pos := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
}

// A directive is one line of a go.mod or go.work, out of its block.
type directive struct {
	verb     string
	args     []string
	indirect bool
}

// parseDirectives reads a go.mod or go.work. The files are ours and the go
// command has accepted them, so it knows only the syntax that they use: no
// quoted strings and no block comments.
func parseDirectives(data []byte) []directive {
	var out []directive
	block := ""
	for line := range strings.Lines(string(data)) {
		text, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		default:
			if block != "" {
				words = append([]string{block}, words...)
			}
			indirect := strings.TrimSpace(comment) == "indirect"
			out = append(out, directive{words[0], words[1:], indirect})
		}
	}
	return out
}
