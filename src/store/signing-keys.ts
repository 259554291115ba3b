/** Keys that sign ID tokens and logout tokens. The private part is sealed. */
import { desc, eq, gt, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, query } from '../db/statements.ts';
import { type PublicJwk, type SigningKey, signingKeys } from './schema/oauth.ts';

export type { SigningKey } from './schema/oauth.ts';

export type SigningAlgorithm = SigningKey['alg'];

/** Returns the public keys of an age, newest first. @param since leaves out keys that had ended signing by then. */
export async function listPublicKeys(reader: Reader, since: number): Promise<{ id: string; publicJwk: PublicJwk }[]> {
  return orm(reader)
    .select({ id: signingKeys.id, publicJwk: signingKeys.publicJwk })
    .from(signingKeys)
    .where(gt(signingKeys.signsUntil, since))
    .orderBy(desc(signingKeys.id));
}

/** Returns the key that signs now; undefined before the first one. */
export const findSigningKey = query.row<
  Pick<SigningKey, 'id' | 'sealedPrivateJwk'>,
  { alg: SigningAlgorithm; now: number }
>(
  `SELECT id, sealed_private_jwk AS "sealedPrivateJwk" FROM signing_keys
   WHERE alg = :alg AND signs_from <= :now AND signs_until > :now ORDER BY signs_until DESC LIMIT 1`,
);

const byId = prepared((db) =>
  db
    .select({ alg: signingKeys.alg, publicJwk: signingKeys.publicJwk })
    .from(signingKeys)
    .where(eq(signingKeys.id, sql.placeholder('id')))
    .prepare(),
);

/** Returns a key by its `kid`, whether or not it signs. */
export async function findPublicKey(
  reader: Reader,
  id: string,
): Promise<Pick<SigningKey, 'alg' | 'publicJwk'> | undefined> {
  const [key] = await byId(reader, { id });
  return key;
}

/** Returns when the last key of an algorithm ends signing, in epoch milliseconds; null without any. */
export const findLastKeyEnd = query.aggregate<number | null, SigningAlgorithm>(
  'SELECT max(signs_until) FROM signing_keys WHERE alg = :alg',
);

export async function insertSigningKey(unit: Unit, key: Omit<SigningKey, 'createdAt'>): Promise<void> {
  await orm(unit)
    .insert(signingKeys)
    .values({ ...key, createdAt: unit.now });
}
