/** Tokens that a rotation replaced at once, kept so that a client still using one gets a clear error. */
import { eq, sql } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { change, prepared } from '../db/statements.ts';
import { retiredKeyTokens } from './schema/credentials.ts';

const { placeholder } = sql;

export const retireKeyToken = change<{ id: string; tokenHash: Uint8Array }>(
  'INSERT INTO retired_key_tokens (token_hash, api_key_id, retired_at) VALUES (:tokenHash, :id, :now)',
);

const byHash = prepared((db) =>
  db
    .select()
    .from(retiredKeyTokens)
    .where(eq(retiredKeyTokens.tokenHash, placeholder('tokenHash')))
    .prepare(),
);

/** Returns when the token was replaced; undefined if it was not, or if the record has been deleted. */
export async function findRetiredKeyToken(
  reader: Reader,
  tokenHash: Uint8Array,
): Promise<{ readonly retiredAt: number } | undefined> {
  const [row] = await byHash(reader, { tokenHash });
  return row;
}
