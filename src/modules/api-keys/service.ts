/** API keys with a synthetic principal: created, listed, rotated and revoked. Personal keys are created in devices/. */
import type { Actor } from '../../core/actor.ts';
import type { AuditKind } from '../../core/audit.ts';
import { type Clock, DAY, isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import { timeSeries } from '../../core/time-series.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { emit } from '../../events/emit.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { DEFAULT_PAGE_SIZE, DEFAULT_SERIES_DAYS, type SeriesQuery } from '../../http/schemas.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import {
  type ApiKey,
  findDeviceKeyBehind,
  findKey,
  type HeldKey,
  insertKey,
  isTokenKnown,
  type KeyOwner,
  listKeys,
  updateKey,
} from '../../store/api-keys.ts';
import { findApplicationsById, requireConsole, type TenantApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Grants, heldGrants, heldGrantsOf, NO_GRANTS } from '../../store/grants.ts';
import { setMemberStatus } from '../../store/members.ts';
import { insertKeyPrincipal } from '../../store/people.ts';
import { retireKeyToken } from '../../store/retired-key-tokens.ts';
import { resolveGrants } from '../grants/holders.ts';
import { joinMember } from '../users/members.ts';
import {
  type ApiKeyPatch,
  type ApiKeyQuery,
  type ApiKeyRecord,
  type ApplicationKeyInput,
  DEFAULT_RATE_LIMITS,
  type KeyCalls,
  type NewApiKeyRecord,
  type WorkspaceKeyInput,
} from './model.ts';
import { callsOf } from './calls.ts';
import { presentKey, surroundingsOf } from './present.ts';
import { keyEndings } from './background-tasks.ts';
import { tokenColumns } from './token.ts';

export interface ApiKeyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly limiter: Pick<RateLimiter, 'used'>;
}

/** A new key without its secret. */
interface NewKey extends KeyOwner {
  readonly name: string;
  readonly access: 'read' | 'full';
  readonly applicationIds: string[] | null;
  /** The application that the principal is a member of. */
  readonly homeId: string;
  readonly grants: Grants;
  readonly rateLimits: { perMinute: number; perDay: number };
  readonly expiresAt: number | null;
  readonly source: string;
}

const ROTATION_GRACE_MS = DAY;

export type ApiKeys = ReturnType<typeof apiKeyService>;

