/** Bootstrap keys have the limits of any other key; a suite that calls with one all the time gives it higher ones first. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { hashSecret } from '@/core/secret.ts';
import type { Database } from '@/db/database.ts';
import { updateKey } from '@/store/api-keys.ts';
import { findKeyCredential } from '@/store/verification.ts';

export const ROOMY = { perMinute: 100_000, perDay: 100_000_000 };

/** Gives a key of a database limits that no test reaches by the way. */
export async function makeRoomy(db: Database, token: string): Promise<void> {
  await db.write(SYSTEM_ACTOR, async (unit) => {
    const { keyId } = (await findKeyCredential(unit, hashSecret(token), (row) => row))!;
    await updateKey(unit, keyId, ROOMY);
  });
}
