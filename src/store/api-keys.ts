/**
 * API keys: backend keys of applications and workspaces with a synthetic principal each, and personal keys (devices).
 * A personal key acts as a person's membership and has ended once its epoch differs from the application's. The member's
 * epoch does not matter: pausing a member only suspends devices.
 */
import { and, count, desc, eq, gt, inArray, isNull, lt, not, or, type SQL, sql } from 'drizzle-orm';
import { onlyOne, required } from '../core/required.ts';
import { type Reader, topicForAll, type Unit } from '../db/database.ts';
import { changeReturningIds, note, orm, ormFor, prepared, query } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { applications } from './schema/applications.ts';
import { apiKeys } from './schema/credentials.ts';
import { deviceGrants } from './schema/devices.ts';
import { applicationUsers, type MembershipStatus } from './schema/users.ts';

export { KEY_ACCESS } from './schema/credentials.ts';

export type ApiKey = typeof apiKeys.$inferSelect;
export type NewApiKey = typeof apiKeys.$inferInsert;

/** Owner of a key: an application, or with `applicationId` null the workspace itself. */
export interface KeyOwner {
  readonly workspaceId: string;
  readonly applicationId: string | null;
}

export interface HeldKey {
  readonly key: ApiKey;
  readonly userId: string;
  readonly status: MembershipStatus;
  /** The application of the key's membership. */
  readonly homeId: string;
}

export interface KeysBefore {
  readonly before: string | undefined;
  readonly limit: number;
}

const { placeholder } = sql;

/** Literal, to match the partial indexes. */
const IS_PERSONAL = sql`${apiKeys.source} = 'device'`;

const FORGOTTEN = 'Device of a deleted account';

function selectHeldKeys(reader: Reader, { workspaceId, applicationId }: KeyOwner, condition: SQL | undefined) {
  return orm(reader)
    .select({
      key: apiKeys,
      userId: applicationUsers.userId,
      status: applicationUsers.status,
      homeId: applicationUsers.applicationId,
    })
    .from(apiKeys)
    .innerJoin(applicationUsers, eq(applicationUsers.id, apiKeys.applicationUserId))
    .where(
      and(
        eq(apiKeys.workspaceId, workspaceId),
        applicationId === null ? isNull(apiKeys.applicationId) : eq(apiKeys.applicationId, applicationId),
        condition,
      ),
    );
}

/** Returns a key of this owner in any state. */
export async function findKey(reader: Reader, owner: KeyOwner, id: string): Promise<HeldKey | undefined> {
  const [row] = await selectHeldKeys(reader, owner, eq(apiKeys.id, id));
  return row;
}

/** Kinds of keys: `device` for personal keys, `api` for all others. */
export const KEY_SOURCES = ['api', 'device'] as const;

/** Returns an owner's keys, newest first. @param source both kinds if absent. */
export async function listKeys(
  reader: Reader,
  owner: KeyOwner,
  { before, limit, source }: KeysBefore & { readonly source?: (typeof KEY_SOURCES)[number] },
): Promise<HeldKey[]> {
  const isBefore = before === undefined ? undefined : lt(apiKeys.id, before);
  const isOfSource = source && (source === 'device' ? IS_PERSONAL : not(IS_PERSONAL));
  return selectHeldKeys(reader, owner, and(isBefore, isOfSource)).orderBy(desc(apiKeys.id)).limit(limit);
}

/** Returns any key, in any state and of any owner. */
export async function requireKey(reader: Reader, id: string): Promise<ApiKey> {
  const [key] = await orm(reader).select().from(apiKeys).where(eq(apiKeys.id, id));
  return required(key, `key ${id}`);
}

/** Returns the newest key of a principal, which a rotation may have added. */
export async function requireNewestKeyOf(reader: Reader, memberId: string): Promise<ApiKey> {
  const [key] = await orm(reader)
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.applicationUserId, memberId))
    .orderBy(desc(apiKeys.id))
    .limit(1);
  return required(key, `the key of ${memberId}`);
}

const idByToken = prepared((db) =>
  db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(eq(apiKeys.tokenHash, placeholder('tokenHash')))
    .prepare(),
);

/** Returns whether a key with this token exists, in any state. */
export async function isTokenKnown(reader: Reader, tokenHash: Buffer): Promise<boolean> {
  return (await idByToken(reader, { tokenHash })).length > 0;
}

