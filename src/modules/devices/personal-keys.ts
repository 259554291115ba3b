/** Personal keys, which have no principal of their own: the owner's membership is checked at each use. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { mintSecret } from '../../core/secret.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { accountChangeMail } from '../../mail/messages/account-change.ts';
import {
  countDevices,
  type DeviceOwner,
  endPersonalKeys,
  findDevice,
  type HeldDevice,
  insertKey,
  listDevices,
  updateKey,
} from '../../store/api-keys.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Member } from '../../store/members.ts';
import { requireUser } from '../../store/people.ts';
import { listWorkspacesOf } from '../../store/workspace-members.ts';
import { DEFAULT_RATE_LIMITS } from '../api-keys/model.ts';
import { tokenColumns } from '../api-keys/token.ts';
import type { DeviceRecord } from './model.ts';
import { recordDevice } from './record.ts';

const MAX_PERSONAL_KEYS = 50;

export interface PersonalKeyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly notices: AccountNotices;
}

export interface NewPersonalKey {
  /** The owner's membership; the owner is the unit's actor. */
  readonly member: Member;
  readonly application: Application;
  readonly workspaceId: string;
  readonly name: string;
  /** Epoch milliseconds; null for a key that ends only when it is disconnected. */
  readonly expiresAt: number | null;
}

export type PersonalKeys = ReturnType<typeof personalKeyService>;

/** A session reaches the keys of its workspace; the console reaches all of the person's. */
export function personalKeyService({ db, clock, random, notices }: PersonalKeyDependencies) {
  /** @throws {AppError} not_found for a key that is not this person's. */
  async function find(unit: Unit, owner: DeviceOwner, keyId: string): Promise<HeldDevice> {
    const device = await findDevice(unit, owner, keyId);
    if (!device) throw new AppError('not_found');
    return device;
  }

  return {
    /** Creates a key in the caller's transaction and notifies the person by mail. @returns the token in plain text. */
    async mint(
      unit: Unit,
      { member, application, workspaceId, name, expiresAt }: NewPersonalKey,
    ): Promise<{ id: string; token: string }> {
      const id = newId('apiKey', unit.now);
      const token = mintSecret('apiKey', random);
      const { userId } = member;
      const access = await accessOf(unit, application, userId);
      await insertKey(unit, {
        id,
        ...tokenColumns(token),
        name,
        access,
        workspaceId,
        applicationId: application.id,
        applicationUserId: member.id,
        source: 'device',
        ...DEFAULT_RATE_LIMITS,
        epoch: application.sessionEpoch,
        createdByUserId: userId,
        expiresAt,
        createdAt: unit.now,
        updatedAt: unit.now,
      });
      await recordAudit(unit, {
        kind: 'apikey.created',
        applicationId: application.id,
        workspaceId,
        userId,
        targetId: id,
        detail: { name, access, source: 'device' },
      });
      const owner = await requireUser(unit, userId);
      const change = { kind: 'device_connected', name } as const;
      await notices.send(unit, owner, application, ({ occurrence, ...context }) =>
        // The device itself asks for its key, so its address counts although it is no browser.
        accountChangeMail({ ...context, occurrence: { ...occurrence, country: unit.actor.ipCountry } }, change),
      );
      return { id, token };
    },

    /** @throws {AppError} invalid_state if the person has the maximum number of keys. */
    async refuseFurther(unit: Unit, userId: string): Promise<void> {
      if ((await countDevices(unit, userId)) >= MAX_PERSONAL_KEYS)
        throw new AppError('invalid_state', { hint: 'too_many_devices', values: { max: MAX_PERSONAL_KEYS } });
    },

    /** Returns the person's valid keys within the session's reach, newest first. */
    async list(
      principal: SessionPrincipal,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<DeviceRecord>> {
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const devices = await listDevices(db.reader, principal, { before, limit: limit + 1, now: clock.now() });
      return pageOf(devices, limit, ({ key }) => [key.id], presentDevice);
    },

    /** @throws {AppError} not_found; key_revoked */
    rename(actor: Actor, principal: SessionPrincipal, keyId: string, name: string): Promise<DeviceRecord> {
      return db.write(actor, async (unit) => {
        const device = await find(unit, principal, keyId);
        if (device.isOver) throw new AppError('key_revoked', { hint: 'device_disconnected' });
        if (name.trim() === device.key.name) return presentDevice(device);
        const key = await updateKey(unit, keyId, { name: name.trim() });
        await recordDevice(unit, 'device.renamed', key, principal.userId);
        return presentDevice({ ...device, key });
      });
    },

    /** Ends a key at once. Idempotent. @throws {AppError} not_found */
    revoke(actor: Actor, owner: DeviceOwner, keyId: string): Promise<{ id: string }> {
      return db.write(actor, async (unit) => {
        const { key, isOver } = await find(unit, owner, keyId);
        if (!isOver) {
          await endPersonalKeys(unit, { keyId });
          await recordDevice(unit, 'device.revoked', key, owner.userId);
        }
        return { id: keyId };
      });
    },
  };
}

/** Returns the access to display; what a key may do is read from the person's roles at each call. */
async function accessOf(reader: Reader, { workspaceId }: Application, userId: string): Promise<'read' | 'full'> {
  if (workspaceId !== null) return 'read';
  const seats = await listWorkspacesOf(reader, userId);
  return seats.some(({ role }) => role !== 'member') ? 'full' : 'read';
}

function presentDevice({ key, application: { id, name }, place }: HeldDevice): DeviceRecord {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    application: { id, name },
    ip: place?.ip ?? null,
    ipCountry: place?.ipCountry ?? null,
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTime(key.lastUsedAt),
    expiresAt: isoTime(key.expiresAt),
  };
}
