/** Checks the options of a client when it is made, so that a wrong set-up fails at start and names what to set. */

/** Largest delay of a timer in milliseconds. */
const MOST_MS = 2 ** 31 - 1;
/** Characters allowed in a header. */
const IS_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Returns the base URL without a trailing slash.
 * @param maker function that the caller used, for the message.
 * @throws {TypeError} for anything but the origin of a server. It does not echo the URL, which may hold credentials.
 */
export function baseUrl(maker: string, url: string): string {
  const { origin, protocol, href } = url && URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (origin !== undefined && /^https?:$/.test(`${protocol}`) && href === `${origin}/`) return origin;
  throw wrong(maker, 'url', url, 'is not like https://auth.example.com, without a path', 'GATEHOUSE');
}

/**
 * Returns an option that has to be set.
 * @param variable environment variable that usually holds it.
 * @throws {TypeError} when it is missing, empty, or impossible in a header.
 */
export function required(maker: string, name: string, value: string | undefined, variable: string): string {
  if (typeof value === 'string' && IS_TOKEN.test(value)) return value;
  throw wrong(maker, name, value, 'has wrong characters, such as spaces', variable);
}

/** Returns the signing secrets of a webhook. @throws {TypeError} without one. */
export function signingSecrets(maker: string, secret: string | readonly string[] | undefined): readonly string[] {
  const given = [secret].flat();
  return (given.length > 0 ? given : ['']).map((one) => required(maker, 'secret', one, 'SIGNING_SECRET'));
}

/** Returns a duration. @throws {TypeError} unless it is a number of milliseconds that a timer takes. */
export function milliseconds(maker: string, name: string, value: number, least = 1, most: number = MOST_MS): number {
  if (value >= least && value <= most) return value;
  throw new TypeError(`${maker}: ${name} is ${value}. Give milliseconds from ${least} to ${most}.`);
}

function wrong(maker: string, name: string, value: unknown, fault: string, variable: string): TypeError {
  const problem = value ? fault : `is ${value === '' ? 'empty' : 'missing'}`;
  return new TypeError(`${maker}: ${name} ${problem}. Check the environment variable ${variable}.`);
}
