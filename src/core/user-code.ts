/** The code a person carries from a device to a browser: how it is made, read back however it was typed, and shown. */
import type { Random } from './random.ts';

/** No vowels, so that no words come out, and nothing that is taken for another (RFC 8628 §6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const SHAPE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);
const MAX_TYPED = 100;

/** A new code in its normal form, 34.5 bits. */
export function mintUserCode(random: Random): string {
  return random.text(ALPHABET, LENGTH);
}

/** The normal form of what somebody typed or pasted, whatever its case and punctuation; null for no code at all. */
export function normalizeUserCode(typed: string): string | null {
  const code = typed.length > MAX_TYPED ? '' : lettersOf(typed);
  return SHAPE.test(code) ? code : null;
}

/** As people read it: `XXXX-XXXX`; one that is still being typed, as far as it goes. */
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
