/**
 * One-time codes by e-mail, and their wrong tries. Every lookup includes purpose and application, so a code never works
 * for another. A challenge stores the application's epoch: closing the application ends it without touching its row.
 */
import type { Reader, Unit } from '../db/database.ts';
import { change, pipelinedChange, query } from '../db/statements.ts';

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
  readonly isOutdated: boolean;
}

/** A challenge with the digest to compare a code with. */
export interface Challenge extends ChallengeState {
  readonly email: string;
  readonly codeDigest: Uint8Array;
  readonly data: Record<string, unknown> | null;
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

/** Inserts a challenge under the application's current epoch. */
export const insertChallenge = pipelinedChange<NewChallenge>(
  `INSERT INTO code_challenges (id, purpose, application_id, email, code_digest, wrong_tries, created_at, expires_at, data,
     session_id, application_epoch)
   SELECT :id, :purpose, id, :email, :codeDigest, 0, :now, :expiresAt, :data, :sessionId, session_epoch
   FROM applications WHERE id = :applicationId`,
);

const STATE = `c.id, c.application_id AS "applicationId", c.wrong_tries AS "wrongTries", c.created_at AS "createdAt",
  c.expires_at AS "expiresAt", c.consumed_at AS "consumedAt", c.dropped_at AS "droppedAt",
  c.application_epoch <> a.session_epoch AS "isOutdated"`;
const WHOLE = `${STATE}, c.email, c.code_digest AS "codeDigest", c.data, c.session_id AS "sessionId"`;
const CHALLENGES = 'code_challenges c JOIN applications a ON a.id = c.application_id';

type ChallengeRow = Omit<Challenge, 'data'> & { readonly data: string | null };

const WHOLE_CHALLENGES = `SELECT ${WHOLE} FROM ${CHALLENGES}`;

const byId = query.rows<ChallengeRow, { id: string; purpose: string }>(
  `${WHOLE_CHALLENGES} WHERE c.id = :id AND c.purpose = :purpose`,
);

/** Returns a challenge in any state; undefined for another purpose. */
export async function findChallenge(reader: Reader, purpose: string, id: string): Promise<Challenge | undefined> {
  const [row] = await byId(reader, { purpose, id });
  return row && readable(row);
}

function readable({ data, ...row }: ChallengeRow): Challenge {
  return { ...row, data: data === null ? null : (JSON.parse(data) as Record<string, unknown>) };
}

/** Returns the challenges sent to an address for a purpose after a time, in all applications, newest first. */
export const listChallengesTo = query.rows<ChallengeState, Pick<CodeOwner, 'email' | 'purpose'> & { since: number }>(
  `SELECT ${STATE} FROM ${CHALLENGES} WHERE c.email = :email AND c.purpose = :purpose AND c.created_at > :since
   ORDER BY c.created_at DESC, c.id DESC`,
);

const ofOwnerSince = change.rows<ChallengeRow, CodeOwner & { since: number }>(
  ({ held }) => `${WHOLE_CHALLENGES}
   WHERE c.email = :email AND c.purpose = :purpose AND c.application_id = :applicationId AND c.created_at > :since
   ORDER BY c.created_at, c.id ${held('c')}`,
);

/** Holds and returns the challenges sent after a time, in any state, oldest first. */
export async function holdChallengesOf(unit: Unit, owner: CodeOwner, since: number): Promise<Challenge[]> {
  return (await ofOwnerSince(unit, { ...owner, since })).map(readable);
}

/** Returns the challenges requested after a time by any session of the session's person, newest first. */
export const listChallengesOfPerson = query.rows<
  { createdAt: number },
  { sessionId: string; purpose: string; since: number }
>(
  `SELECT c.created_at AS "createdAt"
   FROM sessions t JOIN application_users o ON o.id = t.application_user_id
     JOIN application_users m ON m.user_id = o.user_id
     JOIN sessions s ON s.application_user_id = m.id
     JOIN code_challenges c ON c.session_id = s.id
   WHERE t.id = :sessionId AND c.purpose = :purpose AND c.created_at > :since
   ORDER BY c.created_at DESC`,
);

export type ChallengeKey = Pick<CodeOwner, 'email' | 'purpose'> & { readonly id: string };

/**
 * Finds the row by its address. New ids are neighbours in their index: changes that read them there would conflict in
 * PostgreSQL with those of other people.
 */
const update = (columns: string) =>
  pipelinedChange<ChallengeKey>(
    ({ unindexed }) => `UPDATE code_challenges SET ${columns}
     WHERE email = :email AND purpose = :purpose AND ${unindexed('id')} = :id`,
  );

/** Marks a challenge as used. The caller checks in the same change that it is still valid. */
export const consumeChallenge = update('consumed_at = :now');

/** Makes a challenge count as expired. */
export const dropChallenge = update('dropped_at = :now');

/** Invalidates an owner's open challenges. */
export const dropChallengesOf = pipelinedChange<CodeOwner>(
  ({ unindexed }) => `UPDATE code_challenges SET dropped_at = :now
   WHERE email = :email AND purpose = :purpose AND ${unindexed('application_id')} = :applicationId AND expires_at - :now > 0
     AND consumed_at IS NULL AND dropped_at IS NULL`,
);

/** Invalidates every code mailed to an address, for when its holder gives it up. */
export const dropCodesTo = change<string>(
  'UPDATE code_challenges SET dropped_at = :now WHERE email = :email AND consumed_at IS NULL AND dropped_at IS NULL',
);

/** The credential that asked for a proof: the session's token, or its page cookie, whose secret no application holds. */
export type ProofHolder = 'token' | 'page';

/** The proof to look for: a session's code of the purpose `proof`, and what it was given for. */
export interface ProofOf {
  readonly sessionId: string;
  readonly purpose: string;
  readonly target: string | null;
  /** The page cookie's proofs do not count for the token; the token's count for both. */
  readonly holder: ProofHolder;
}

/** Returns when the session last gave a code for this purpose and target, or for the whole session; null if never. */
export const findProofTime = query.aggregate<number | null, ProofOf & { now: number }>(
  ({ jsonText }) => `SELECT max(consumed_at) FROM code_challenges
   WHERE session_id = :sessionId AND purpose = 'proof' AND dropped_at IS NULL AND consumed_at <= :now
     AND coalesce(${jsonText('data', 'holder')}, 'token') IN ('token', :holder)
     AND (${jsonText('data', 'purpose')} = 'session' OR (${jsonText('data', 'purpose')} = :purpose
       AND ${jsonText('data', 'target')} IS NOT DISTINCT FROM :target))`,
);

/** Invalidates a session's proofs and the open codes for more. */
export const forgetProofs = change<string>(
  `UPDATE code_challenges SET dropped_at = :now WHERE session_id = :sessionId AND purpose = 'proof' AND dropped_at IS NULL`,
);

export const countWrongTry = update('wrong_tries = wrong_tries + 1');
