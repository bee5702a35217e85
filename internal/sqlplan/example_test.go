package sqlplan_test

import (
	"fmt"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
)

func ExampleNormalize() {
	fmt.Println(sqlplan.Normalize(`SELECT name -- of the user
		FROM users WHERE id IN (3, 5, 8) AND email = 'ann@example.com'`, 200))
	// Output: SELECT name FROM users WHERE id IN (…) AND email = ?
}

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
