/** Authorization codes, by hash. A used one stays until retention, so that its replay is recognised. */
import type { Unit } from '../db/database.ts';
import { change, note, pipelinedChange, query } from '../db/statements.ts';
import type { OAuthCode } from './schema/oauth.ts';

export type { OAuthCode } from './schema/oauth.ts';

export type NewOAuthCode = Omit<OAuthCode, 'codeHash' | 'createdAt' | 'usedAt' | 'sessionId' | 'apiKeyId'> & {
  readonly codeHash: Uint8Array;
};

export const insertOAuthCode = pipelinedChange<NewOAuthCode>(
  `INSERT INTO oauth_codes (code_hash, client_id, application_id, application_user_id, page_session_id, redirect_uri,
     code_challenge, scope, nonce, ip, ip_country, user_agent, created_at, expires_at, key_days)
   VALUES (:codeHash, :clientId, :applicationId, :applicationUserId, :pageSessionId, :redirectUri, :codeChallenge, :scope,
     :nonce, :ip, :ipCountry, :userAgent, :now, :expiresAt, :keyDays)`,
);

/** The person's id is that of the membership. */
const COLUMNS = `(SELECT m.user_id FROM application_users m WHERE m.id = application_user_id) AS "userId", client_id AS "clientId", application_id AS "applicationId", application_user_id AS "applicationUserId",
  page_session_id AS "pageSessionId", redirect_uri AS "redirectUri", code_challenge AS "codeChallenge", scope, nonce, ip,
  ip_country AS "ipCountry", user_agent AS "userAgent", expires_at AS "expiresAt", used_at AS "usedAt",
  session_id AS "sessionId", api_key_id AS "apiKeyId", key_days AS "keyDays"`;

export type FoundCode = Omit<OAuthCode, 'codeHash' | 'createdAt'> & { readonly userId: string };

/** Marks a code as used, once. @returns it, whoever asks and however old it is; undefined if unknown or used before. */
export const consumeOAuthCode = change.row<FoundCode, Uint8Array>(
  `UPDATE oauth_codes SET used_at = :now WHERE code_hash = :codeHash AND used_at IS NULL RETURNING ${COLUMNS}`,
);

/** Returns a code in any state. */
export const findOAuthCode = query.row<FoundCode, Uint8Array>(
  `SELECT ${COLUMNS} FROM oauth_codes WHERE code_hash = :codeHash`,
);

/** Stores what a code was exchanged for. */
export const noteOAuthCodeResult = note<{ codeHash: Uint8Array; sessionId: string | null; apiKeyId: string | null }>(
  'UPDATE oauth_codes SET session_id = :sessionId, api_key_id = :apiKeyId WHERE code_hash = :codeHash',
);

/** Marks all unused codes of a client as used. */
export const endOAuthCodesOf = note<string>(
  'UPDATE oauth_codes SET used_at = :now WHERE client_id = :clientId AND used_at IS NULL AND expires_at > :now',
);

const purgeCodes = change<{ memberIds: readonly string[] }>(
  ({ idList }) => `DELETE FROM oauth_codes WHERE application_user_id IN ${idList(':memberIds')}`,
);
const purgeRefreshTokens = change<{ memberIds: readonly string[] }>(
  ({ idList }) => `DELETE FROM oauth_refresh_tokens WHERE session_id IN (
     SELECT session_id FROM oauth_grants WHERE application_user_id IN ${idList(':memberIds')})`,
);

/**
 * Deletes codes and refresh tokens of a deleted person's memberships. Grants stay as long as those of others: a background
 * task ends the sessions, and a client is sent a logout token for each that has a grant.
 */
export async function purgeOAuthOf(unit: Unit, memberIds: readonly string[]): Promise<void> {
  await purgeCodes(unit, { memberIds });
  await purgeRefreshTokens(unit, { memberIds });
}
