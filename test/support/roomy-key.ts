/** Raises a bootstrap key's rate limits, which a suite with one key would otherwise reach. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { hashSecret } from '@/core/secret.ts';
import type { Database } from '@/db/database.ts';
import { updateKey } from '@/store/api-keys.ts';
import { findKeyCredential } from '@/store/verification.ts';

export const ROOMY = { perMinute: 100_000, perDay: 100_000_000 };

/** Raises the limits of a key in a database beyond any test's use. */
export async function makeRoomy(db: Database, token: string): Promise<void> {
  await db.write(SYSTEM_ACTOR, async (unit) => {
    const { keyId } = (await findKeyCredential(unit, hashSecret(token), (row) => row))!;
    await updateKey(unit, keyId, ROOMY);
  });
}
