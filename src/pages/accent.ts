/** Serves an application's accent colour as a style sheet, because pages have no inline style. */
import { accentPalette, parseHex, toHex } from '../core/accent.ts';

/** Returns the path of the style sheet for a colour; null for an invalid colour. */
export function accentPath(color: string): string | null {
  const accent = parseHex(color);
  return accent && `/assets/accent-${toHex(accent).slice(1)}.css`;
}

/** Returns the style sheet at such a path; null for any other path. */
export function accentStyle(path: string): string | null {
  const [, digits] = /^\/assets\/accent-([0-9a-f]{6})\.css$/.exec(path) ?? [];
  const palette = digits ? accentPalette(`#${digits}`) : null;
  if (!palette) return null;
  const declarations = Object.entries(palette).flatMap(([ground, colors]) =>
    Object.entries(colors).map(
      ([name, value]) => `--${name}-${ground === 'onLight' ? 'on-light' : 'on-dark'}:${value}`,
    ),
  );
  return `:root{${declarations.join(';')}}`;
}
