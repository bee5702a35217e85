package fsstat

import (
	"io/fs"
	"os"
	"reflect"
)

// The types of the file systems of package os, which have no name to the outside.
var (
	typeDirFS  = reflect.TypeOf(os.DirFS("."))
	typeRootFS = reflect.TypeOf((*os.Root)(nil).FS())
	typeRoot   = reflect.TypeFor[*os.Root]()
)

// osFS is fsys with its operations counted if it is os.DirFS or that of an
// os.Root, whose files are known by more than the names in it; else nil.
func (v View) osFS(fsys fs.FS) fs.FS {
	switch of := reflect.ValueOf(fsys); {
	case fsys == nil:
	case of.Type() == typeDirFS && of.Kind() == reflect.String:
		return v.DirFS(of.String())
	case of.Type() == typeRootFS && typeRootFS.ConvertibleTo(typeRoot) && !of.IsNil():
		return v.Root(of.Convert(typeRoot).Interface().(*os.Root)).FS()
	}
	return nil
}
