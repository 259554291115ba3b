/** Finds text that a view of the console cuts off without a sign. */
import type { Page } from '../support/browser.ts';

/**
 * Lists texts that reach beyond the window or an element that clips them, with no sign of it: an ellipsis, a way to
 * scroll there, or a title. Empty if everything can be read.
 */
export async function cutOff(page: Page): Promise<string[]> {
  // Charts and columns follow a new width in the frames after it.
  await page.evaluate(
    `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`,
  );
  return page.evaluate(PROBE);
}

/** Rounding of text widths. */
const SLACK_PX = 1;

const PROBE = `(() => {
  const named = (element) =>
    element.tagName.toLowerCase() + (element.id && '#' + element.id) + [...element.classList].map((name) => '.' + name).join('');
  const clips = (value) => value === 'hidden' || value === 'clip';
  const scrolls = (value) => value === 'auto' || value === 'scroll';
  /** Text for assistive technology alone is one pixel in size. */
  const isForReaders = (element) =>
    element.closest('svg, canvas, iframe, select, textarea, [aria-hidden=true]') !== null || element.clientWidth === 1;

  function placeOf(element) {
    const place = { left: 0, right: innerWidth, bottom: Infinity };
    for (let up = element; up !== null; up = up.parentElement) {
      const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(up);
      if (isForReaders(up) || scrolls(overflowX) || up.title) return null;
      if (clips(overflowX)) {
        if (textOverflow === 'ellipsis' || webkitLineClamp !== 'none') return null;
        const { left, right } = up.getBoundingClientRect();
        place.left = Math.max(place.left, left);
        place.right = Math.min(place.right, right);
      }
      if (clips(overflowY)) place.bottom = Math.min(place.bottom, up.getBoundingClientRect().bottom);
    }
    return place;
  }

  const shown = document.querySelector('dialog[open]') ?? document.body;
  const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const found = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.data.trim();
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const place = placeOf(element);
    if (place === null) continue;
    range.selectNodeContents(texts.currentNode);
    const { left, right, bottom, width } = range.getBoundingClientRect();
    const isCut = left < place.left - ${SLACK_PX} || right > place.right + ${SLACK_PX} || bottom > place.bottom + ${SLACK_PX};
    if (width > 0 && isCut) found.add(named(element) + ' is cut: ' + text.slice(0, 60));
  }
  return [...found];
})()`;
