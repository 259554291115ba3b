/**
 * Device authorization grants (RFC 8628). Callers compare `applicationEpoch`: a grant from another epoch of its
 * application has ended, though its row does not say so.
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

/** Returns a grant in any state. @param hash of the device code. */
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

/** Returns a grant in any state. @param digest of the normalized user code. */
export async function findDeviceGrantByUserCode(reader: Reader, digest: Buffer): Promise<DeviceGrant | undefined> {
  const [row] = await grantByUserCode(reader, { digest });
  return row;
}

/** Inserts a grant. @returns false, without inserting, if another grant has the user code. */
export async function insertDeviceGrant(unit: Unit, grant: DeviceGrant): Promise<boolean> {
  const inserted = await orm(unit)
    .insert(deviceGrants)
    .values(grant)
    .onConflictDoNothing({ target: deviceGrants.userCodeDigest })
    .returning({ id: deviceGrants.id });
  return inserted.length > 0;
}

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

/** Stores the time of a poll, and the poll interval from now on. */
export async function noteDevicePoll(unit: Unit, id: string, intervalSeconds: number): Promise<void> {
  await notePoll(unit, { id, now: unit.now, intervalSeconds });
}

/** Denies approved grants that no device has redeemed yet. @param sessionIds where approved; any session if absent. */
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

/** Deletes the grants decided by a deleted person's memberships. */
export async function purgeDeviceGrants(unit: Unit, memberIds: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(deviceGrants)
    .where(inArray(deviceGrants.applicationUserId, [...memberIds]));
}
