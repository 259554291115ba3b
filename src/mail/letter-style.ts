/**
 * Styles of letters. Mail clients reliably keep only style attributes, so these have the light scheme and a style sheet
 * the dark one. Colors match the pages (pages/style/tokens.css).
 */
import { accentPalette } from '../core/accent.ts';

const SANS =
  "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','Liberation Sans',Arial,sans-serif";
const MONO = "ui-monospace,'SF Mono',SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

const LIGHT = { page: '#f5f6f8', card: '#ffffff', text: '#15181e', muted: '#5a6271', line: '#e2e5ea', soft: '#f1f3f6' };
const DARK = { page: '#0d0f13', card: '#16191f', text: '#eceef2', muted: '#9ba3b2', line: '#272c35', soft: '#20252d' };

/** Table attributes: some clients keep widths and colors only in tables. */
export const TABLE: { readonly role: 'presentation' } = Object.freeze({
  role: 'presentation',
  cellSpacing: 0,
  cellPadding: 0,
  border: 0,
});

/** Default colors for applications without an accent color, as on their pages. */
const UNCHOSEN = {
  onLight: { accent: '#2853d8', ink: '#ffffff' },
  onDark: { accent: '#87a2ff', ink: '#0c0e12' },
};

type Colors = typeof UNCHOSEN;

/** Converts styles to attribute text once, instead of for each letter. */
function written<Role extends string>(styles: Readonly<Record<Role, object>>): Readonly<Record<Role, string>> {
  const attribute = (style: object) =>
    Object.entries(style)
      .map(([name, value]) => `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${value}`)
      .join(';');
  return Object.fromEntries(Object.entries<object>(styles).map(([role, style]) => [role, attribute(style)])) as never;
}

export const STYLES = written({
  body: { margin: '0', padding: '0', width: '100%', backgroundColor: LIGHT.page },
  preheader: {
    display: 'none',
    maxHeight: '0',
    overflow: 'hidden',
    fontSize: '1px',
    lineHeight: '1px',
    color: LIGHT.page,
  },
  page: { backgroundColor: LIGHT.page },
  outside: { padding: '32px 12px' },
  card: {
    width: '100%',
    maxWidth: '600px',
    backgroundColor: LIGHT.card,
    border: `1px solid ${LIGHT.line}`,
    borderRadius: '10px',
    borderCollapse: 'separate',
    overflow: 'hidden',
  },
  inside: { padding: '28px 40px 32px', fontFamily: SANS, color: LIGHT.text, textAlign: 'left' },
  mark: { paddingRight: '12px', verticalAlign: 'middle' },
  logo: { display: 'block', height: '36px', width: 'auto', maxWidth: '160px', border: '0' },
  /** Outlook on Windows hides by `mso-hide` only. */
  onDark: { display: 'none', overflow: 'hidden', maxHeight: '0', msoHide: 'all' },
  name: {
    fontFamily: SANS,
    fontSize: '16px',
    fontWeight: '600',
    lineHeight: '24px',
    color: LIGHT.text,
    verticalAlign: 'middle',
    overflowWrap: 'anywhere',
  },
  heading: {
    margin: '28px 0 12px',
    fontSize: '24px',
    fontWeight: '600',
    lineHeight: '32px',
    letterSpacing: '-0.01em',
    color: LIGHT.text,
    overflowWrap: 'anywhere',
  },
  paragraph: {
    margin: '0 0 16px',
    fontSize: '16px',
    lineHeight: '24px',
    color: LIGHT.text,
    overflowWrap: 'anywhere',
  },
  title: { margin: '0 0 8px', fontSize: '16px', lineHeight: '24px', color: LIGHT.text },
  list: { margin: '0 0 16px', padding: '0 0 0 20px', fontSize: '16px', lineHeight: '24px', color: LIGHT.text },
  item: { margin: '0 0 8px', overflowWrap: 'anywhere' },
  code: {
    margin: '8px 0 16px',
    padding: '20px 0 20px 10px',
    backgroundColor: LIGHT.soft,
    borderRadius: '10px',
    fontFamily: MONO,
    fontSize: '36px',
    fontWeight: '600',
    lineHeight: '44px',
    letterSpacing: '10px',
    textAlign: 'center',
    color: LIGHT.text,
  },
  note: { margin: '0 0 16px', fontSize: '14px', lineHeight: '20px', color: LIGHT.muted },
  facts: { margin: '0 0 16px', borderCollapse: 'separate' },
  factsCell: { padding: '12px 16px', backgroundColor: LIGHT.soft, borderRadius: '10px' },
  fact: { fontFamily: SANS, fontSize: '14px', lineHeight: '22px', color: LIGHT.text, overflowWrap: 'break-word' },
  button: { margin: '8px 0 16px', borderCollapse: 'separate' },
  beneath: { margin: '0 0 16px', fontSize: '13px', lineHeight: '20px', color: LIGHT.muted },
  address: { color: LIGHT.muted, textDecoration: 'underline', wordBreak: 'break-all' },
  line: {
    margin: '8px 0 0',
    fontSize: '14px',
    lineHeight: '22px',
    color: LIGHT.text,
    overflowWrap: 'anywhere',
  },
  rule: { padding: '24px 0 0', fontSize: '0', lineHeight: '0' },
  foot: { padding: '16px 0 0', borderTop: `1px solid ${LIGHT.line}` },
  small: {
    margin: '0 0 8px',
    fontSize: '13px',
    lineHeight: '20px',
    color: LIGHT.muted,
    fontFamily: SANS,
    overflowWrap: 'anywhere',
  },
});