/** Returns the personal key that a key is or ends with; null for an independent key, undefined for an unknown id. */
export const findDeviceKeyBehind = query.value<string | null, string>(
  `SELECT CASE WHEN source = 'device' THEN id ELSE device_key_id END FROM api_keys WHERE id = :id`,
);

/** Returns the key with this token, in any state and of any owner. */
export async function findKeyByToken(reader: Reader, tokenHash: Buffer): Promise<ApiKey | undefined> {
  const [row] = await idByToken(reader, { tokenHash });
  return row && requireKey(reader, row.id);
}

/** Inserts a key. @param key contains the hash of the token, never the token. */
export function insertKey(unit: Unit, key: NewApiKey): Promise<ApiKey> {
  return insertOne(unit, apiKeys, key);
}

/** Ids of keys that may have ended or changed their token; notifies open streams of every instance. */
export const KEYS_CHANGED = topicForAll<string>('keys changed');

/** Updates a key and its `updatedAt`, and notifies. @returns the updated row. */
export function updateKey(unit: Unit, id: string, columns: Partial<ApiKey>): Promise<ApiKey> {
  unit.publish(KEYS_CHANGED, id);
  return updateOne(unit, apiKeys, id, { ...columns, updatedAt: unit.now });
}

/** Ends open keys of a principal. @returns the number ended; fewer than `limit` if none is left. */
export const endSharedKeys = changeReturningIds<{ memberId: string; limit: number }>(
  `UPDATE api_keys SET revoked_at = :now, updated_at = :now WHERE id IN (
     SELECT id FROM api_keys WHERE application_user_id = :memberId AND revoked_at IS NULL LIMIT :limit)
   RETURNING id`,
);

const pastItsTime = (limit: string) =>
  (['expires_at', 'grace_period_ends_at'] as const)
    .map(
      (column) =>
        `SELECT id FROM (SELECT id FROM api_keys WHERE ${column} <= :now AND ended_at IS NULL LIMIT ${limit}) AS ${column}_passed`,
    )
    .join(' UNION ALL ');

/** Returns whether a key is past its expiry or grace period at a time, and not yet marked as ended. */
export const isAnyKeyPastItsTime = query.exists<number>(pastItsTime('1'));

/** Marks up to `limit` expired keys and up to `limit` keys past their grace as ended, so that no clock step revives one. */
export const endKeysByTime = changeReturningIds<number>(
  `UPDATE api_keys SET ended_at = :now WHERE id IN (${pastItsTime(':limit')}) RETURNING id`,
);

/** Updates the last use, never backwards. */
export const noteKeyUse = note<{ id: string; at: number }>(
  'UPDATE api_keys SET last_used_at = :at WHERE id = :id AND coalesce(last_used_at, 0) < :at',
);

export interface HeldDevice {
  readonly key: ApiKey;
  readonly application: { readonly id: string; readonly name: string };
  /** Origin of the device request; null once that request is deleted. */
  readonly place: { readonly ip: string | null; readonly ipCountry: string | null } | null;
  /** Ended for good, by its row or by its application's epoch. */
  readonly isOver: boolean;
}

/** Scope of a device list: a person's devices, optionally only in one workspace's applications. */
export interface DeviceOwner {
  readonly userId: string;
  readonly workspaceId: string | null;
}

const IS_OPEN = and(isNull(apiKeys.revokedAt), eq(apiKeys.epoch, applications.sessionEpoch));

/** Joins through the member, which is indexed. */
const grantOfKey = and(eq(deviceGrants.applicationUserId, applicationUsers.id), eq(deviceGrants.apiKeyId, apiKeys.id));

function selectDevices(reader: Reader, { userId, workspaceId }: DeviceOwner, condition: SQL | undefined) {
  return orm(reader)
    .select({
      key: apiKeys,
      application: { id: applications.id, name: applications.name },
      place: { ip: deviceGrants.ip, ipCountry: deviceGrants.ipCountry },
      isOver: sql<boolean>`NOT (${IS_OPEN})`.mapWith(Boolean),
    })
    .from(applicationUsers)
    .innerJoin(apiKeys, eq(apiKeys.applicationUserId, applicationUsers.id))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .leftJoin(deviceGrants, grantOfKey)
    .where(
      and(
        eq(applicationUsers.userId, userId),
        workspaceId === null ? undefined : eq(applications.workspaceId, workspaceId),
        IS_PERSONAL,
        condition,
      ),
    );
}

