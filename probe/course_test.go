package probe

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	testCourse = &Desc{Name: "test.course", Unit: "By", Help: "How the level went.", Detail: true}
	testGrowth = &Desc{Name: "test.growth", Unit: "By", Help: "Peak over base."}
)

// courseLine is a course in the order of courseStats.
func courseLine(r *Reading) string {
	var b strings.Builder
	for m := range r.Find("test.course") {
		fmt.Fprintf(&b, "%s %.4g of %d, ", m.Attr(attrStat), m.Value, m.Prov.Samples)
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// TestCourse: each of two windows that overlap, and each tile of a third, has
// the course of its own time.
func TestCourse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Core
		g := c.Gauge(testGauge)
		g.Course(testCourse)
		g.Course(testCourse) // asking again does nothing
		g.Set(100)
		a, tiles := watch(t, &c), watch(t, &c)
		var b *Window
		var tile Reading
		var got []string
		for i := range 40 { // rises by 10 a second
			time.Sleep(time.Second)
			g.Set(110 + 10*float64(i))
			if i == 19 {
				b = watch(t, &c)
				tiles.Next(&tile)
				got = append(got, courseLine(&tile))
			}
		}
		tiles.Next(&tile)
		got = append(got, courseLine(&tile), courseLine(b.Close()), courseLine(a.Close()))
		want := []string{
			"base 100 of 21, min 100 of 21, mean 200 of 21, max 300 of 21, last 300 of 21, rise 200 of 21, first_half 145 of 10, second_half 255 of 10",
			"base 300 of 21, min 300 of 21, mean 400 of 21, max 500 of 21, last 500 of 21, rise 200 of 21, first_half 345 of 10, second_half 455 of 10",
			"base 300 of 21, min 300 of 21, mean 400 of 21, max 500 of 21, last 500 of 21, rise 200 of 21, first_half 345 of 10, second_half 455 of 10",
			"base 100 of 41, min 100 of 41, mean 300 of 41, max 500 of 41, last 500 of 41, rise 400 of 41, first_half 195 of 20, second_half 405 of 20",
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("course %d:\n got %s\nwant %s", i, got[i], want[i])
			}
		}
		for m := range a.Close().Find("test.course") {
			if m.Prov.How != Sampled || m.Prov.MaxGap != time.Second || !m.Detail || m.Kind != KindGauge {
				t.Errorf("%s: got %+v, %v, want sampled with a gap of 1s", m.Attr(attrStat), m.Prov, m.Kind)
			}
		}
	})
}

// TestCourseLong: memory is bounded, and means and slope are those of all looks,
// however long the window and however large the level beside its changes.
func TestCourseLong(t *testing.T) {
	const base, n = 64 << 30, 100_000
	var w courseView
	w.width = int64(firstSlice)
	sum := 0.0
	for i := range n {
		v := base + float64(i%7) + float64(i)/1000 // 0.01 a second
		sum += v
		w.sample(v, int64(i)*int64(100*time.Millisecond))
	}
	end := int64(n-1) * int64(100*time.Millisecond)
	if want := sum / n; math.Abs(w.meanV-want) > 1 {
		t.Errorf("got a mean of %v, want %v", w.meanV, want)
	}
	if got := w.rise(end); math.Abs(got-100) > 0.1 {
		t.Errorf("got a rise of %v, want 100", got)
	}
	first, second := w.halves(end)
	if least := uint64(n/2 - n/32); first.n < least || second.n < least || first.n+second.n > n {
		t.Errorf("got halves of %d and %d looks, want at least %d of %d in each", first.n, second.n, least, n)
	}
	if got := second.mean() - first.mean(); math.Abs(got-50) > 2 {
		t.Errorf("got %v between the halves' means, want 50", got)
	}
}

// TestCourseAbsent: no look, no course; and where the gauge is absent, so is it,
// without its last level as a base when it returns.
func TestCourseAbsent(t *testing.T) {
	var c Core
	g := c.Gauge(testGauge)
	g.Course(testCourse)
	w := watch(t, &c)
	var r Reading
	w.Read(&r)
	if got := courseLine(&r); got != "" {
		t.Errorf("without a look: got %s", got)
	}
	g.Set(5)
	g.Set(math.NaN())
	c.Absent(testGauge.Name, "gone")
	w.Next(&r)
	if got := courseLine(&r); got != "" {
		t.Errorf("while absent: got %s", got)
	}
	c.Absent(testGauge.Name, "")
	g.Set(7)
	r = *w.Close()
	if got := courseLine(&r); !strings.HasPrefix(got, "base 7 of 1, min 7 of 1") {
		t.Errorf("got %s, want the first look after the gap, 7", got)
	}
}

// TestGrowth: the peak over the level at which each window began.
func TestGrowth(t *testing.T) {
	c := Core{Name: "x"}
	g, p := c.Gauge(testGauge), c.Peak(testPeak)
	p.Growth(testGrowth, g, Attr{"a", "b"})
	w := watch(t, &c)
	p.Sample(9)
	var r Reading
	w.Read(&r)
	for range r.Find("test.growth") {
		t.Error("got a growth over a level that is not known")
	}
	level := func(v float64) {
		g.Set(v)
		p.Reset(int64(v), "reset")
	}
	level(100)
	outer := watch(t, &c)
	p.Reset(150, "reset")
	g.Set(120)
	inner := watch(t, &c)
	p.Reset(160, "reset")
	g.Set(30)
	inner.Next(&r)
	check := func(what string, r *Reading, want float64) {
		t.Helper()
		if got := value(t, r, "test.growth"); got != want {
			t.Errorf("%s: got a growth of %v, want %v", what, got, want)
		}
		for m := range r.Find("test.growth") {
			if m.Prov != (Provenance{Method: "reset"}) || m.Kind != KindPeak || m.Attr("a") != "b" || m.Attr(AttrProbeName) != "x" {
				t.Errorf("%s: got %+v, %v, %v", what, m.Prov, m.Kind, m.Attrs)
			}
		}
	}
	check("inner", &r, 40)
	p.Reset(90, "reset")
	check("inner's next", inner.Close(), 60)
	c.Absent(testGauge.Name, "gone") // what it last held is no level to begin with
	blind := watch(t, &c)
	c.Absent(testGauge.Name, "")
	p.Reset(95, "reset")
	for range blind.Close().Find("test.growth") {
		t.Error("got a growth over a level that is out of date")
	}
	check("outer", outer.Close(), 60)
}

// TestCourseAllocs: a look and a reading run beside what is measured.
func TestCourseAllocs(t *testing.T) {
	var c Core
	g := c.Gauge(testGauge)
	g.Course(testCourse)
	w := watch(t, &c)
	var r Reading
	w.Next(&r)
	if got := testing.AllocsPerRun(100, func() { g.Set(1); w.Next(&r) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