/** A token is shown only in the response that creates it; only its hash is stored. */
export function apiKeyService({ db, clock, random, limiter }: ApiKeyDependencies) {
  async function presented(reader: Reader, held: HeldKey): Promise<ApiKeyRecord> {
    const grants = await heldGrants(reader, held.key.applicationUserId);
    return presentKey(held, grants, await surroundingsOf(reader, limiter, held.key.workspaceId, [held]));
  }

  /** Inserts principal, membership, grants, key and audit record in the caller's transaction. */
  async function insert(unit: Unit, token: string, key: NewKey): Promise<HeldKey> {
    const id = newId('apiKey', unit.now);
    const { id: userId } = await insertKeyPrincipal(unit, id, key.name);
    const { homeId } = key;
    const grants = await resolveGrants(unit, homeId, key.grants);
    const { id: applicationUserId, status } = await joinMember(unit, homeId, userId, grants);
    const { name, access, workspaceId, applicationId, applicationIds, expiresAt, source } = key;
    const deviceKeyId = await deviceKeyOf(unit);
    const row = await insertKey(unit, {
      id,
      ...tokenColumns(token),
      name,
      access,
      workspaceId,
      applicationId,
      applicationIds,
      applicationUserId,
      source,
      ...key.rateLimits,
      expiresAt,
      deviceKeyId,
      createdByUserId: unit.actor.userId,
      createdAt: unit.now,
      updatedAt: unit.now,
    });
    await recordAudit(unit, {
      kind: 'apikey.created',
      applicationId,
      workspaceId,
      targetId: id,
      detail: { name, access, ...(deviceKeyId !== null && { deviceKeyId }) },
    });
    return { key: row, userId, status, homeId };
  }

  /** Creates a key in the caller's transaction, after the checks that refuse it. */
  async function create(unit: Unit, token: string, key: Omit<NewKey, 'source'>): Promise<NewApiKeyRecord> {
    const { type, apiKeyId } = unit.actor;
    const source = type === 'user' && apiKeyId === null ? 'console' : 'api';
    return { ...(await presented(unit, await insert(unit, token, { ...key, source }))), token };
  }

  function expiry(text: string | null | undefined): number | null {
    if (text == null) return null;
    const at = Date.parse(text);
    if (Number.isNaN(at)) throw invalidField('expiresAt', 'Give an ISO 8601 time with a zone, or null.');
    if (at <= clock.now()) throw invalidField('expiresAt', 'Give a time in the future, or null.');
    return at;
  }

  /** Returns keys, newest first. */
  async function list(owner: KeyOwner, query: ApiKeyQuery): Promise<Page<ApiKeyRecord>> {
    const { limit = DEFAULT_PAGE_SIZE, cursor, source } = query;
    const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
    const keys = await listKeys(db.reader, owner, { before, limit: limit + 1, source });
    const grants = await heldGrantsOf(
      db.reader,
      keys.map(({ key }) => key.applicationUserId),
    );
    const surroundings = await surroundingsOf(db.reader, limiter, owner.workspaceId, keys);
    return pageOf(
      keys,
      limit,
      ({ key }) => [key.id],
      (held) => presentKey(held, required(grants.get(held.key.applicationUserId), 'grants of a key'), surroundings),
    );
  }

  return {
    /** Returns a key in any state. @throws {AppError} not_found */
    async get(owner: KeyOwner, keyId: string): Promise<ApiKeyRecord> {
      return presented(db.reader, await find(db.reader, owner, keyId));
    },

    /** Returns accepted and refused calls over time; those of the last seconds may be missing. @throws {AppError} not_found */
    async calls(owner: KeyOwner, keyId: string, { days = DEFAULT_SERIES_DAYS }: SeriesQuery): Promise<KeyCalls> {
      const { key } = await find(db.reader, owner, keyId);
      return callsOf(db.reader, key.id, timeSeries(days, clock.now()));
    },

    /** @throws {AppError} not_found, invalid_request */
    async update(actor: Actor, owner: KeyOwner, keyId: string, patch: ApiKeyPatch): Promise<ApiKeyRecord> {
      const { name, expiresAt, rateLimits } = patch;
      const expires = expiry(expiresAt);
      return db.write(actor, async (unit) => {
        const held = await find(unit, owner, keyId);
        const key = await updateKey(unit, keyId, {
          ...(name !== undefined && { name: name.trim() }),
          // A new expiry clears the recorded end, so that expiry is checked against the current clock again.
          ...(expiresAt !== undefined && { expiresAt: expires, endedAt: null }),
          ...rateLimits,
        });
        await record(unit, 'apikey.updated', key, { fields: Object.keys(patch) });
        return presented(unit, { ...held, key });
      });
    },

    /** Revokes a key, bans its principal and keeps the row. Idempotent. A predecessor ends too, but no successor. */
    revoke(actor: Actor, owner: KeyOwner, keyId: string): Promise<ApiKeyRecord> {
      return db.write(actor, async (unit) => {
        const held = await find(unit, owner, keyId);
        if (held.key.revokedAt !== null) return presented(unit, held);
        const key = await updateKey(unit, keyId, { revokedAt: unit.now });
        const { source, rotatedToId, applicationUserId: memberId, applicationId } = key;
        // Revoking a personal key must not ban the person; revoking a predecessor must not ban its successor.
        if (source !== 'device' && rotatedToId === null) {
          const isActive = held.status === 'active';
          await setMemberStatus(unit, memberId, 'banned');
          if (isActive) {
            await emit(unit, { type: 'user.banned', applicationId: held.homeId, data: { userId: held.userId } });
          }
          await beginTask(unit, keyEndings, { applicationId, data: { memberId } });
        }
        await record(unit, 'apikey.revoked', key);
        return presented(unit, { ...held, key });
      });
    },

    /**
     * Replaces the token at once; callers that still send the old one get a clear error.
     *
     * @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal or the
     * environment's key
     */
    rotate(actor: Actor, owner: KeyOwner, keyId: string): Promise<NewApiKeyRecord> {
      const token = mintSecret('apiKey', random);
      return db.write(actor, async (unit) => {
        const held = await find(unit, owner, keyId);
        await refuseToDevice(unit, held);
        refuseRotation(held, unit.now);
        // The environment would restore the old token at the next start.
        if (held.key.source === 'environment') throw new AppError('invalid_state', { hint: 'key_from_environment' });
        await retireKeyToken(unit, held.key);
        // The rotator knows the new token; the previous creator does not.
        const key = await updateKey(unit, keyId, { ...tokenColumns(token), createdByUserId: unit.actor.userId });
        await record(unit, 'apikey.rotated', key);
        return { ...(await presented(unit, { ...held, key })), token };
      });
    },

    /**
     * Creates a successor with the same principal, envelope and limits; the predecessor works for another 24 hours.
     *
     * @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal key
     */
    rotateWithGrace(actor: Actor, owner: KeyOwner, keyId: string): Promise<NewApiKeyRecord> {
      const token = mintSecret('apiKey', random);
      return db.write(actor, async (unit) => {
        const held = await find(unit, owner, keyId);
        await refuseToDevice(unit, held);
        refuseRotation(held, unit.now);
        const successor = await insertKey(unit, {
          ...held.key,
          id: newId('apiKey', unit.now),
          ...tokenColumns(token),
          lastUsedAt: null,
          createdByUserId: unit.actor.userId,
          createdAt: unit.now,
          updatedAt: unit.now,
        });
        await updateKey(unit, keyId, { rotatedToId: successor.id, gracePeriodEndsAt: unit.now + ROTATION_GRACE_MS });
        await record(unit, 'apikey.rotated_with_grace', held.key, { successorId: successor.id });
        return { ...(await presented(unit, { ...held, key: successor })), token };
      });
    },

    /** @param token a token created outside that nobody has received yet. @throws {AppError} invalid_request */
    async createForApplication(
      actor: Actor,
      { id: applicationId, workspaceId }: TenantApplication,
      input: ApplicationKeyInput,
      token = mintSecret('apiKey', random),
    ): Promise<NewApiKeyRecord> {
      const { name, access = 'read', roles = [], scopes = [], memberships = [], rateLimits, expiresAt } = input;
      const key = {
        name: name.trim(),
        access,
        workspaceId,
        applicationId,
        applicationIds: null,
        homeId: applicationId,
        grants: { roles, scopes, memberships },
        rateLimits: rateLimits ?? DEFAULT_RATE_LIMITS,
        expiresAt: expiry(expiresAt),
      };
      return db.write(actor, (unit) => create(unit, token, key));
    },

    /**
     * Creates a key whose principal is a member of the console, or with grants, of the one application it reaches.
     *
     * @throws {AppError} invalid_request, also where a listed application is not of this workspace
     */
    async createForWorkspace(
      actor: Actor,
      workspaceId: string,
      input: WorkspaceKeyInput,
      token = mintSecret('apiKey', random),
    ): Promise<NewApiKeyRecord> {
      const { name, access = 'read', applicationIds = null, rateLimits, expiresAt } = input;
      const expires = expiry(expiresAt);
      const held = grantsInOne(input);
      return db.write(actor, async (unit) => {
        await refuseForeign(unit, workspaceId, applicationIds ?? []);
        return create(unit, token, {
          name: name.trim(),
          access,
          workspaceId,
          applicationId: null,
          applicationIds: applicationIds && [...new Set(applicationIds)],
          homeId: held?.applicationId ?? (await requireConsole(unit)).id,
          grants: held?.grants ?? NO_GRANTS,
          rateLimits: rateLimits ?? DEFAULT_RATE_LIMITS,
          expiresAt: expires,
        });
      });
    },

    /** Registers a key created outside (`gatehouse key`) as a full workspace key, unless it is known already. */
    async adopt(unit: Unit, workspaceId: string, token: string): Promise<void> {
      if (await isTokenKnown(unit, Buffer.from(hashSecret(token)))) return;
      await insert(unit, token, {
        name: 'GATEHOUSE_WORKSPACE_KEY',
        access: 'full',
        workspaceId,
        applicationId: null,
        applicationIds: null,
        homeId: (await requireConsole(unit)).id,
        grants: NO_GRANTS,
        rateLimits: DEFAULT_RATE_LIMITS,
        expiresAt: null,
        source: 'environment',
      });
    },

    list,
  };
}

