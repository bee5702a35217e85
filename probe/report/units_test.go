package report

import (
	"math"
	"testing"
)

func TestFormatGroup(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		vs         []float64
		unit, want string
		text       string
	}{
		{[]float64{0.001, 0.070, 0.258}, "s", "", "1.0 / 70 / 258 ms"},
		{[]float64{1.296, 5.221, 8.326}, "s", "", "1.3 / 5.2 / 8.3 s"},
		{[]float64{1.296, 5.221}, "s", "ms", "1,296 / 5,221 ms"},
		{[]float64{0.000042}, "s", "us", "42 µs"},
		{[]float64{354}, "s", "", "354 s"},
		{[]float64{0}, "s", "", "0 ns"},
		{[]float64{3e-10}, "s", "", "0.30 ns"},
		{[]float64{312e-9, 8.3}, "s", "", "312 ns / 8.3 s"},
		{[]float64{nan, 312e-9, 8.3}, "s", "", "– / 312 ns / 8.3 s"},
		{[]float64{nan, 0.02}, "s", "", "– / 20 ms"},
		{[]float64{nan}, "s", "", "–"},
		{[]float64{0.9996}, "s", "", "1.0 s"},
		{[]float64{258 << 20}, "By", "", "258 MiB"},
		{[]float64{1.3 * (1 << 30)}, "By", "", "1.3 GiB"},
		{[]float64{1031 << 20}, "By", "MiB", "1,031 MiB"},
		{[]float64{17}, "By", "", "17 B"},
		{[]float64{3}, "By", "", "3 B"},
		{[]float64{0}, "By", "", "0 B"},
		{[]float64{5 << 20}, "By/s", "", "5.0 MiB/s"},
		{[]float64{20000}, "{row}", "", "20,000"},
		{[]float64{8}, "{query}", "", "8"},
		{[]float64{8.25}, "{query}", "", "8.2"},
		{[]float64{1234.5}, "1/s", "", "1,234/s"},
		{[]float64{0.35}, "1", "%", "35 %"},
		{[]float64{0.004}, "1", "", "0.004"},
		{[]float64{35}, "%", "", "3,500 %"},
		{[]float64{41.25}, "Cel", "", "41 Cel"},
		{[]float64{-1500}, "{thing}", "", "-1,500"},
		{[]float64{-0.5}, "s", "", "-500 ms"},
	} {
		if got := formatGroup(tt.vs, tt.unit, tt.want); got != tt.text {
			t.Errorf("formatGroup(%v, %q, %q) = %q, want %q", tt.vs, tt.unit, tt.want, got, tt.text)
		}
	}
}

func TestFormatRatio(t *testing.T) {
	for _, tt := range []struct {
		before, after float64
		want          string
	}{
		{74, 1, "÷ 74"},
		{1, 1.3, "× 1.30"},
		{1, 200, "× 200"},
		{100, 99, "÷ 1.01"},
		{5, 5, "="},
		{0, 0, "="},
		{0, 5, "–"},
		{5, 0, "–"},
		{5, math.NaN(), "–"},
		{math.NaN(), 5, "–"},
		{5, -5, "–"},
		{1, 2, "× 2.0"},
	} {
		if got := formatRatio(tt.before, tt.after); got != tt.want {
			t.Errorf("formatRatio(%v, %v) = %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "µs ≤ –": 6, "路径": 4, "e\u0301": 1, "한": 2, "😀": 2, "…": 1} {
		if got := width(s); got != want {
			t.Errorf("width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"SELECT *\n\tFROM t": "SELECT * FROM t",
		"\x1b[31mred":        "·[31mred",
		" a  b ":             "a b",
		"bad\xff":            "bad·",
	} {
		if got := clean(s); got != want {
			t.Errorf("clean(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"/very/long/file.go", 8, "…file.go"},
		{"路径路径", 5, "…路径"},
	} {
		if got := clip(tt.s, tt.n); got != tt.want || width(got) > tt.n {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestEscape(t *testing.T) {
	got, want := escape("a|b *c* _d_ `e` <f> [g]"), `a\|b \*c\* \_d\_ `+"\\`e\\`"+` &lt;f&gt; \[g\]`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
