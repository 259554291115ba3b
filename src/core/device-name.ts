/** Names a device and its type by its user agent, where it does not name itself. */
import Bowser from 'bowser';

/** Browser and system of a user agent, each null if unknown. At least one is known. */
export interface BrowserAndSystem {
  readonly browser: string | null;
  readonly system: string | null;
}

/** Names that Bowser knows. Its fallback copies a name from the user agent, which anybody can write. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** Length that sessions keep; it bounds the work of Bowser's patterns. */
const MAX_READ = 300;

/** Cached because most people use the same few browsers, and Bowser takes 40 µs. */
const parsed = new Map<string, BrowserAndSystem | null>();
const MAX_PARSED = 500;

/** Returns known names only, never text of the user agent; null for a program, and if neither is known. */
export function browserOf(userAgent: string | null): BrowserAndSystem | null {
  if (userAgent === null || !isBrowser(userAgent)) return null;
  const read = userAgent.slice(0, MAX_READ);
  let known = parsed.get(read);
  if (known === undefined) {
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(read, (known = knownNames(read)));
  }
  return known;
}

function knownNames(userAgent: string): BrowserAndSystem | null {
  const { browser, os } = Bowser.parse(userAgent);
  const known = {
    browser: browser.name !== undefined && BROWSERS.has(browser.name) ? browser.name : null,
    system: os.name !== undefined && SYSTEMS.has(os.name) ? os.name : null,
  };
  return known.browser === null && known.system === null ? null : known;
}

/** Returns a program's own name, or browser and system in English: `acme-cli`, `Firefox on Linux`; null if unknown. */
export function deviceNameOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  if (!isBrowser(userAgent)) return /^([A-Za-z][\w.+-]{0,59})(?:[/ ]|$)/.exec(userAgent)?.[1] ?? null;
  const known = browserOf(userAgent);
  return known && [known.browser, known.system].filter(Boolean).join(' on ');
}

/** A program is anything that does not present itself as a browser. */
export const DEVICE_TYPES = ['phone', 'tablet', 'computer', 'program'] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

const OF_PLATFORM: Readonly<Record<string, DeviceType>> = { mobile: 'phone', tablet: 'tablet', desktop: 'computer' };

/** Returns the type of the device; null if unknown. An iPad that presents itself as a Mac counts as a computer. */
export function deviceTypeOf(userAgent: string | null): DeviceType | null {
  if (userAgent === null || deviceNameOf(userAgent) === null) return null;
  if (!isBrowser(userAgent)) return 'program';
  return OF_PLATFORM[Bowser.parse(userAgent).platform.type ?? ''] ?? null;
}

function isBrowser(userAgent: string): boolean {
  return /^Mozilla(?:[/ ]|$)/.test(userAgent);
}
