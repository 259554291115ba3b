/** Puts an application's colour on the page so that it can be read in light and in dark. */

type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [12, 14, 18];
const DARK_CARD: Rgb = [22, 25, 31];
/** What a filled button needs to be seen at all; its text is what must be readable. */
const MIN_FILL_CONTRAST = 1.3;
/** What a focus ring needs (WCAG 2.2, 1.4.11). */
const MIN_RING_CONTRAST = 3;

/**
 * For a light and for a dark card: the colour to fill with, the ink to write on it, and the colour of focus rings. A
 * colour that would not stand out from its card is moved towards black or white until it does.
 */
export function accentPalette(color: string): Record<string, string> | null {
  const accent = parseHex(color);
  if (!accent) return null;
  const onLight = standOut(accent, WHITE, BLACK, MIN_FILL_CONTRAST);
  const onDark = standOut(accent, DARK_CARD, WHITE, MIN_FILL_CONTRAST);
  return {
    '--accent-on-light': toHex(onLight),
    '--ink-on-light': toHex(inkFor(onLight)),
    '--ring-on-light': toHex(standOut(accent, WHITE, BLACK, MIN_RING_CONTRAST)),
    '--accent-on-dark': toHex(onDark),
    '--ink-on-dark': toHex(inkFor(onDark)),
    '--ring-on-dark': toHex(standOut(accent, DARK_CARD, WHITE, MIN_RING_CONTRAST)),
  };
}

/** Reads the colour from the document and sets it through the CSSOM, where the style policy does not apply. */
export function applyAccent(): void {
  const { accent } = document.documentElement.dataset;
  const palette = accent ? accentPalette(accent) : null;
  for (const [name, value] of Object.entries(palette ?? {})) document.documentElement.style.setProperty(name, value);
}

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** `#rgb` or `#rrggbb`; null for anything else. */
export function parseHex(color: string): Rgb | null {
  const long = color.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(long);
  if (!match) return null;
  const [, red = '', green = '', blue = ''] = match;
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

function standOut(color: Rgb, card: Rgb, towards: Rgb, minContrast: number): Rgb {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, towards, share);
    if (contrast(mixed, card) >= minContrast) return mixed;
  }
  return towards;
}

/** White wherever it is readable (4.5:1), which looks calmer on a colour, else whichever is more so. */
function inkFor(background: Rgb): Rgb {
  const onWhite = contrast(background, WHITE);
  return onWhite >= 4.5 || onWhite >= contrast(background, BLACK) ? WHITE : BLACK;
}

function mix([r, g, b]: Rgb, [r2, g2, b2]: Rgb, share: number): Rgb {
  const channel = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [channel(r, r2), channel(g, g2), channel(b, b2)];
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function toHex(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
