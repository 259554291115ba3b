/** Derives readable light and dark variants of an application's colour. */

type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [12, 14, 18];
const DARK_CARD: Rgb = [22, 25, 31];
/** Minimum contrast at which a filled button is visible; readability is up to its text. */
const MIN_FILL_CONTRAST = 1.3;
/** Minimum contrast of a link (WCAG 2.2, 1.4.3), also on the background around the card; a focus ring needs less. */
const MIN_RING_CONTRAST = 4.9;

/** Colours as `#rrggbb`: a fill (`accent`), the text on it (`ink`), links, focus rings and thin marks (`ring`). */
interface AccentColors {
  readonly accent: string;
  readonly ink: string;
  readonly ring: string;
}

/** Returns colours for light and dark cards, moved towards black or white until they stand out; null for no colour. */
export function accentPalette(color: string): { readonly onLight: AccentColors; readonly onDark: AccentColors } | null {
  const accent = parseHex(color);
  if (!accent) return null;
  return { onLight: colorsOn(WHITE, BLACK, accent), onDark: colorsOn(DARK_CARD, WHITE, accent) };
}

function colorsOn(card: Rgb, towards: Rgb, color: Rgb): AccentColors {
  const accent = standOut(color, card, towards, MIN_FILL_CONTRAST);
  return {
    accent: toHex(accent),
    ink: toHex(inkFor(accent)),
    ring: toHex(standOut(color, card, towards, MIN_RING_CONTRAST)),
  };
}

/** Returns the contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Parses `#rgb` or `#rrggbb`; returns null for anything else. */
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

/** Returns white if it is readable (4.5:1), which looks calmer on a colour, else the one with more contrast. */
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

export function toHex(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
