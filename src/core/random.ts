/** The one source of randomness: everything unguessable comes from the operating system's generator through here. */
import { alphabet as alphabetOf, generateRandomString } from 'oslo/crypto';

/** Random values; none of them is predictable, but for `fraction`. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** A uniformly distributed decimal code, leading zeros kept. */
  digits(length: number): string;
  /** Characters of an alphabet, each uniformly distributed and independent of the others. */
  text(alphabet: string, length: number): string;
  /** A uniformly distributed number in [0, 1), for jitter only, never for secrets. */
  fraction(): number;
}

/** From the operating system's generator; `fraction` alone is not. */
export const systemRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  digits: (length) => generateRandomString(length, alphabetOf('0-9')),
  text: (alphabet, length) => generateRandomString(length, alphabet),
  fraction: () => Math.random(),
};
