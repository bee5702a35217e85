package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minimal is the shortest valid report, with extra fields.
func minimal(extra string) string {
	return `{"schema":"tidestaff/report","version":"1.0","started":"2026-11-30T12:00:00Z","duration_ns":1,"metrics":[]` + extra + `}`
}

// TestReadErrors has what is about the reader alone; that it and the schema
// agree on damaged reports is tested beside the schema.
func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "unexpected end of JSON input"},
		{"not JSON", "hello", "byte 1: invalid character 'h'"},
		{"cut off", minimal("")[:60], "byte 60: unexpected end"},
		{"two", minimal("") + minimal(""), "after top-level value"},
		{"array", "[]", "not a struct"},
		{"no schema", "{}", `schema: "" is not "tidestaff/report"`},
		{"no version", `{"schema":"tidestaff/report"}`, `version: "" is not two numbers`},
		{"odd version", `{"schema":"tidestaff/report","version":"1.x"}`, `version: "1.x" is not two numbers`},
		{"newer", `{"schema":"tidestaff/report","version":"2.0","metrics":7}`, `version: "2.0" is newer than this reader's 1.1`},
		{"older", `{"schema":"tidestaff/report","version":"0.9"}`, `version: "0.9" is older than this reader's 1.1`},
		{"field of the wrong type", minimal(`,"name":7`), `version 1.0: name: not a string: number`},
		{"nested field", minimal(`,"host":{"load1":{"min":"x"}}`), `host.load1.min: not a float64: string`},
		{"condition's value", minimal(`,"conditions":[{"name":"a","value":[]}]`), `conditions[0].value: [] is not a string`},
		{"condition out of range", minimal(`,"conditions":[{"name":"a","value":1e999}]`), `conditions[0].value: 1e999 is out of range`},
		{"histogram of a foreign layout", minimal(`,"metrics":[{"name":"a","unit":"By","kind":"distribution","dist":{"count":1,"sum":5,"max":5,` +
			`"hdr":"HISTFAAAABl42pJpmSzMwMDAxAABzFCaEUoz2X+AsAADAAD//yLqAgk="}}]`), "metrics[0].dist.hdr: "},
		{"two parts of a name", minimal(`,"parts":[` + part("x") + `,` + part("x") + `]`), `parts[1].name: "x" is empty or taken`},
		{"damage in a part", minimal(`,"parts":[` + strings.Replace(part("x"), `[]`, `[{}]`, 1) + `]`), `parts[0].metrics[0].name: missing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "report: ") {
				t.Errorf("got %v, want report: … %s", err, tt.want)
			}
		})
	}
}

func part(name string) string {
	return `{"name":"` + name + `","started":"2026-11-30T12:00:00Z","duration_ns":1,"metrics":[]}`
}

func TestReadMinimal(t *testing.T) {
	r, err := Read(strings.NewReader(minimal(`,"later":{"x":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Duration != 1 || r.Host.Load1 != nil || r.Curve != nil {
		t.Errorf("got %+v, want what was in it and nothing else", r)
	}
}

func TestReadFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), "report: "+path+": ") {
		t.Errorf("got %v, want report: %s: …", err, path)
	}
}

// FuzzRead: whatever is read can be shown, written and read again, and is then
// the same.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Join("team", sample(f)).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(minimal(`,"metrics":[{"name":"a","unit":"ns","kind":"gauge","value":1e300}]`)))
	f.Add([]byte(minimal(`,"curve":{"at_ns":[1],"for_ns":[1],"series":[{"unit":"ns","values":[null]}]}`)))
	f.Add([]byte(minimal(`,"metrics":[],"operations":2,"targets":[{"name":"a","op":"<=","bound":1,"unit":"ns","values":[null,2],"outcome":"fail"}]`)))
	f.Add([]byte(minimal(`,"runs":[` + minimal(`,"excluded":"no","metrics":[{"name":"a.cpu","unit":"ns","kind":"counter","value":1,"bench":[{"unit":"a","stat":"value"}]}]`) + `,` +
		minimal(`,"metrics":[{"name":"a.cpu","unit":"ns","kind":"peak","value":1,"bench":[{"unit":"a","stat":"value"}]}]`) + `]`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		var text, first, second bytes.Buffer
		for _, write := range []func() error{
			func() error { return r.WriteTerminal(&text) },
			func() error { return r.WriteMarkdown(&text) },
			func() error {
				return (&Table{Columns: []Column{{Report: r}, {Report: r}}, Ratio: true}).WriteTerminal(&text)
			},
			func() error { return r.WriteHTML(&text) },
			func() error { return r.WriteBenchmarks(&text) },
			func() error {
				c := Compare(r, Repeat("twice", r, r), CompareOptions{All: true})
				return errors.Join(c.WriteTerminal(&text), c.WriteHTML(&text))
			},
			func() error { return r.Write(&first) },
		} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(append(text.Bytes(), first.Bytes()...), []byte("NaN")) && !bytes.Contains(in, []byte("NaN")) {
			t.Errorf("NaN in %s", first.Bytes())
		}
		again, err := Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("reading back: %v\n%s", err, first.Bytes())
		}
		if err := again.Write(&second); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("written again:\n got %s\nwant %s", second.Bytes(), first.Bytes())
		}
	})
}
