// Package schema validates reports that the library writes against the JSON
// schema that it publishes, with a validator that knows nothing of either. It
// has tests alone.
package schema
