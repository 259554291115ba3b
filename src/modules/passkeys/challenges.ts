/** WebAuthn challenges: each for one purpose, valid for five minutes and one answer. */
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Random } from '../../core/random.ts';
import type { Unit } from '../../db/database.ts';
import {
  type Answered,
  type Ceremony,
  consumePasskeyChallenge,
  findPasskeyChallenge,
  insertPasskeyChallenge,
} from '../../store/passkey-challenges.ts';

export const CHALLENGE_LIFETIME_MS = 5 * MINUTE;
const CHALLENGE_BYTES = 32;

/** `expiresAt` is in epoch milliseconds. */
export interface IssuedChallenge {
  readonly challengeId: string;
  readonly challenge: Uint8Array<ArrayBuffer>;
  readonly expiresAt: number;
}

/** Draws 32 random bytes (WebAuthn §13.4.3 asks for 16 at least). */
export async function issueChallenge(unit: Unit, random: Random, ceremony: Ceremony): Promise<IssuedChallenge> {
  const challenge = Buffer.from(random.bytes(CHALLENGE_BYTES));
  const expiresAt = unit.now + CHALLENGE_LIFETIME_MS;
  const challengeId = await insertPasskeyChallenge(unit, ceremony, { challenge, expiresAt });
  return { challengeId, challenge: new Uint8Array(challenge), expiresAt };
}

export interface UsedChallenge {
  readonly applicationId: string;
  readonly challenge: Buffer;
}

/**
 * Consumes a challenge, whether its answer is right or not. One for another purpose or session counts as unknown.
 *
 * @throws {AppError} code_expired if there is none, code_consumed if it was answered already.
 */
export async function useChallenge(unit: Unit, challengeId: string, answered: Answered): Promise<UsedChallenge> {
  const used = await consumePasskeyChallenge(unit, challengeId, answered);
  if (used) return used;
  const known = await findPasskeyChallenge(unit, challengeId, answered);
  if (known && known.consumedAt !== null) throw new AppError('code_consumed', { hint: 'passkey_challenge_answered' });
  throw new AppError('code_expired', { hint: 'passkey_challenge_expired' });
}
