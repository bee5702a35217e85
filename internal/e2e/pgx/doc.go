// Package pgx holds the wrapped stdlib driver of github.com/jackc/pgx against the
// bare one, on a PostgreSQL server that the tests start and stop. It has tests
// alone, which skip where the server's programs are not installed.
package pgx
