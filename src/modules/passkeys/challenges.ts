/** Challenges of WebAuthn ceremonies: each of one purpose, good for five minutes and one answer. */
import { and, eq, isNull } from 'drizzle-orm';
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Random } from '../../core/random.ts';
import { type PASSKEY_PURPOSES, passkeyChallenges } from '../../db/schema/passkeys.ts';
import type { Unit } from '../../db/unit-of-work.ts';

export const CHALLENGE_LIFETIME_MS = 5 * MINUTE;
const CHALLENGE_BYTES = 32;

/** What a ceremony is for. A registration belongs to a session; a sign-in to none. */
export interface Ceremony {
  readonly purpose: (typeof PASSKEY_PURPOSES)[number];
  readonly applicationId: string;
  readonly sessionId: string | null;
}

export interface IssuedChallenge {
  readonly challengeId: string;
  readonly challenge: Uint8Array<ArrayBuffer>;
  readonly expiresAt: number;
}

export function issueChallenge({ tx, now }: Unit, random: Random, ceremony: Ceremony): IssuedChallenge {
  const challengeId = newId('challenge', now);
  const challenge = Buffer.from(random.bytes(CHALLENGE_BYTES));
  const expiresAt = now + CHALLENGE_LIFETIME_MS;
  tx.insert(passkeyChallenges)
    .values({ id: challengeId, ...ceremony, challenge, createdAt: now, expiresAt })
    .run();
  return { challengeId, challenge: new Uint8Array(challenge), expiresAt };
}

export interface UsedChallenge {
  readonly applicationId: string;
  readonly challenge: Buffer;
}

/**
 * Uses a challenge up, whether its answer is right or not. One for another purpose or session is as good as unknown.
 *
 * @throws {AppError} code_expired where there is none to use, code_consumed where it was used already.
 */
export function useChallenge(
  { tx, now }: Unit,
  challengeId: string,
  { purpose, sessionId }: Pick<Ceremony, 'purpose' | 'sessionId'>,
): UsedChallenge {
  const isTheOne = and(
    eq(passkeyChallenges.id, challengeId),
    eq(passkeyChallenges.purpose, purpose),
    sessionId === null ? isNull(passkeyChallenges.sessionId) : eq(passkeyChallenges.sessionId, sessionId),
  );
  const found = tx.select().from(passkeyChallenges).where(isTheOne).get();
  if (found && found.consumedAt !== null)
    throw new AppError('code_consumed', { message: 'This request was answered already; start again.' });
  if (!found || found.expiresAt <= now)
    throw new AppError('code_expired', { message: 'This request has expired; start again.' });
  tx.update(passkeyChallenges).set({ consumedAt: now }).where(eq(passkeyChallenges.id, challengeId)).run();
  return found;
}