/** Returns a device within the scope, in any state. */
export async function findDevice(reader: Reader, owner: DeviceOwner, keyId: string): Promise<HeldDevice | undefined> {
  const [row] = await selectDevices(reader, owner, eq(apiKeys.id, keyId));
  return row;
}

/** Returns the devices that work at `now`, newest first. */
export async function listDevices(
  reader: Reader,
  owner: DeviceOwner,
  { before, limit, now }: KeysBefore & { readonly now: number },
): Promise<HeldDevice[]> {
  const works = and(
    eq(applicationUsers.status, 'active'),
    IS_OPEN,
    isNull(apiKeys.endedAt),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
    before === undefined ? undefined : lt(apiKeys.id, before),
  );
  return selectDevices(reader, owner, works).orderBy(desc(apiKeys.id)).limit(limit);
}

/** Returns the devices in scope that have not ended, suspended ones included. */
export function listOpenDevices(reader: Reader, owner: DeviceOwner): Promise<HeldDevice[]> {
  return selectDevices(reader, owner, IS_OPEN);
}

const openDevices = prepared((db) =>
  db
    .select({ count: count() })
    .from(applicationUsers)
    .innerJoin(apiKeys, eq(apiKeys.applicationUserId, applicationUsers.id))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(and(eq(applicationUsers.userId, placeholder('userId')), IS_PERSONAL, IS_OPEN))
    .prepare(),
);

/** Returns how many devices of a person have not ended, suspended ones included. */
export async function countDevices(reader: Reader, userId: string): Promise<number> {
  return onlyOne(await openDevices(reader, { userId })).count;
}

const endOutdatedKeys = changeReturningIds<{ applicationId: string; limit: number }>(
  `UPDATE api_keys SET revoked_at = :now, updated_at = :now WHERE id IN (
     SELECT id FROM api_keys
     WHERE application_id = :applicationId AND source = 'device' AND revoked_at IS NULL
       AND epoch < (SELECT session_epoch FROM applications WHERE id = :applicationId)
     LIMIT :limit) RETURNING id`,
);

export type EndingKeys =
  | { readonly keyId: string }
  | { readonly memberIds: readonly string[] }
  /** At most `limit` keys that the application's epoch has ended and whose rows do not say so yet. */
  | { readonly applicationId: string; readonly limit: number };

/** Ends the selected open personal keys for good; never touches other keys. @returns the number ended. */
export async function endPersonalKeys(unit: Unit, whose: EndingKeys): Promise<number> {
  const { now } = unit;
  if ('applicationId' in whose) return endOutdatedKeys(unit, whose);
  const isTheirs = 'keyId' in whose ? eq(apiKeys.id, whose.keyId) : ofMembers(whose.memberIds);
  const ended = await ormFor(unit, 'keyId' in whose ? [whose.keyId] : whose.memberIds)
    .update(apiKeys)
    .set({ revokedAt: now, updatedAt: now })
    .where(and(isTheirs, IS_PERSONAL, isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  for (const { id } of ended) unit.publish(KEYS_CHANGED, id);
  await endKeysMadeWith(
    unit,
    ended.map(({ id }) => id),
  );
  return ended.length;
}

/** Stores the end of keys made with these devices; verification refuses them already. */
async function endKeysMadeWith(unit: Unit, deviceKeyIds: readonly string[]): Promise<void> {
  if (deviceKeyIds.length === 0) return;
  const ended = await ormFor(unit, deviceKeyIds)
    .update(apiKeys)
    .set({ revokedAt: unit.now, updatedAt: unit.now })
    .where(and(inArray(apiKeys.deviceKeyId, [...deviceKeyIds]), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  for (const { id } of ended) unit.publish(KEYS_CHANGED, id);
}

/** Ends the personal keys of a deleted person's memberships and erases their names. */
export async function forgetPersonalKeys(unit: Unit, memberIds: readonly string[]): Promise<void> {
  await endPersonalKeys(unit, { memberIds });
  await ormFor(unit, memberIds)
    .update(apiKeys)
    .set({ name: FORGOTTEN })
    .where(and(ofMembers(memberIds), IS_PERSONAL));
}

function ofMembers(memberIds: readonly string[]): SQL {
  return inArray(apiKeys.applicationUserId, [...memberIds]);
}
