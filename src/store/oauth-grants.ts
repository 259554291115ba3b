/** Grants of the sessions that code exchanges made, and their refresh tokens. */
import type { Reader } from '../db/database.ts';
import { change, note, pipelinedChange, query } from '../db/statements.ts';
import type { OAuthGrant } from './schema/oauth.ts';

export type { OAuthGrant } from './schema/oauth.ts';

export const insertOAuthGrant = pipelinedChange<Omit<OAuthGrant, 'createdAt'>>(
  `INSERT INTO oauth_grants (session_id, client_id, application_user_id, page_session_id, scope, created_at, expires_at)
   VALUES (:sessionId, :clientId, :applicationUserId, :pageSessionId, :scope, :now, :expiresAt)`,
);

/** Returns what a session was granted, however long ago; undefined for one that no code exchange made. */
export const findOAuthGrant = query.row<OAuthGrant, string>(
  `SELECT session_id AS "sessionId", client_id AS "clientId", application_user_id AS "applicationUserId",
     page_session_id AS "pageSessionId", scope, created_at AS "createdAt", expires_at AS "expiresAt"
   FROM oauth_grants WHERE session_id = :sessionId`,
);

const ofPages = query.values<string, { ids: readonly string[]; now: number }>(
  ({ idList }) => `SELECT session_id FROM oauth_grants
   WHERE page_session_id IN ${idList(':ids')} AND expires_at > :now ORDER BY session_id`,
);

/** Returns the sessions of clients that the hosted pages' sessions let in and that have not expired. */
export async function listClientSessionsOf(
  reader: Reader,
  pageSessionIds: readonly string[],
  now: number,
): Promise<string[]> {
  return pageSessionIds.length === 0 ? [] : ofPages(reader, { ids: pageSessionIds, now });
}

/** Hands the clients' sessions of one page session to the one that replaces it. */
export const moveClientSessions = note<{ from: string; to: string }>(
  'UPDATE oauth_grants SET page_session_id = :to WHERE page_session_id = :from',
);

export const extendOAuthGrant = note<{ sessionId: string; expiresAt: number }>(
  'UPDATE oauth_grants SET expires_at = :expiresAt WHERE session_id = :sessionId',
);

export const insertRefreshToken = pipelinedChange<{ tokenHash: Uint8Array; sessionId: string; expiresAt: number }>(
  `INSERT INTO oauth_refresh_tokens (token_hash, session_id, created_at, expires_at)
   VALUES (:tokenHash, :sessionId, :now, :expiresAt)`,
);

export interface RefreshToken {
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}

const TOKEN = 'session_id AS "sessionId", expires_at AS "expiresAt", used_at AS "usedAt"';

/** Marks a refresh token as used, once. @returns undefined if unknown or used before. */
export const consumeRefreshToken = change.row<RefreshToken, Uint8Array>(
  `UPDATE oauth_refresh_tokens SET used_at = :now WHERE token_hash = :tokenHash AND used_at IS NULL RETURNING ${TOKEN}`,
);

/** Returns a refresh token in any state. */
export const findRefreshToken = query.row<RefreshToken, Uint8Array>(
  `SELECT ${TOKEN} FROM oauth_refresh_tokens WHERE token_hash = :tokenHash`,
);
