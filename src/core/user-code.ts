/** The code a person carries from a device to a browser: generation, parsing and display. */
import type { Random } from './random.ts';

/** No vowels, so that no words come out, and no characters that are easily confused (RFC 8628 §6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const SHAPE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);
const MAX_TYPED = 100;

/** Returns a new code in its normal form, 34.5 bits. */
export function mintUserCode(random: Random): string {
  return random.text(ALPHABET, LENGTH);
}

/** Returns the normal form of a typed or pasted code, ignoring case and punctuation; null if it is no code. */
export function normalizeUserCode(typed: string): string | null {
  const code = typed.length > MAX_TYPED ? '' : lettersOf(typed);
  return SHAPE.test(code) ? code : null;
}

/** Returns the code as `XXXX-XXXX`, or the part typed so far. */
export function formatUserCode(typed: string): string {
  const code = lettersOf(typed.slice(0, MAX_TYPED)).slice(0, LENGTH);
  return code.length > LENGTH / 2 ? `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}` : code;
}

function lettersOf(typed: string): string {
  return typed
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '');
}
