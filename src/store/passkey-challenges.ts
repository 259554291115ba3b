/** Challenges of WebAuthn ceremonies, each for one purpose and one response. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type PASSKEY_PURPOSES, passkeyChallenges } from './schema/passkeys.ts';

export type PasskeyChallenge = typeof passkeyChallenges.$inferSelect;

/** Purpose of a ceremony. Only a registration belongs to a session. */
export interface Ceremony {
  readonly purpose: (typeof PASSKEY_PURPOSES)[number];
  readonly applicationId: string;
  readonly sessionId: string | null;
}

export type Answered = Pick<Ceremony, 'purpose' | 'sessionId'>;

const { placeholder } = sql;

const insertRow = prepared((db) =>
  db
    .insert(passkeyChallenges)
    .values({
      id: placeholder('id'),
      purpose: placeholder('purpose'),
      applicationId: placeholder('applicationId'),
      sessionId: placeholder('sessionId'),
      challenge: placeholder('challenge'),
      createdAt: placeholder('now'),
      expiresAt: placeholder('expiresAt'),
    })
    .prepare(),
);

export async function insertPasskeyChallenge(
  unit: Unit,
  ceremony: Ceremony,
  { challenge, expiresAt }: Pick<PasskeyChallenge, 'challenge' | 'expiresAt'>,
): Promise<string> {
  const id = newId('challenge', unit.now);
  await insertRow(unit, { id, ...ceremony, challenge, expiresAt, now: unit.now });
  return id;
}

/** Treats a challenge of another purpose or session as unknown. */
const isFor = (id: string, { purpose, sessionId }: Answered) =>
  and(
    eq(passkeyChallenges.id, id),
    eq(passkeyChallenges.purpose, purpose),
    sessionId === null ? isNull(passkeyChallenges.sessionId) : eq(passkeyChallenges.sessionId, sessionId),
  );

/** Returns a challenge in any state; undefined for another purpose or session. */
export async function findPasskeyChallenge(
  reader: Reader,
  id: string,
  answered: Answered,
): Promise<PasskeyChallenge | undefined> {
  const [row] = await orm(reader).select().from(passkeyChallenges).where(isFor(id, answered));
  return row;
}

/** Marks a challenge as used, exactly once under concurrency. @returns undefined if it is unknown, used or expired. */
export async function consumePasskeyChallenge(
  unit: Unit,
  id: string,
  answered: Answered,
): Promise<PasskeyChallenge | undefined> {
  const [row] = await orm(unit)
    .update(passkeyChallenges)
    .set({ consumedAt: unit.now })
    .where(and(isFor(id, answered), isNull(passkeyChallenges.consumedAt), gt(passkeyChallenges.expiresAt, unit.now)))
    .returning();
  return row;
}
