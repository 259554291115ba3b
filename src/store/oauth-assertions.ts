/** Used assertions of OAuth clients, by hash. */
import { note } from '../db/statements.ts';

/** Marks an assertion as used until it expires. @returns 0 if it was used before. */
export const insertOAuthAssertion = note<{ hash: Uint8Array; expiresAt: number }>(
  'INSERT INTO oauth_assertions (assertion_hash, expires_at) VALUES (:hash, :expiresAt) ON CONFLICT DO NOTHING',
);
