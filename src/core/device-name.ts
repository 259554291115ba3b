/** Names a device by its user agent, where it does not name itself. */
import Bowser from 'bowser';

/** Returns a program's own name, or browser and system: `acme-cli`, `Firefox on Linux`; null if unknown. */
export function deviceNameOf(userAgent: string | null): string | null {
  const product = /^([A-Za-z][\w.+-]{0,59})(?:[/ ]|$)/.exec(userAgent ?? '')?.[1];
  if (userAgent === null || product === undefined) return null;
  if (product !== 'Mozilla') return product;
  const { browser, os } = Bowser.parse(userAgent);
  const named = browser.name === 'Mozilla' ? '' : browser.name;
  return [named, os.name].filter(Boolean).join(' on ') || null;
}
