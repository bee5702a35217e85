package schema

import (
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemaKnowsEveryField validates against a schema that allows no unknown
// fields: whoever adds one to the file must add it here too. The published
// schema allows them, since that is what a minor version is.
func TestSchemaKnowsEveryField(t *testing.T) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	closed := closeObjects(doc, "root")
	c := jsonschema.NewCompiler()
	if err := c.AddResource("closed.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("closed.json")
	if err != nil {
		t.Fatal(err)
	}
	if closed < 10 {
		t.Fatalf("closed %d objects, want at least 10: has the schema changed its form?", closed)
	}
	v := decode(t, measured(t))
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
	v["parts"].([]any)[0].(object)["metrics"].([]any)[0].(object)["later"] = 1
	if s.Validate(v) == nil {
		t.Error("an unknown field in a metric went unnoticed")
	}
}

// closeObjects forbids unknown fields wherever properties are listed, and
// counts the places. What is said of a report is said in two places each, its
// definition and where that is used, so there the using one is closed.
func closeObjects(v any, key string) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += closeObjects(e, "")
		}
	case object:
		delete(v, "$id")
		for k, e := range v {
			if k != "if" && k != "then" {
				n += closeObjects(e, k)
			}
		}
		if _, ok := v["properties"].(object); ok && key != "report" && key != "properties" {
			v["unevaluatedProperties"] = false
			n++
		}
	}
	return n
}
