/**
 * Mints, recognises and hashes bearer secrets: a kind prefix, 256 random bits in base62 and a CRC32 in base62. The
 * checksum refuses mistyped secrets before any lookup, and the prefix lets secret scanners find leaked ones.
 */
import type { Random } from './random.ts';

/** The prefix of each kind of secret, before an underscore. */
export const SECRET_PREFIXES = {
  apiKey: 'eak',
  session: 'est',
  /** The secret of a session in the cookie of the hosted pages. */
  page: 'epg',
  clientSecret: 'ecs',
  setup: 'egs',
  webhook: 'whsec',
  deviceCode: 'edc',
  authorizationCode: 'eac',
  refresh: 'ert',
  /** The `state` of a sign-in in progress at a provider. */
  providerState: 'eps',
  /** Binds a sign-in at a provider to the browser it began in. */
  browser: 'ebr',
  /** For the link that undoes a change of address. */
  emailUndo: 'egu',
} as const;

export type SecretKind = keyof typeof SECRET_PREFIXES;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Value of each base62 digit by its character code. */
const DIGITS = Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));
const RANDOM_LENGTH = 43; // ceil(256 bits / log2(62))
const CHECKSUM_LENGTH = 6; // ceil(32 bits / log2(62))
const SHAPES = Object.fromEntries(
  Object.entries(SECRET_PREFIXES).map(([kind, prefix]) => [kind, new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`)]),
) as Record<SecretKind, RegExp>;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}

function checksum(text: string): string {
  let rest = Bun.hash.crc32(text);
  let encoded = '';
  while (encoded.length < CHECKSUM_LENGTH) {
    encoded = ALPHABET.charAt(rest % 62) + encoded;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}

/** Returns a new secret in plain text: show it once, store only {@link hashSecret} and {@link secretPrefix}. */
export function mintSecret(kind: SecretKind, random: Random): string {
  const value = BigInt(`0x${random.bytes(32).toHex()}`);
  const body = `${SECRET_PREFIXES[kind]}_${base62(value, RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** Returns whether the text has the prefix of this kind; {@link isSecret} checks the rest. */
export function startsLikeSecret(kind: SecretKind, text: string): boolean {
  return text.startsWith(`${SECRET_PREFIXES[kind]}_`);
}

/** Returns true if the text has the shape and checksum of this kind; says nothing of whether it was issued. */
export function isSecret(kind: SecretKind, text: string): boolean {
  if (!SHAPES[kind].test(text)) return false;
  const checked = text.length - CHECKSUM_LENGTH;
  // Decoding the checksum is faster than encoding the expected one, and this runs for every token.
  let decoded = 0;
  for (let at = checked; at < text.length; at += 1) decoded = decoded * 62 + (DIGITS[text.charCodeAt(at)] as number);
  return decoded === Bun.hash.crc32(text.slice(0, checked));
}

/** Returns the SHA-256 of a secret, the only form that is stored. High-entropy input needs no salt or stretching. */
export function hashSecret(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

/** Returns the part of a secret that may be shown: the kind and its first eight characters. */
export function secretPrefix(text: string): string {
  return text.slice(0, text.indexOf('_') + 9);
}
