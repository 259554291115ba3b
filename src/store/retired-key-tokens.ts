/** Tokens of keys that a rotation has replaced at once, kept so that whoever still sends one is told. Retention takes them. */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { prepared, rawChange } from '../db/statements.ts';
import { retiredKeyTokens } from './schema/credentials.ts';

const { placeholder } = sql;

const insertRow = rawChange<[Uint8Array, string, number]>(
  'INSERT INTO retired_key_tokens (token_hash, api_key_id, retired_at) VALUES (?, ?, ?)',
);

/** Keeps the hash of a token that a key has no more. */
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

/** When the token with this hash was replaced; undefined for one that was not, or too long ago. */
export async function findRetiredKeyToken(
  reader: Reader,
  tokenHash: Uint8Array,
): Promise<{ readonly retiredAt: number } | undefined> {
  const [row] = await byHash(reader, { tokenHash });
  return row;
}