/** Returns a workspace key's grants, or null. @throws {AppError} invalid_request unless one application is named */
function grantsInOne({ roles = [], scopes = [], memberships = [], applicationIds }: WorkspaceKeyInput) {
  const grants: Grants = { roles, scopes, memberships };
  const given = Object.entries(grants).filter(([, slugs]) => slugs.length > 0);
  if (given.length === 0) return null;
  const [applicationId, ...others] = new Set(applicationIds);
  if (applicationId !== undefined && others.length === 0) return { applicationId, grants };
  const message = 'It is held in one application: name exactly one in applicationIds, or leave this out.';
  throw new AppError('invalid_request', { fields: given.map(([path]) => ({ path, message })) });
}

/** Returns the caller's personal key, or the personal key that the caller's key ends with; null without either. */
async function deviceKeyOf(unit: Unit): Promise<string | null> {
  const { apiKeyId } = unit.actor;
  return apiKeyId === null ? null : ((await findDeviceKeyBehind(unit, apiKeyId)) ?? null);
}

/** Lets a device rotate only keys that end with its own, since it gets their token. @throws {AppError} forbidden */
async function refuseToDevice(unit: Unit, { key }: HeldKey): Promise<void> {
  const deviceKeyId = await deviceKeyOf(unit);
  if (deviceKeyId !== null && key.deviceKeyId !== deviceKeyId)
    throw new AppError('forbidden', { hint: 'device_rotates_its_own' });
}

