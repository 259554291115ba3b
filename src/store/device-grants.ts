/**
 * Device authorization grants: from the code a device shows to the key it is given. One that was made under another epoch
 * of its application than the present one is over, though its row does not say so: `applicationEpoch` is there to judge by.
 */
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type DeviceGrant, deviceGrants } from './schema/devices.ts';

export { DEVICE_GRANT_STATUSES, type DeviceGrant } from './schema/devices.ts';

const { placeholder } = sql;

const grantByDeviceCode = prepared((db) =>
  db
    .select()
    .from(deviceGrants)
    .where(eq(deviceGrants.deviceCodeHash, placeholder('hash')))
    .prepare(),
);

/** Whatever its state. @param hash of the code. */
export async function findDeviceGrantByDeviceCode(reader: Reader, hash: Buffer): Promise<DeviceGrant | undefined> {
  const [row] = await grantByDeviceCode(reader, { hash });
  return row;
}

const grantByUserCode = prepared((db) =>
  db
    .select()
    .from(deviceGrants)
    .where(eq(deviceGrants.userCodeDigest, placeholder('digest')))
    .prepare(),
);

/** Whatever its state. @param digest of the code's normal form. */
export async function findDeviceGrantByUserCode(reader: Reader, digest: Buffer): Promise<DeviceGrant | undefined> {
  const [row] = await grantByUserCode(reader, { digest });
  return row;
}

/** @returns false, and nothing is inserted, where another grant has the user code. */
export async function insertDeviceGrant(unit: Unit, grant: DeviceGrant): Promise<boolean> {
  const inserted = await orm(unit)
    .insert(deviceGrants)
    .values(grant)
    .onConflictDoNothing({ target: deviceGrants.userCodeDigest })
    .returning({ id: deviceGrants.id });
  return inserted.length > 0;
}

/** Changes what is named and leaves the rest. */
export async function updateDeviceGrant(unit: Unit, id: string, columns: Partial<DeviceGrant>): Promise<void> {
  await orm(unit).update(deviceGrants).set(columns).where(eq(deviceGrants.id, id));
}

const notePoll = prepared((db) =>
  db
    .update(deviceGrants)
    .set({ lastPolledAt: sql`${placeholder('now')}`, intervalSeconds: sql`${placeholder('intervalSeconds')}` })
    .where(eq(deviceGrants.id, placeholder('id')))
    .prepare(),
);

/** Notes a poll, and how long the device is to wait from now on. */
export async function noteDevicePoll(unit: Unit, id: string, intervalSeconds: number): Promise<void> {
  await notePoll(unit, { id, now: unit.now, intervalSeconds });
}

/**
 * Refuses what these memberships have approved and no device has come for yet.
 *
 * @param sessionIds only what was approved in these sessions; in any where it is left out.
 */
export async function denyApprovedGrants(
  unit: Unit,
  memberIds: readonly string[],
  sessionIds?: readonly string[],
): Promise<void> {
  await orm(unit)
    .update(deviceGrants)
    .set({ status: 'denied', decidedAt: unit.now })
    .where(
      and(
        inArray(deviceGrants.applicationUserId, [...memberIds]),
        eq(deviceGrants.status, 'approved'),
        sessionIds && inArray(deviceGrants.claimedSessionId, [...sessionIds]),
      ),
    );
}

/** What is left of the grants that these memberships decided on, for a person who is gone. */
export async function forgetDeviceGrants(unit: Unit, memberIds: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(deviceGrants)
    .where(inArray(deviceGrants.applicationUserId, [...memberIds]));
}
