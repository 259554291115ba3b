/** The only source of randomness: everything unguessable comes from the operating system's generator. */
import { alphabet as alphabetOf, generateRandomString } from 'oslo/crypto';

/** Random values, unpredictable except for `fraction`. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Returns a uniformly distributed decimal code, with leading zeros. */
  digits(length: number): string;
  /** Returns characters of an alphabet, each uniformly distributed and independent of the others. */
  text(alphabet: string, length: number): string;
  /** Returns a uniformly distributed number in [0, 1), for jitter only, never for secrets. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  digits: (length) => generateRandomString(length, alphabetOf('0-9')),
  text: (alphabet, length) => generateRandomString(length, alphabet),
  fraction: () => Math.random(),
};
