/** Formats places and times in the reader's language. */
import type { BrowserAndSystem } from '../../core/device-name.ts';
import type { Texts } from '../../i18n/texts.ts';
import { intlName } from '../components/intl-name.ts';

export function countryOf({ ipCountry }: { readonly ipCountry: string | null }, locale: string): string | null {
  return ipCountry && intlName(ipCountry, 'region', locale);
}

export interface NamedDevice {
  /** In English; null if unknown. */
  readonly device: string | null;
  readonly browser: BrowserAndSystem | null;
}

/** Names a session's device in the reader's language. */
export function deviceText(text: Texts, { device, browser }: NamedDevice): string {
  if (browser && browser.browser !== null && browser.system !== null)
    return text('account.browserOn', { browser: browser.browser, system: browser.system });
  return device ?? text('account.unknownDevice');
}

const STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Returns a relative time such as "2 hours ago"; a date after 30 days. */
export function sinceText(text: Texts, timestamp: string): string {
  // Never in the future, even if this clock lags behind the server's.
  const seconds = Math.min(0, Math.round((Date.parse(timestamp) - Date.now()) / 1_000));
  if (seconds < -30 * 86_400) return dateText(text, timestamp);
  const format = new Intl.RelativeTimeFormat(text.locale, { numeric: 'auto' });
  for (const [unit, length] of STEPS)
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  return format.format(0, 'second');
}

export function dateText(text: Texts, timestamp: string): string {
  return new Intl.DateTimeFormat(text.locale, { dateStyle: 'medium' }).format(new Date(timestamp));
}

/** Returns the time of last use as part of a line. */
export function usedText(text: Texts, lastUsedAt: string | null): string {
  return lastUsedAt === null
    ? text('account.neverUsed')
    : text('account.lastUsed', { time: sinceText(text, lastUsedAt) });
}

/** Joins the parts of a line. A line never begins with a dot: a no-break space ties each to the part before it. */
export function joined(...parts: readonly (string | null | false)[]): string {
  return parts.filter(Boolean).join('\u00a0· ');
}
