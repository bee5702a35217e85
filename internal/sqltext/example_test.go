package sqltext_test

import (
	"fmt"

	"github.com/tidestaff/tidestaff/internal/sqltext"
)

func ExampleNormalize() {
	fmt.Println(sqltext.Normalize(`SELECT name -- of the user
		FROM users WHERE id IN (3, 5, 8) AND email = 'ann@example.com'`, 200))
	// Output: SELECT name FROM users WHERE id IN (?) AND email = ?
}

func ExampleScanner() {
	s := sqltext.Scanner{Rest: "BEGIN /* now */ IMMEDIATE; -- done"}
	for t := s.Solid(); t.Kind != sqltext.End; t = s.Solid() {
		fmt.Println(t.Text)
	}
	// Output:
	// BEGIN
	// IMMEDIATE
	// ;
}
