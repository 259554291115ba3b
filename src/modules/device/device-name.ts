/** What a connected device is called where it did not say so itself. */

const FALLBACK = 'Connected device';

/** The first that fits: browsers name each other in their user agents. */
const BROWSERS: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly [pattern: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A program's own name, or browser and system: `acme-cli`, `Firefox on Linux`. */
export function deviceNameFrom(userAgent: string | null): string {
  if (userAgent === null) return FALLBACK;
  const product = /^([A-Za-z][\w.+-]{0,59})(?:[/ ]|$)/.exec(userAgent)?.[1];
  if (product !== undefined && product !== 'Mozilla') return product;
  const nameOf = (list: typeof BROWSERS) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  return [nameOf(BROWSERS), nameOf(SYSTEMS)].filter(Boolean).join(' on ') || FALLBACK;
}
