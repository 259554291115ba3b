/** Checks the options of a client when it is made, so that a wrong set-up fails at start and names what to set. */

/** Largest delay of a timer in milliseconds. */
const MOST_MS = 2 ** 31 - 1;
const EXAMPLE = 'https://auth.example.com';
/** Characters allowed in a header. */
const IS_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Returns the base URL without a trailing slash.
 * @param maker function that the caller used, for the message.
 * @throws {TypeError} for anything but the origin of a server.
 */
export function baseUrl(maker: string, url: string): string {
  if (!url)
    throw new TypeError(
      `${maker}: url is ${lack(url)}. Give the base URL of the server, such as ${EXAMPLE}; ${hint('GATEHOUSE')}`,
    );
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(
      `${maker}: url is ${JSON.stringify(url)}. Give an address with http:// or https://, such as ${EXAMPLE}; ${hint('GATEHOUSE')}`,
    );
  if (parsed.username || parsed.password || parsed.href.replace(/\/+$/, '') !== parsed.origin)
    throw new TypeError(
      `${maker}: url has more than the server’s address. Give ${parsed.origin} without a path, query or credentials; ${hint('GATEHOUSE')}`,
    );
  return parsed.origin;
}

/**
 * Returns an option that has to be set.
 * @param variable environment variable that usually holds it.
 * @throws {TypeError} when it is missing, empty, or impossible in a header.
 */
export function required(maker: string, name: string, value: string | undefined, variable: string): string {
  if (!value) throw new TypeError(`${maker}: ${name} is ${lack(value)}. ${hint(variable, 'Is')}`);
  if (typeof value !== 'string' || !IS_TOKEN.test(value))
    throw new TypeError(
      `${maker}: ${name} has characters that it cannot have, such as spaces or a line break. ${hint(variable, 'Is', 'right')}`,
    );
  return value;
}

/** Returns a duration. @throws {TypeError} unless it is a number of milliseconds that a timer takes. */
export function milliseconds(
  maker: string,
  name: string,
  value: number,
  { least = 1, most = MOST_MS }: { readonly least?: number; readonly most?: number } = {},
): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new TypeError(
    `${maker}: ${name} is ${value}. Give milliseconds, from ${least}${most === Infinity ? '' : ` to ${most}`}.`,
  );
}

const lack = (value: unknown) => (value === '' ? 'empty' : 'missing');
const hint = (variable: string, is = 'is', what = 'set') => `${is} the environment variable ${variable} ${what}?`;
