/**
 * One-time codes by e-mail, and their wrong tries. Every lookup includes purpose and application, so a code never works
 * for another. A challenge stores the application's epoch: closing the application ends it without touching its row.
 */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

export interface CodeOwner {
  readonly purpose: string;
  readonly applicationId: string;
  /** Normalized. */
  readonly email: string;
}

export interface ChallengeState {
  readonly id: string;
  readonly applicationId: string;
  readonly wrongTries: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
  readonly droppedAt: number | null;
  /** The application was closed since. */
  readonly isOutdated: 0 | 1;
}

/** A challenge with the digest to compare a code with. */
export interface Challenge extends ChallengeState {
  readonly email: string;
  readonly codeDigest: Uint8Array;
  /** Payload of the code where the purpose alone is not enough. */
  readonly data: Record<string, unknown> | null;
  /** The only session that may redeem it; null if any may. */
  readonly sessionId: string | null;
}

/** A challenge with the digest of its code, never the code. */
export interface NewChallenge extends CodeOwner {
  readonly id: string;
  readonly codeDigest: Uint8Array;
  readonly data: Record<string, unknown> | null;
  readonly sessionId: string | null;
  readonly expiresAt: number;
}

const insertRow = rawChange<
  [string, string, string, string, Uint8Array, number, number, string | null, string | null, string]
>(
  `INSERT INTO code_challenges (id, purpose, application_id, email, code_digest, wrong_tries, created_at, expires_at, data,
     session_id, application_epoch)
   SELECT ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, session_epoch FROM applications WHERE id = ?`,
);

/** Inserts a challenge under the application's current epoch. */
export async function insertChallenge(unit: Unit, challenge: NewChallenge): Promise<void> {
  const { id, purpose, applicationId, email, codeDigest, expiresAt, data, sessionId } = challenge;
  const json = data && JSON.stringify(data);
  await insertRow(
    unit,
    ...[id, purpose, applicationId, email, codeDigest, unit.now, expiresAt, json, sessionId, applicationId],
  );
}

const STATE = `c.id, c.application_id AS "applicationId", c.wrong_tries AS "wrongTries", c.created_at AS "createdAt",
  c.expires_at AS "expiresAt", c.consumed_at AS "consumedAt", c.dropped_at AS "droppedAt",
  c.application_epoch <> a.session_epoch AS "isOutdated"`;
const WHOLE = `${STATE}, c.email, c.code_digest AS "codeDigest", c.data, c.session_id AS "sessionId"`;
const CHALLENGES = 'code_challenges c JOIN applications a ON a.id = c.application_id';

type ChallengeRow = Omit<Challenge, 'data'> & { readonly data: string | null };

const byId = raw<ChallengeRow, [string, string]>(
  `SELECT ${WHOLE} FROM ${CHALLENGES} WHERE c.id = +? AND c.purpose = +?`,
);

/** Returns a challenge in any state; undefined for another purpose. */
export async function findChallenge(reader: Reader, purpose: string, id: string): Promise<Challenge | undefined> {
  const [row] = await byId(reader, id, purpose);
  return row && readable(row);
}

function readable({ data, ...row }: ChallengeRow): Challenge {
  return { ...row, data: data === null ? null : (JSON.parse(data) as Record<string, unknown>) };
}

const sentSince = raw<ChallengeState, [string, string, number]>(
  `SELECT ${STATE} FROM ${CHALLENGES} WHERE c.email = +? AND c.purpose = +? AND c.created_at > +?
   ORDER BY c.created_at DESC, c.id DESC`,
);

/** Returns the challenges sent to an address for a purpose after a time, in all applications, newest first. */
export function listChallengesTo(
  reader: Reader,
  { email, purpose }: Pick<CodeOwner, 'email' | 'purpose'>,
  since: number,
): Promise<ChallengeState[]> {
  return sentSince(reader, email, purpose, since);
}

const ofOwnerSince = raw<ChallengeRow, [string, string, string, number]>(
  `SELECT ${WHOLE} FROM ${CHALLENGES}
   WHERE c.email = +? AND c.purpose = +? AND c.application_id = +? AND c.created_at > +?
   ORDER BY c.created_at, c.id`,
);

