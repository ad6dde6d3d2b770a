// Measures the boxes of all text on a page, and posts the problems to the page around it.
addEventListener("load", () => {
  // Open all details, so that their tables are measured.
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  const least = 10;
  const found = { width: innerWidth, labels: 0, overlapping: [], cut_off: [], small: [], too_wide: [] };
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.too_wide.push(`${page.scrollWidth} > ${page.clientWidth}`);

  // One box per line of text.
  const labels = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, title, desc")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const svg = parent.ownerSVGElement;
    const scale = svg ? svg.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(parent).fontSize) * scale;
    const text = node.data.trim().slice(0, 60);
    if (size < least) found.small.push(`${text}: ${size.toFixed(1)} px`);
    const frame = svg ? svg.getBoundingClientRect() : null;
    const scrolls = parent.closest(".scroll");
    for (const box of range.getClientRects()) {
      if (box.width < 1) continue;
      // A line box is taller than its letters.
      const inset = (box.height - size * 0.9) / 2;
      labels.push({ text, parent, left: box.left, right: box.right, top: box.top + inset, bottom: box.bottom - inset });
      const within = frame
        ? box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top + inset >= frame.top - 1 && box.bottom - inset <= frame.bottom + 1
        : true;
      const onPage = scrolls || (box.left >= -1 && box.right <= page.clientWidth + 1);
      if (!within || !onPage) found.cut_off.push(text);
    }
  }
  found.labels = labels.length;
  labels.sort((a, b) => a.top - b.top);
  labels.forEach((a, i) => {
    for (let j = i + 1; j < labels.length && labels[j].top < a.bottom - 1; j += 1) {
      const b = labels[j];
      if (b.left < a.right - 1 && a.left < b.right - 1 && !a.parent.contains(b.parent) && !b.parent.contains(a.parent)) {
        found.overlapping.push(`${a.text} / ${b.text}`);
      }
    }
  });
  for (const list of ["overlapping", "cut_off", "small"]) found[list] = found[list].slice(0, 20);
  parent.postMessage(JSON.stringify(found), "*");
});
