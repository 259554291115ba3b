/**
 * Personal keys: what the device grant gives to a person, and what they can do with theirs. A personal key has no
 * principal of its own; it hangs on the person's membership, and is judged live by it.
 */
import { and, asc, desc, eq, gt, inArray, isNull, lt, or, type SQL } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { mintSecret } from '../../core/secret.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { type Application, applications } from '../../db/schema/applications.ts';
import { type ApiKey, apiKeys } from '../../db/schema/credentials.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import { workspaceMembers } from '../../db/schema/workspace-members.ts';
import type { Database, Orm, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { accountChangeMail } from '../../mail/messages/account.ts';
import { mailNotice } from '../account/notice.ts';
import { type ApplicationUser, findUser } from '../users/members.ts';
import { DEFAULT_RATE_LIMITS, type DeviceRecord } from './model.ts';
import { tokenColumns } from './token.ts';

const MAX_PERSONAL_KEYS = 50;
const FORGOTTEN = 'Device of a deleted account';

export interface PersonalKeyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
}

export interface NewPersonalKey {
  /** The membership of the person, who is the unit's actor. */
  readonly member: ApplicationUser;
  readonly application: Application;
  readonly workspaceId: string;
  readonly name: string;
}

export type PersonalKeys = ReturnType<typeof personalKeyService>;

export function personalKeyService({ db, clock, random }: PersonalKeyDependencies) {
  function seatsOf({ tx }: Unit, userId: string) {
    return tx
      .select({ workspaceId: workspaceMembers.workspaceId, role: workspaceMembers.role })
      .from(workspaceMembers)
      .where(eq(workspaceMembers.userId, userId))
      .orderBy(asc(workspaceMembers.createdAt), asc(workspaceMembers.id))
      .all();
  }

  /** For display: what a key may do is read live from the person's roles. */
  function accessOf(unit: Unit, { workspaceId }: Application, userId: string): 'read' | 'full' {
    if (workspaceId !== null) return 'read';
    return seatsOf(unit, userId).some(({ role }) => role !== 'member') ? 'full' : 'read';
  }

  /** @throws {AppError} not_found for a key that is not this person's own. */
  function find({ tx }: Unit, principal: SessionPrincipal, keyId: string): DeviceRow {
    const row = selectDevices(tx, and(eq(apiKeys.id, keyId), isWithinReach(principal))).get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function record(unit: Unit, kind: 'device.renamed' | 'device.revoked', key: ApiKey, userId: string): void {
    const { id: targetId, applicationId, workspaceId, name } = key;
    unit.audit({ kind, applicationId, workspaceId, userId, targetId, detail: { name } });
  }

  return {
    /** Where a person's console keys are counted; their rights are read live. Null for who is a member of none. */
    firstWorkspaceOf: (unit: Unit, userId: string): string | null => seatsOf(unit, userId)[0]?.workspaceId ?? null,

    /** Makes a key in the caller's transaction and tells the person by mail. @returns the token, in plain text. */
    mint(unit: Unit, { member, application, workspaceId, name }: NewPersonalKey): { id: string; token: string } {
      const id = newId('apiKey', unit.now);
      const token = mintSecret('apiKey', random);
      const { userId } = member;
      const access = accessOf(unit, application, userId);
      unit.tx
        .insert(apiKeys)
        .values({
          id,
          ...tokenColumns(token),
          name,
          access,
          workspaceId,
          applicationId: application.id,
          applicationUserId: member.id,
          source: 'device',
          ...DEFAULT_RATE_LIMITS,
          createdByUserId: userId,
          createdAt: unit.now,
          updatedAt: unit.now,
        })
        .run();
      unit.audit({
        kind: 'apikey.created',
        applicationId: application.id,
        workspaceId,
        userId,
        targetId: id,
        detail: { name, access, source: 'device' },
      });
      const to = findUser(unit, userId)!.email;
      mailNotice(unit, to, accountChangeMail('device_connected', name));
      return { id, token };
    },

    /** @throws {AppError} invalid_state where the person has as many as they may. */
    refuseFurther(unit: Unit, userId: string): void {
      const ofPerson = and(eq(applicationUsers.userId, userId), isNull(apiKeys.revokedAt));
      if (selectDevices(unit.tx, ofPerson).all().length >= MAX_PERSONAL_KEYS)
        throw new AppError('invalid_state', {
          message: `There are ${MAX_PERSONAL_KEYS} connected devices already; disconnect one first.`,
        });
    },

    /** A person's keys that work now, as far as the session reaches, newest first. */
    list(principal: SessionPrincipal, { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): Page<DeviceRecord> {
      const rows = selectDevices(
        db.orm,
        and(
          isWithinReach(principal),
          eq(applicationUsers.status, 'active'),
          isNull(apiKeys.revokedAt),
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, clock.now())),
          cursor === undefined ? undefined : lt(apiKeys.id, decodeCursor(cursor, ['string'])[0]),
        ),
      )
        .orderBy(desc(apiKeys.id))
        .limit(limit + 1)
        .all();
      return pageOf(rows, limit, ({ key }) => [key.id], presentDevice);
    },

    /** @throws {AppError} not_found; key_revoked */
    rename(actor: Actor, principal: SessionPrincipal, keyId: string, name: string): DeviceRecord {
      return db.write(actor, (unit) => {
        const row = find(unit, principal, keyId);
        if (row.key.revokedAt !== null)
          throw new AppError('key_revoked', { message: 'This device is disconnected; connect it again.' });
        const key = { ...row.key, name: name.trim() };
        if (key.name === row.key.name) return presentDevice(row);
        unit.tx.update(apiKeys).set({ name: key.name, updatedAt: unit.now }).where(eq(apiKeys.id, keyId)).run();
        record(unit, 'device.renamed', key, principal.userId);
        return presentDevice({ ...row, key });
      });
    },

    /** Ends a key at once. Again changes nothing. @throws {AppError} not_found */
    revoke(actor: Actor, principal: SessionPrincipal, keyId: string): { id: string } {
      return db.write(actor, (unit) => {
        const { key } = find(unit, principal, keyId);
        if (revokePersonalKeys(unit, eq(apiKeys.id, keyId)) > 0) record(unit, 'device.revoked', key, principal.userId);
        return { id: keyId };
      });
    },
  };
}

