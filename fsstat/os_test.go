package fsstat

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The functions of package os that the probe has, by name.
var renamed = map[string]any{
	"ReadFile": os.ReadFile, "WriteFile": os.WriteFile, "Open": os.Open, "OpenFile": os.OpenFile, "Create": os.Create,
	"CreateTemp": os.CreateTemp, "ReadDir": os.ReadDir, "Stat": os.Stat, "Lstat": os.Lstat, "Readlink": os.Readlink,
	"Truncate": os.Truncate, "CopyFS": os.CopyFS, "NewFile": os.NewFile, "Pipe": os.Pipe,
	"DirFS": os.DirFS, "OpenRoot": os.OpenRoot, "OpenInRoot": os.OpenInRoot,
}

// Each rename of the package's page ends at a method of the function's own
// signature, but for the files and roots that it returns, on a Probe and on a View.
func TestRenames(t *testing.T) {
	page := must[[]byte](t)(os.ReadFile("doc.go"))
	lines := regexp.MustCompile(`'os\.(\w+) -> files\.(\w+)'`).FindAllSubmatch(page, -1)
	if len(lines) != len(renamed) {
		t.Errorf("got %d renames on the page, want %d", len(lines), len(renamed))
	}
	for _, line := range lines {
		name := string(line[1])
		if name != string(line[2]) || renamed[name] == nil {
			t.Errorf("got the rename %s, want one to the same name, of the list here", line[0])
			continue
		}
		want := reflect.TypeOf(renamed[name])
		for _, v := range []any{New(Options{}), View{}} {
			method := reflect.ValueOf(v).MethodByName(name)
			if !method.IsValid() {
				t.Errorf("%T has no %s", v, name)
				continue
			}
			if got := method.Type(); !sameSignature(got, want) {
				t.Errorf("%T.%s: got %v, want %v", v, name, got, want)
			}
		}
	}
}

// sameSignature says whether got is want, with our files and roots for those of
// package os.
func sameSignature(got, want reflect.Type) bool {
	ours := map[reflect.Type]reflect.Type{reflect.TypeFor[*os.File](): reflect.TypeFor[*File](), reflect.TypeFor[*os.Root](): reflect.TypeFor[*Root]()}
	same := got.NumIn() == want.NumIn() && got.NumOut() == want.NumOut()
	for i := 0; same && i < want.NumIn(); i++ {
		same = got.In(i) == want.In(i)
	}
	for i := 0; same && i < want.NumOut(); i++ {
		out := want.Out(i)
		if ours[out] != nil {
			out = ours[out]
		}
		same = got.Out(i) == out
	}
	return same
}

// What package os has beside these opens, reads, writes, lists and looks at no
// file. A new function of package os fails here until it is in one of the lists.
var notFiles = strings.Fields(`
	Chdir Chmod Chown Chtimes Clearenv Environ Executable Exit Expand ExpandEnv FindProcess Getegid Getenv Geteuid Getgid
	Getgroups Getpagesize Getpid Getppid Getuid Getwd Hostname IsExist IsNotExist IsPathSeparator IsPermission IsTimeout Lchown
	Link LookupEnv Mkdir MkdirAll MkdirTemp NewSyscallError Remove RemoveAll Rename SameFile Setenv StartProcess Symlink TempDir
	Unsetenv UserCacheDir UserConfigDir UserHomeDir`)

func TestNothingMissing(t *testing.T) {
	pkg, err := build.Import("os", "", 0)
	if err != nil {
		t.Skipf("the source of package os is not here: %v", err)
	}
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			if name := f.Name.Name; renamed[name] == nil && !slices.Contains(notFiles, name) {
				t.Errorf("os.%s is in neither list", name)
			}
		}
	}
}

// Roots count by the same methods as *os.Root has, or pass on.
func TestRootMethods(t *testing.T) {
	bare, ours := reflect.TypeFor[*os.Root](), reflect.TypeFor[*Root]()
	for want := range bare.Methods() {
		got, ok := ours.MethodByName(want.Name)
		if !ok || got.Type.NumIn() != want.Type.NumIn() || got.Type.NumOut() != want.Type.NumOut() {
			t.Errorf("%s: got %v, want %v", want.Name, got.Type, want.Type)
		}
	}
}
