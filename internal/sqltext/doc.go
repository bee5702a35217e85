// Package sqltext reads the text of SQL statements without a database: it cuts it
// into tokens as SQLite's tokenizer does, and makes texts that people may see.
//
// It is the one tokenizer of sqlitetrace, which wants to know what a statement
// does and shows slow ones, and of sqlplan, which may only explain what SQLite
// takes for a single statement. The second is why it follows SQLite to the byte:
// of two statements that were taken for one, the other would run.
//
// # Accuracy and limits
//
// The strings of other databases that SQLite has not (PostgreSQL's E'…' and
// $$…$$, the standard's N'…' and B'…') are a kind of their own, so that a report
// hides them whichever database they are for, and sqlplan explains none that has
// one. MySQL's backslashes in '…' and its comments after # are not known.
package sqltext
