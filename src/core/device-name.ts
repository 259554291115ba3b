/** What a device is called where it does not say so itself: what its user agent tells. */
import Bowser from 'bowser';

/** A program's own name, or browser and system: `acme-cli`, `Firefox on Linux`; null where nothing can be told. */
export function deviceNameOf(userAgent: string | null): string | null {
  const product = /^([A-Za-z][\w.+-]{0,59})(?:[/ ]|$)/.exec(userAgent ?? '')?.[1];
  if (userAgent === null || product === undefined) return null;
  if (product !== 'Mozilla') return product;
  const { browser, os } = Bowser.parse(userAgent);
  const named = browser.name === 'Mozilla' ? '' : browser.name;
  return [named, os.name].filter(Boolean).join(' on ') || null;
}
