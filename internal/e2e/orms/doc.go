// Package orms has one store written with each of the packages that services put
// between their code and database/sql (sqlx, squirrel, bun, gorm, ent), over a
// wrapped SQLite, and wants every statement and transaction to belong to the
// store's own method and to the kind of goroutine that called it, without a label
// and without a word in the store.
//
// It is a module of its own, so that what these packages require stays out of
// the versions at which everything else is tested.
package orms