/**
 * Ends what is still open among these personal keys, for good.
 *
 * @param whose a condition on api_keys; keys that are not personal are never touched.
 * @returns how many.
 */
export function revokePersonalKeys({ tx, now }: Unit, whose: SQL): number {
  return tx
    .update(apiKeys)
    .set({ revokedAt: now, updatedAt: now })
    .where(and(whose, eq(apiKeys.source, 'device'), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id })
    .all().length;
}

/** Ends the personal keys of these memberships, of a person who is gone, and forgets what they were called. */
export function forgetPersonalKeys(unit: Unit, applicationUserIds: readonly string[]): void {
  const ofPerson = and(inArray(apiKeys.applicationUserId, [...applicationUserIds]), eq(apiKeys.source, 'device'))!;
  revokePersonalKeys(unit, ofPerson);
  unit.tx.update(apiKeys).set({ name: FORGOTTEN }).where(ofPerson).run();
}

/** The person's own, and only of the workspace that the session was handed to; the console's session sees all. */
function isWithinReach({ userId, workspaceId }: SessionPrincipal): SQL | undefined {
  const isOwn = eq(applicationUsers.userId, userId);
  return workspaceId === null ? isOwn : and(isOwn, eq(applications.workspaceId, workspaceId));
}

function selectDevices(orm: Orm, condition: SQL | undefined) {
  return orm
    .select({
      key: apiKeys,
      application: { id: applications.id, name: applications.name },
    })
    .from(apiKeys)
    .innerJoin(applicationUsers, eq(applicationUsers.id, apiKeys.applicationUserId))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(and(eq(apiKeys.source, 'device'), condition));
}

type DeviceRow = NonNullable<ReturnType<ReturnType<typeof selectDevices>['get']>>;

function presentDevice({ key, application: { id, name } }: DeviceRow): DeviceRecord {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    application: { id, name },
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTime(key.lastUsedAt),
    expiresAt: isoTime(key.expiresAt),
  };
}