/** Styles and style sheet with the application's color. */
export interface LetterLook {
  readonly styles: Readonly<Record<'edge' | 'tile' | 'buttonCell' | 'buttonLink', string>>;
  readonly sheet: string;
}

const MAX_LOOKS = 100;
const looks = new Map<string | null, LetterLook>();

/** Returns the look for an accent color; null or an invalid color gives the default. */
export function lookOf(accentColor: string | null): LetterLook {
  const known = looks.get(accentColor);
  if (known) return known;
  const colors = (accentColor === null ? null : accentPalette(accentColor)) ?? UNCHOSEN;
  const look = { styles: stylesIn(colors), sheet: sheetIn(colors) };
  if (looks.size >= MAX_LOOKS) looks.clear();
  looks.set(accentColor, look);
  return look;
}

function stylesIn({ onLight: { accent, ink } }: Colors): LetterLook['styles'] {
  return written({
    edge: { height: '6px', fontSize: '0', lineHeight: '0', backgroundColor: accent },
    tile: {
      width: '36px',
      height: '36px',
      borderRadius: '8px',
      backgroundColor: accent,
      color: ink,
      fontFamily: SANS,
      fontSize: '18px',
      fontWeight: '600',
      lineHeight: '36px',
      textAlign: 'center',
    },
    buttonCell: { borderRadius: '8px', backgroundColor: accent },
    buttonLink: {
      display: 'inline-block',
      padding: '12px 24px',
      borderRadius: '8px',
      fontFamily: SANS,
      fontSize: '16px',
      fontWeight: '600',
      lineHeight: '24px',
      color: ink,
      textDecoration: 'none',
    },
  });
}

/** Returns the rules for narrow screens and the dark scheme, for clients that read style sheets. */
function sheetIn({ onDark: { accent, ink } }: Colors): string {
  const dark: Record<string, string> = {
    '.page': `background-color:${DARK.page}!important`,
    '.card': `background-color:${DARK.card}!important;border-color:${DARK.line}!important`,
    '.text': `color:${DARK.text}!important`,
    '.muted': `color:${DARK.muted}!important`,
    '.code,.soft': `background-color:${DARK.soft}!important;color:${DARK.text}!important`,
    '.line': `border-color:${DARK.line}!important`,
    '.accent': `background-color:${accent}!important;color:${ink}!important`,
    '.ink': `color:${ink}!important`,
    '.on-light': 'display:none!important',
    '.on-dark': 'display:block!important;max-height:none!important',
  };
  const rules = Object.entries(dark).map(([selector, declarations]) => `${selector}{${declarations}}`);
  const narrow =
    '.outside{padding:0!important}.card{border-radius:0!important;border-width:0 0 1px!important}.inside{padding:24px 20px 28px!important}.code{font-size:32px!important;letter-spacing:8px!important}';
  return `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (max-width:480px){${narrow}}@media (prefers-color-scheme:dark){${rules.join('')}}`;
}
