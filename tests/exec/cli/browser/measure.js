// Measures a page of a profile in a window: see browser.rs for what each number must be.
function measure(window) {
  const document = window.document, root = document.documentElement;
  const all = (selector, inside) => [...(inside || document).querySelectorAll(selector)];
  const color = (text) => {
    const parts = text.match(/[\d.]+/g);
    return text === 'none' || !parts ? null : parts.map(Number);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => {
      c /= 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const style = (element) => window.getComputedStyle(element);
  const background = (element) => {
    if (element.closest('svg')) return color(style(element.parentNode.querySelector('rect')).fill);
    for (; element; element = element.parentElement) {
      const found = color(style(element).backgroundColor);
      if (found && (found.length < 4 || found[3] > 0)) return found;
    }
    return [255, 255, 255];
  };
  const result = {
    width: window.innerWidth,
    dark: window.matchMedia('(prefers-color-scheme: dark)').matches,
    closedWidth: root.scrollWidth,
    openAtFirst: all('details[open]').length,
    elements: all('*').length,
  };

  // A link to a block opens the code that it is in.
  const block = all('.part')[0];
  result.revealed = 0;
  if (block) {
    window.location.hash = block.id;
    result.revealed = all('details[open]').length;
  }
  result.brokenLinks = all('a[href]').map((a) => a.getAttribute('href'))
    .filter((link) => !link.startsWith('#') || !document.getElementById(link.slice(1)));

  all('details').forEach((details) => { details.open = true; });
  result.openWidth = root.scrollWidth;

  const cells = all('.flame .cell');
  result.cells = cells.length;
  result.wider = [];
  const edge = (element) => element.getBoundingClientRect();
  for (const cell of cells) {
    const [outer, inner] = [edge(cell.parentElement), edge(cell)];
    if (inner.right > outer.right + 0.5 || inner.left < outer.left - 0.5) result.wider.push(cell.textContent);
  }
  for (const row of all('.flame .row')) {
    const sum = [...row.children].reduce((sum, child) => sum + edge(child).width, 0);
    if (sum > edge(row).width + 0.5) result.wider.push(row.textContent);
  }
  // Blocks of a picture neither overlap nor leave it.
  result.boxes = 0;
  result.overlaps = [];
  for (const svg of all('svg')) {
    const boxes = all('rect:not(.heat)', svg).map((rect) => rect.getBBox());
    const { width, height } = svg.viewBox.baseVal;
    result.boxes += boxes.length;
    boxes.forEach((a, i) => {
      if (a.x < 0 || a.y < 0 || a.x + a.width > width || a.y + a.height > height) result.overlaps.push([i]);
      boxes.slice(0, i).forEach((b, j) => {
        const apart = a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
        if (!apart) result.overlaps.push([i, j]);
      });
    });
  }

  const bar = document.querySelector('.hottest .bar i');
  result.hottestBar = bar ? edge(bar).width : 0;
  // Of the bars of heat the longest, which is text.
  const inked = (pre) => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    return pre.textContent.trim() === '' ? 0 : edge(range).width;
  };
  result.heat = Math.max(0, ...all('.part pre.heat').map(inked));

  result.contrast = 21;
  result.texts = 0;
  for (const element of all('.profile *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || ['STYLE', 'TITLE', 'title'].includes(element.tagName)) continue;
    const inSvg = element.closest('svg') !== null;
    const text = color(inSvg ? style(element).fill : style(element).color);
    const found = contrast(text, background(element));
    result.texts += 1;
    if (found < result.contrast) {
      result.contrast = found;
      result.worst = element.tagName + ' ' + (element.getAttribute('class') || '') + ': ' + element.textContent.slice(0, 40);
    }
  }
  return result;
}
