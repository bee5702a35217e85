package sqlplan_test

import (
	"fmt"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
)

func ExampleParse() {
	for _, text := range []string{
		"WITH old AS (SELECT id FROM jobs) DELETE FROM jobs WHERE id IN old;",
		"SELECT ';'; DROP TABLE jobs",
	} {
		st := sqlplan.Parse(text)
		fmt.Println(st.Verb, st.Single, st.Inspectable())
	}
	// Output:
	// DELETE true true
	// SELECT false false
}
