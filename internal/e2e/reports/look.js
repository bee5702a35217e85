// Asks the browser how the page was laid out. Runs in a copy of the page only.
const seen = { exception: "", outside: [], pale: [] };
try {
  // Contrast as the Web Content Accessibility Guidelines define it.
  const channels = c => c.match(/[\d.]+/g).slice(0, 3).map(Number);
  const luminance = c => channels(c).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const back = luminance(getComputedStyle(document.body).backgroundColor);
  const pale = new Set();
  const check = (selector, property, least) => {
    for (const e of document.querySelectorAll(selector)) {
      const c = getComputedStyle(e)[property];
      if (contrast(luminance(c), back) < least) pale.add(e.tagName + "." + e.getAttribute("class") + " " + c);
    }
  };
  check("h1, h2, th, td, p, small, figcaption, .key", "color", 4.5);
  check("svg text", "fill", 4.5);
  check("svg path", "stroke", 3);
  check("svg rect", "fill", 3);
  check(".key b", "backgroundColor", 3);
  seen.pale = [...pale];

  seen.charts = 0;
  for (const svg of document.querySelectorAll("svg")) {
    const box = svg.viewBox.baseVal;
    let drawn = false;
    for (const e of svg.querySelectorAll("path, rect, text")) {
      const b = e.getBBox();
      drawn ||= e.tagName !== "text" && b.width + b.height > 0;
      if (b.x < box.x - 1 || b.y < box.y - 1 || b.x + b.width > box.x + box.width + 1 || b.y + b.height > box.y + box.height + 1) {
        seen.outside.push(e.tagName + " " + e.textContent.slice(0, 60));
      }
    }
    if (drawn && svg.getBoundingClientRect().width > 100) seen.charts++;
  }
  seen.tables = [...document.querySelectorAll("table")].filter(t => t.tBodies[0].rows.length > 0).length;
  seen.scripts = document.scripts.length - 1;
  seen.requests = performance.getEntriesByType("resource").length;
  seen.overflow = document.documentElement.scrollWidth > window.innerWidth;
  seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  seen.title = document.title;
} catch (e) {
  seen.exception = String(e);
}
const answer = document.createElement("pre");
answer.id = "seen";
answer.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
document.body.append(answer);
