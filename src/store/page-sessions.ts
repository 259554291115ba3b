/** The page cookie's part of a session: the hash of its secret, and what continues from it. */
import { inArray } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { change, note, orm, query } from '../db/statements.ts';
import { sessions } from './schema/credentials.ts';

/** Returns the hash of a session's page secret; null without one, undefined for an unknown session. */
export const findPageTokenHash = query.value<Uint8Array | null, string>(
  'SELECT page_token_hash AS "hash" FROM sessions WHERE id = :id',
);

/** The hashes by which a browser may hold a session. */
export interface HeldHashes {
  readonly sessionId: string;
  readonly tokenHash: Uint8Array;
  readonly pageTokenHash: Uint8Array | null;
}

const heldById = query.rows<HeldHashes, { ids: readonly string[] }>(
  ({ idList }) => `SELECT id AS "sessionId", token_hash AS "tokenHash", page_token_hash AS "pageTokenHash"
   FROM sessions WHERE id IN ${idList(':ids')}`,
);

/** Built at each call, which few browsers cause: their cookies name sessions by id. */
function heldByToken(reader: Reader, tokenHashes: readonly Uint8Array[]): Promise<HeldHashes[]> {
  const hashes = tokenHashes.map((hash) => Buffer.from(hash));
  return orm(reader)
    .select({ sessionId: sessions.id, tokenHash: sessions.tokenHash, pageTokenHash: sessions.pageTokenHash })
    .from(sessions)
    .where(inArray(sessions.tokenHash, hashes))
    .execute();
}

/** Returns the sessions with one of these ids or tokens, ended or not. */
export async function findHeldHashes(
  reader: Reader,
  { sessionIds, tokenHashes }: { readonly sessionIds: readonly string[]; readonly tokenHashes: readonly Uint8Array[] },
): Promise<HeldHashes[]> {
  const [byId, byToken] = await Promise.all([
    sessionIds.length > 0 ? heldById(reader, { ids: sessionIds }) : [],
    tokenHashes.length > 0 ? heldByToken(reader, tokenHashes) : [],
  ]);
  return [...byId, ...byToken];
}

/** A session as its page cookie continues it. */
export interface ContinuedSession {
  readonly method: string;
  readonly credentialId: string | null;
  readonly createdAt: number;
  readonly authenticatedAt: number | null;
  readonly expiresAt: number;
  /** No application was given a token of it. */
  readonly isOfPageOnly: boolean;
}

export const findContinuedSession = query.row<ContinuedSession, string>(
  `SELECT method, credential_id AS "credentialId", created_at AS "createdAt", authenticated_at AS "authenticatedAt",
     expires_at AS "expiresAt", token_hash = page_token_hash AS "isOfPageOnly"
   FROM sessions WHERE id = :id AND page_token_hash IS NOT NULL`,
);

export const findSessionIdByToken = query.value<string, Uint8Array>('SELECT id FROM sessions WHERE token_hash = :hash');

const setPageHash = note<{ sessionId: string; hash: Uint8Array | null }>(
  'UPDATE sessions SET page_token_hash = :hash WHERE id = :sessionId',
);

const setBothHashes = change<{ sessionId: string; hash: Uint8Array }>(
  'UPDATE sessions SET page_token_hash = :hash, token_hash = :hash WHERE id = :sessionId',
  { rowId: 'sessionId' },
);

/** Gives a session a page secret. @param isOfPageOnly ends the token at once, for pages that need none. */
export async function insertPageSecret(
  unit: Unit,
  {
    isOfPageOnly,
    ...secret
  }: { readonly sessionId: string; readonly hash: Uint8Array; readonly isOfPageOnly: boolean },
): Promise<void> {
  await (isOfPageOnly ? setBothHashes : setPageHash)(unit, secret);
}

/** Takes the page secret away; the session's token stays valid. */
export async function deletePageSecret(unit: Unit, sessionId: string): Promise<void> {
  await setPageHash(unit, { sessionId, hash: null });
}
