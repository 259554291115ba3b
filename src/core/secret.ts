/**
 * Bearer secrets: minting, recognising and hashing them. A secret is a kind prefix, 256 random bits in base62 and a
 * CRC32 in base62, so that a mistyped or made-up one is refused before any look-up and scanners can recognise ours.
 */
import type { Random } from './random.ts';

/** What a secret of each kind begins with, before an underscore. */
export const SECRET_PREFIXES = {
  apiKey: 'eak',
  session: 'est',
  clientSecret: 'ecs',
  setup: 'egs',
  webhook: 'whsec',
  deviceCode: 'edc',
  /** The `state` of a sign-in under way at a provider. */
  providerState: 'eps',
  /** What ties such a sign-in to the browser it began in. */
  browser: 'ebr',
  /** Of the link that undoes a change of address. */
  emailUndo: 'egu',
} as const;

export type SecretKind = keyof typeof SECRET_PREFIXES;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The value of each character by its code. */
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

/** A new secret in plain text. The caller shows it once and stores only {@link hashSecret} and {@link secretPrefix}. */
export function mintSecret(kind: SecretKind, random: Random): string {
  const value = BigInt(`0x${random.bytes(32).toHex()}`);
  const body = `${SECRET_PREFIXES[kind]}_${base62(value, RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** Whether the text begins as a secret of this kind does, to tell kinds apart before {@link isSecret} checks the rest. */
export function startsLikeSecret(kind: SecretKind, text: string): boolean {
  return text.startsWith(`${SECRET_PREFIXES[kind]}_`);
}

/** True when the text has the shape and checksum of a secret of this kind; says nothing of whether it was issued. */
export function isSecret(kind: SecretKind, text: string): boolean {
  if (!SHAPES[kind].test(text)) return false;
  const checked = text.length - CHECKSUM_LENGTH;
  // Read as a number, which is faster than to write down what it should be: this is asked of every token.
  let said = 0;
  for (let at = checked; at < text.length; at += 1) said = said * 62 + (DIGITS[text.charCodeAt(at)] as number);
  return said === Bun.hash.crc32(text.slice(0, checked));
}

/** SHA-256 of a secret, the only form that is stored. High-entropy input, so no salt or stretching is needed. */
export function hashSecret(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

/** What may be shown of a secret to tell it from others: the kind and its first eight characters. */
export function secretPrefix(text: string): string {
  return text.slice(0, text.indexOf('_') + 9);
}
