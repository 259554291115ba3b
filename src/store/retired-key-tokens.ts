/** Tokens that a rotation replaced at once, kept so that a client still using one gets a clear error. */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { prepared, rawChange } from '../db/statements.ts';
import { retiredKeyTokens } from './schema/credentials.ts';

const { placeholder } = sql;

const insertRow = rawChange<[Uint8Array, string, number]>(
  'INSERT INTO retired_key_tokens (token_hash, api_key_id, retired_at) VALUES (?, ?, ?)',
);

export async function retireKeyToken(
  unit: Unit,
  { id, tokenHash }: { readonly id: string; readonly tokenHash: Uint8Array },
): Promise<void> {
  await insertRow(unit, tokenHash, id, unit.now);
}

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
