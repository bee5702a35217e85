package callsite

import (
	"strings"
	"testing"
)

// runtimeNames are names as the runtime has them, beside what they say.
var runtimeNames = []struct{ full, pkg, str string }{
	{"example.com/app/store.(*Store).Get", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.Store.Get", "example.com/app/store", "Store.Get"},
	{"example.com/app/store.Get", "example.com/app/store", "Get"},
	{"example.com/app/store.(*Store).Get.func1", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.(*Store).Get.func1.2", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.(*Store).Get-fm", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.(*Store).Get-range1", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.(*Store).Get.func1-range2", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.(*Store).Get.func1-range2.3", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.Get-range1", "example.com/app/store", "Get"},
	{"example.com/app/store.(*Store[...]).Get.func1.2", "example.com/app/store", "(*Store).Get"},
	{"example.com/app/store.Store[...].Get", "example.com/app/store", "Store.Get"},
	{"example.com/app.v2/store.Store.Get.gowrap1", "example.com/app.v2/store", "Store.Get"},
	{"example.com/app/store.(*Store).func1", "example.com/app/store", "(*Store).func1"}, // a method that is called func1
	{"example.com/app/store.(*Store).Größe", "example.com/app/store", "(*Store).Größe"},
	{"gopkg.in/yaml%2ev3.(*Decoder).Decode", "gopkg.in/yaml.v3", "(*Decoder).Decode"},
	{"example%2ecom.F", "example.com", "F"},
	{"example.com/100%.F", "example.com/100%", "F"},
	{"main.run.func1", "main", "run"},
	{"main.main.deferwrap2", "main", "main"},
	{"main.Map[...]", "main", "Map"},
	{"main.Map[...].func1", "main", "Map"},
	{"main.func1", "main", "func1"},
	{"main.init.0", "main", "init"},
	{"main.init.0.func1", "main", "init"},
	{"main.init.func2", "main", "init"},
	{"main.glob..func1", "main", "glob"},
	// Literals of inlined functions.
	{"main.main.(*Store).Get.func1", "main", "(*Store).Get"},
	{"main.(*server).ServeHTTP.(*Store).Get.func1", "main", "(*Store).Get"},
	{"main.main.func1.(*Store).Get.func2", "main", "(*Store).Get"},
	{"main.main.func1.helper.func2", "main", "helper"},
	{"main.main.helper.func1", "main", "main.helper"},
	{"net/http.(*conn).serve", "net/http", "(*conn).serve"},
	{"weird", "", "weird"},
	{"", "", ""},
}

func TestParse(t *testing.T) {
	for _, c := range runtimeNames {
		f := parse(c.full)
		if f.pkg != c.pkg || f.String() != c.str {
			t.Errorf("parse(%q): got %q %q, want %q %q", c.full, f.pkg, f.String(), c.pkg, c.str)
		}
	}
}

// FuzzParse: whatever a future compiler calls a function, it has a name, and
// that is a part of what the runtime says.
func FuzzParse(f *testing.F) {
	for _, c := range runtimeNames {
		f.Add(c.full)
	}
	f.Fuzz(func(t *testing.T, full string) {
		got := parse(full)
		plain := strings.ReplaceAll(full, "[...]", "")
		if !strings.Contains(plain, got.name) || !strings.Contains(plain, got.receiver) {
			t.Errorf("parse(%q) = %+v: not in the text", full, got)
		}
		if len(got.pkg) > len(plain) {
			t.Errorf("parse(%q): the path %q is longer", full, got.pkg)
		}
		// What is a name already stays one, under any package.
		plainName := func(s string) bool { return s != "" && !strings.ContainsAny(s, "./-%[") && !isClosure(s) }
		if plainName(got.name) && (got.receiver == "" || plainName(got.receiver)) {
			if again := parse("p." + got.String()); again.String() != got.String() {
				t.Errorf("parse(%q) = %q, parsed again %q", full, got, again)
			}
		}
	})
}

func TestExported(t *testing.T) {
	for name, want := range map[string]bool{"Get": true, "get": false, "Öffnen": true, "öffnen": false, "_Get": false, "": false} {
		if got := (function{name: name}).exported(); got != want {
			t.Errorf("exported(%q): got %v, want %v", name, got, want)
		}
	}
}
