/** An application's colour as a style sheet of its own, since pages have no style in their markup. */
import { accentPalette, parseHex, toHex } from '../core/accent.ts';

/** Where the page finds the colours made of an application's; null for what is no colour. */
export function accentPath(color: string): string | null {
  const accent = parseHex(color);
  return accent && `/assets/accent-${toHex(accent).slice(1)}.css`;
}

/** The style sheet behind such a path; null for any other. */
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
