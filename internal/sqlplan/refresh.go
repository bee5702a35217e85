package sqlplan

import (
	"fmt"
	"slices"
)

// Refresh reads the schema of every database whose version is another than the
// known one. It must not be called in an explicit transaction that has not read
// yet, since it reads.
func (in *Inspector) Refresh(q Querier) error {
	names, err := databases(q)
	if err != nil {
		return err
	}
	for n := range names {
		if err := in.update(q, n, names); err != nil {
			return err
		}
	}
	return nil
}

// update reads one database's schema if it is another than the known one.
func (in *Inspector) update(q Querier, n int, names map[int]string) error {
	name, ok := names[n]
	if !ok {
		return fmt.Errorf("PRAGMA database_list has no database %d", n)
	}
	if d := in.schema[n]; d != nil && d.name == name {
		v, err := version(q, name)
		if err != nil || v == d.version {
			return err
		}
	}
	d, err := readDatabase(q, name)
	if err != nil {
		return err
	}
	if in.schema == nil {
		in.schema = schema{}
	}
	in.schema[n] = d
	in.forget()
	return nil
}

// unchanged tells whether databases still have the schema that is known. Within a
// transaction it takes that for granted: to ask would be to read.
func (in *Inspector) unchanged(q Querier, dbs []int) (bool, error) {
	if q.InTx() {
		return true, nil
	}
	for _, n := range dbs {
		v, err := version(q, in.schema[n].name)
		if err != nil || v != in.schema[n].version {
			return false, err
		}
	}
	return true, nil
}

// learn reads what is not known yet of the schema that a program was made for.
// In a transaction it does so only for a program that reads, which takes the very
// locks that the statement takes. again tells that the connection, which until
// now may have gone by an older schema than is in the file, can be asked again.
func (in *Inspector) learn(q Querier, ts []transaction) (again bool, err error) {
	writes := slices.ContainsFunc(ts, func(t transaction) bool { return t.write })
	if len(ts) == 0 || q.InTx() && (writes || in.schema.current(ts)) {
		return false, nil
	}
	names, err := databases(q)
	if err != nil {
		return false, err
	}
	for _, t := range ts {
		if err := in.update(q, t.db, names); err != nil {
			return false, err
		}
	}
	return true, nil
}

// numbers lists the databases of a program.
func numbers(ts []transaction) []int {
	var out []int
	for _, t := range ts {
		out = append(out, t.db)
	}
	return out
}