async function find(reader: Reader, owner: KeyOwner, keyId: string): Promise<HeldKey> {
  const held = await findKey(reader, owner, keyId);
  if (!held) throw new AppError('not_found');
  return held;
}

/** @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal or expired key */
function refuseRotation({ key, status }: HeldKey, now: number): void {
  // The holder of the new token could act as the person.
  if (key.source === 'device') throw new AppError('invalid_state', { hint: 'personal_key_fixed' });
  if (key.revokedAt !== null) throw new AppError('key_revoked');
  if (status !== 'active') throw new AppError('membership_locked');
  if (key.rotatedToId !== null) throw new AppError('already_in_grace');
  if (key.expiresAt !== null && (key.endedAt !== null || key.expiresAt <= now))
    throw new AppError('invalid_state', { hint: 'key_expired', values: { expiresAt: isoTime(key.expiresAt) } });
}

/** @throws {AppError} invalid_request for the first id that is no application of this workspace. */
async function refuseForeign(reader: Reader, workspaceId: string, applicationIds: readonly string[]): Promise<void> {
  const known = await findApplicationsById(reader, applicationIds);
  const foreign = applicationIds.findIndex((id) => known.get(id)?.workspaceId !== workspaceId);
  if (foreign >= 0) throw invalidField(`applicationIds.${foreign}`, 'There is no such application in this workspace.');
}

async function record(unit: Unit, kind: AuditKind, key: ApiKey, detail: Record<string, unknown> = {}): Promise<void> {
  const { workspaceId, applicationId, id: targetId, name } = key;
  await recordAudit(unit, { kind, workspaceId, applicationId, targetId, detail: { name, ...detail } });
}