/** Returns the challenges sent after a time, in any state, oldest first. */
export async function listChallengesOf(
  reader: Reader,
  { email, purpose, applicationId }: CodeOwner,
  since: number,
): Promise<Challenge[]> {
  return (await ofOwnerSince(reader, email, purpose, applicationId, since)).map(readable);
}

const ofPersonSince = raw<{ createdAt: number }, [string, string, number]>(
  `SELECT c.created_at AS "createdAt"
   FROM sessions t JOIN application_users o ON o.id = t.application_user_id
     JOIN application_users m ON m.user_id = o.user_id
     JOIN sessions s ON s.application_user_id = m.id
     JOIN code_challenges c ON c.session_id = s.id
   WHERE t.id = ? AND c.purpose = ? AND c.created_at > ?
   ORDER BY c.created_at DESC`,
);

/** Returns the challenges requested after a time by any session of the session's person, newest first. */
export function listChallengesOfPerson(
  reader: Reader,
  { sessionId, purpose }: { readonly sessionId: string; readonly purpose: string },
  since: number,
): Promise<{ createdAt: number }[]> {
  return ofPersonSince(reader, sessionId, purpose, since);
}

const setConsumed = rawChange<[number, string]>('UPDATE code_challenges SET consumed_at = ? WHERE id = ?');

/** Marks a challenge as used. The caller checks in the same change that it is still valid. */
export async function consumeChallenge(unit: Unit, id: string): Promise<void> {
  await setConsumed(unit, unit.now, id);
}

const setDropped = rawChange<[number, string]>('UPDATE code_challenges SET dropped_at = ? WHERE id = ?');

/** Makes a challenge count as expired. */
export async function dropChallenge(unit: Unit, id: string): Promise<void> {
  await setDropped(unit, unit.now, id);
}

const setDroppedOf = rawChange<[number, string, string, string]>(
  `UPDATE code_challenges SET dropped_at = ?1
   WHERE email = ?2 AND purpose = ?3 AND +application_id = ?4 AND expires_at > ?1 AND consumed_at IS NULL
     AND dropped_at IS NULL`,
);

/** Invalidates an owner's open challenges. */
export async function dropChallengesOf(unit: Unit, { email, purpose, applicationId }: CodeOwner): Promise<void> {
  await setDroppedOf(unit, unit.now, email, purpose, applicationId);
}

const setDroppedTo = rawChange<[number, string]>(
  'UPDATE code_challenges SET dropped_at = ? WHERE email = ? AND consumed_at IS NULL AND dropped_at IS NULL',
);

/** Invalidates every code mailed to an address, for when its holder gives it up. */
export async function dropCodesTo(unit: Unit, email: string): Promise<void> {
  await setDroppedTo(unit, unit.now, email);
}

/** The proof to look for: a session's code of the purpose `proof`, and what it was given for. */
export interface ProofOf {
  readonly sessionId: string;
  readonly purpose: string;
  readonly target: string | null;
}

const proofTime = raw<{ provedAt: number | null }, [string, number, string, string | null]>(
  `SELECT max(consumed_at) AS "provedAt" FROM code_challenges
   WHERE session_id = ? AND purpose = 'proof' AND dropped_at IS NULL AND consumed_at <= ?
     AND (data ->> '$.purpose' = 'session' OR (data ->> '$.purpose' = ? AND data ->> '$.target' IS ?))`,
);

/** Returns when the session last gave a code for this purpose and target, or for the whole session; null if never. */
export async function findProofTime(
  reader: Reader,
  { sessionId, purpose, target }: ProofOf,
  now: number,
): Promise<number | null> {
  const [row] = await proofTime(reader, sessionId, now, purpose, target);
  return row?.provedAt ?? null;
}

const dropProofs = rawChange<[number, string]>(
  `UPDATE code_challenges SET dropped_at = ? WHERE session_id = ? AND purpose = 'proof' AND dropped_at IS NULL`,
);

/** Invalidates a session's proofs and the open codes for more. */
export async function forgetProofs(unit: Unit, sessionId: string): Promise<void> {
  await dropProofs(unit, unit.now, sessionId);
}

const addWrongTry = rawChange<[string]>('UPDATE code_challenges SET wrong_tries = wrong_tries + 1 WHERE id = ?');

export async function countWrongTry(unit: Unit, id: string): Promise<void> {
  await addWrongTry(unit, id);
}
