package page

import (
	"encoding/json"
	"math/rand/v2"
)

// Prose is what the texts in made records are cut from.
const Prose = "the agent read the failing test, changed two files, ran the package's tests again and found that the cache was stale; "

// Text is n bytes of prose, at most twice as many as [Prose] has.
func Text(rng *rand.Rand, n int) string {
	from := rng.IntN(len(Prose))
	return (Prose[from:] + Prose + Prose)[:n]
}

// Encode is json.Marshal of a record, which cannot fail.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
