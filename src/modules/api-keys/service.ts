/** API keys: minted with a synthetic principal, listed without their secret. Personal keys are made in personal.ts. */
import { and, desc, eq, isNull, lt } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import type { AuditKind } from '../../core/audit.ts';
import { type Clock, DAY, isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Application } from '../../db/schema/applications.ts';
import { type ApiKey, apiKeys } from '../../db/schema/credentials.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { heldGrants, resolveGrants } from '../grants/holders.ts';
import { type Grants, NO_GRANTS } from '../grants/kinds.ts';
import { insertKeyPrincipal, insertMember } from '../users/members.ts';
import {
  type ApiKeyPatch,
  type ApiKeyRecord,
  type ApplicationKeyInput,
  DEFAULT_RATE_LIMITS,
  type NewApiKeyRecord,
  type WorkspaceKeyInput,
} from './model.ts';
import { tokenColumns } from './token.ts';

export interface ApiKeyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly findApplication: (id: string) => Application | undefined;
  /** The console, which the principals of workspace keys are members of. */
  readonly consoleId: () => string;
}

/** Everything of a new key but its secret. */
interface NewKey {
  readonly name: string;
  readonly access: 'read' | 'full';
  readonly workspaceId: string;
  readonly applicationId: string | null;
  readonly applicationIds: string[] | null;
  /** The application the synthetic principal joins. */
  readonly homeId: string;
  readonly grants: Grants;
  readonly rateLimits: { perMinute: number; perDay: number };
  readonly expiresAt: number | null;
  readonly source: string;
}

/** Whose keys: an application's, or with `applicationId` null the workspace's own. */
export interface KeyOwner {
  readonly workspaceId: string;
  readonly applicationId: string | null;
}

const ROTATION_GRACE_MS = DAY;

export type ApiKeys = ReturnType<typeof apiKeyService>;

export function apiKeyService({ db, clock, random, findApplication, consoleId }: ApiKeyDependencies) {
  /** Inserts principal, membership, grants, key and audit record in the caller's transaction. */
  function insert(unit: Unit, token: string, key: NewKey): ApiKey {
    const id = newId('apiKey', unit.now);
    const principal = insertKeyPrincipal(unit, id, key.name);
    const grants = resolveGrants(unit, key.homeId, key.grants);
    const member = insertMember(unit, key.homeId, principal.id, grants);
    const [row] = unit.tx
      .insert(apiKeys)
      .values({
        id,
        ...tokenColumns(token),
        name: key.name,
        access: key.access,
        workspaceId: key.workspaceId,
        applicationId: key.applicationId,
        applicationIds: key.applicationIds,
        applicationUserId: member.id,
        source: key.source,
        ...key.rateLimits,
        expiresAt: key.expiresAt,
        createdByUserId: unit.actor.userId,
        createdAt: unit.now,
        updatedAt: unit.now,
      })
      .returning()
      .all();
    unit.audit({
      kind: 'apikey.created',
      applicationId: key.applicationId,
      workspaceId: key.workspaceId,
      targetId: id,
      detail: { name: key.name, access: key.access },
    });
    return row!;
  }

  function create(actor: Actor, key: Omit<NewKey, 'source'>): NewApiKeyRecord {
    const token = mintSecret('apiKey', random);
    return db.write(actor, (unit) => {
      const row = insert(unit, token, {
        ...key,
        source: actor.type === 'user' && actor.apiKeyId === null ? 'console' : 'api',
      });
      return { ...present(row), token };
    });
  }

  function expiry(text: string | null | undefined): number | null {
    if (text == null) return null;
    const at = Date.parse(text);
    if (Number.isNaN(at)) throw invalidField('expiresAt', 'Give an ISO 8601 time with a zone, or null.');
    if (at <= clock.now()) throw invalidField('expiresAt', 'Give a time in the future, or null.');
    return at;
  }

  function present(row: ApiKey): ApiKeyRecord {
    const member = db.orm
      .select({ userId: applicationUsers.userId })
      .from(applicationUsers)
      .where(eq(applicationUsers.id, row.applicationUserId))
      .get();
    return {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      access: row.access,
      applicationId: row.applicationId,
      applicationIds: row.applicationIds,
      userId: member!.userId,
      source: row.source,
      ...heldGrants(db.orm, row.applicationUserId),
      rateLimits: { perMinute: row.perMinute, perDay: row.perDay },
      expiresAt: isoTime(row.expiresAt),
      revokedAt: isoTime(row.revokedAt),
      rotatedToId: row.rotatedToId,
      gracePeriodEndsAt: isoTime(row.gracePeriodEndsAt),
      lastUsedAt: isoTime(row.lastUsedAt),
      createdAt: isoTime(row.createdAt),
      updatedAt: isoTime(row.updatedAt),
    };
  }

  /** Newest first. */
  function list(owner: KeyOwner, query: PageQuery): Page<ApiKeyRecord> {
    const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
    const { workspaceId, applicationId } = owner;
    const rows = db.orm
      .select()
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.workspaceId, workspaceId),
          applicationId === null ? isNull(apiKeys.applicationId) : eq(apiKeys.applicationId, applicationId),
          cursor === undefined ? undefined : lt(apiKeys.id, decodeCursor(cursor, ['string'])[0]),
        ),
      )
      .orderBy(desc(apiKeys.id))
      .limit(limit + 1)
      .all();
    return pageOf(rows, limit, (row) => [row.id], present);
  }

  function find({ tx }: Unit, { workspaceId, applicationId }: KeyOwner, keyId: string): ApiKey {
    const row = tx
      .select()
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.id, keyId),
          eq(apiKeys.workspaceId, workspaceId),
          applicationId === null ? isNull(apiKeys.applicationId) : eq(apiKeys.applicationId, applicationId),
        ),
      )
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function change(unit: Unit, id: string, columns: Partial<ApiKey>): ApiKey {
    const [row] = unit.tx
      .update(apiKeys)
      .set({ ...columns, updatedAt: unit.now })
      .where(eq(apiKeys.id, id))
      .returning()
      .all();
    return row!;
  }

  function statusOf({ tx }: Unit, key: ApiKey): string {
    return tx
      .select({ status: applicationUsers.status })
      .from(applicationUsers)
      .where(eq(applicationUsers.id, key.applicationUserId))
      .get()!.status;
  }

  /** @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal key. */
  function refuseRotation(unit: Unit, key: ApiKey): void {
    // Whoever got the new token could act as the person.
    if (key.source === 'device')
      throw new AppError('invalid_state', {
        message: 'This is a person’s own key and cannot be rotated: revoke it, and they can connect the device again.',
      });
    if (key.revokedAt !== null) throw new AppError('key_revoked');
    if (statusOf(unit, key) !== 'active') throw new AppError('membership_locked');
    if (key.rotatedToId !== null) throw new AppError('already_in_grace');
  }

  function record(unit: Unit, kind: AuditKind, key: ApiKey, detail: Record<string, unknown> = {}): void {
    const { workspaceId, applicationId, id: targetId, name } = key;
    unit.audit({ kind, workspaceId, applicationId, targetId, detail: { name, ...detail } });
  }

  return {
    /** @throws {AppError} not_found, invalid_request */
    update(actor: Actor, owner: KeyOwner, keyId: string, patch: ApiKeyPatch): ApiKeyRecord {
      const { name, expiresAt, rateLimits } = patch;
      const expires = expiry(expiresAt);
      return db.write(actor, (unit) => {
        const key = find(unit, owner, keyId);
        const changed = change(unit, key.id, {
          ...(name !== undefined && { name: name.trim() }),
          ...(expiresAt !== undefined && { expiresAt: expires }),
          ...rateLimits,
        });
        record(unit, 'apikey.updated', changed, { fields: Object.keys(patch) });
        return present(changed);
      });
    },

    /**
     * Revokes a key: the row stays, its principal's membership is banned, so that every later use fails there. Again
     * changes nothing. A predecessor in its grace shares the principal: it ends with its successor, but not the reverse.
     */
    revoke(actor: Actor, owner: KeyOwner, keyId: string): ApiKeyRecord {
      return db.write(actor, (unit) => {
        const key = find(unit, owner, keyId);
        if (key.revokedAt !== null) return present(key);
        const revoked = change(unit, key.id, { revokedAt: unit.now });
        // A person's own key must not ban the person, nor a predecessor its successor.
        if (key.source !== 'device' && key.rotatedToId === null) {
          unit.tx
            .update(apiKeys)
            .set({ revokedAt: unit.now, updatedAt: unit.now })
            .where(and(eq(apiKeys.applicationUserId, key.applicationUserId), isNull(apiKeys.revokedAt)))
            .run();
          unit.tx
            .update(applicationUsers)
            .set({ status: 'banned', updatedAt: unit.now })
            .where(eq(applicationUsers.id, key.applicationUserId))
            .run();
        }
        record(unit, 'apikey.revoked', revoked);
        return present(revoked);
      });
    },

    /**
     * Replaces the token; the old one stops working at once.
     *
     * @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal key and for the
     * environment's.
     */
    rotate(actor: Actor, owner: KeyOwner, keyId: string): NewApiKeyRecord {
      const token = mintSecret('apiKey', random);
      return db.write(actor, (unit) => {
        const key = find(unit, owner, keyId);
        refuseRotation(unit, key);
        // At the next start the environment would bring the old token back.
        if (key.source === 'environment')
          throw new AppError('invalid_state', {
            message: 'This key comes from GATEHOUSE_WORKSPACE_KEY: set another one there, then revoke this one.',
          });
        const rotated = change(unit, key.id, {
          ...tokenColumns(token),
        });
        record(unit, 'apikey.rotated', rotated);
        return { ...present(rotated), token };
      });
    },

    /**
     * Makes a successor with the same principal, envelope and limits; the predecessor works for 24 hours more.
     *
     * @throws {AppError} key_revoked, membership_locked, already_in_grace; invalid_state for a personal key.
     */
    rotateWithGrace(actor: Actor, owner: KeyOwner, keyId: string): NewApiKeyRecord {
      const token = mintSecret('apiKey', random);
      return db.write(actor, (unit) => {
        const key = find(unit, owner, keyId);
        refuseRotation(unit, key);
        const [successor] = unit.tx
          .insert(apiKeys)
          .values({
            ...key,
            id: newId('apiKey', unit.now),
            ...tokenColumns(token),
            lastUsedAt: null,
            createdByUserId: unit.actor.userId,
            createdAt: unit.now,
            updatedAt: unit.now,
          })
          .returning()
          .all();
        change(unit, key.id, { rotatedToId: successor!.id, gracePeriodEndsAt: unit.now + ROTATION_GRACE_MS });
        record(unit, 'apikey.rotated_with_grace', key, { successorId: successor!.id });
        return { ...present(successor!), token };
      });
    },

    createForApplication(actor: Actor, application: Application, input: ApplicationKeyInput): NewApiKeyRecord {
      const { name, access, roles = [], scopes = [], memberships = [], rateLimits, expiresAt } = input;
      return create(actor, {
        name: name.trim(),
        access,
        workspaceId: application.workspaceId!,
        applicationId: application.id,
        applicationIds: null,
        homeId: application.id,
        grants: { roles, scopes, memberships },
        rateLimits: rateLimits ?? DEFAULT_RATE_LIMITS,
        expiresAt: expiry(expiresAt),
      });
    },

    /** @throws {AppError} invalid_request where a listed application is not of this workspace. */
    createForWorkspace(
      actor: Actor,
      workspaceId: string,
      { name, access, applicationIds = null, rateLimits, expiresAt }: WorkspaceKeyInput,
    ): NewApiKeyRecord {
      applicationIds?.forEach((id, index) => {
        const application = findApplication(id);
        if (application?.workspaceId !== workspaceId)
          throw invalidField(`applicationIds.${index}`, 'There is no such application in this workspace.');
      });
      return create(actor, {
        name: name.trim(),
        access,
        workspaceId,
        applicationId: null,
        applicationIds: applicationIds && [...new Set(applicationIds)],
        homeId: consoleId(),
        grants: NO_GRANTS,
        rateLimits: rateLimits ?? DEFAULT_RATE_LIMITS,
        expiresAt: expiry(expiresAt),
      });
    },

    /** Takes a key made outside (`gatehouse key`) as a full workspace key. Idempotent: a known one is left alone. */
    adopt(unit: Unit, workspaceId: string, token: string): void {
      const known = unit.tx
        .select({ id: apiKeys.id })
        .from(apiKeys)
        .where(eq(apiKeys.tokenHash, Buffer.from(hashSecret(token))))
        .get();
      if (known) return;
      insert(unit, token, {
        name: 'GATEHOUSE_WORKSPACE_KEY',
        access: 'full',
        workspaceId,
        applicationId: null,
        applicationIds: null,
        homeId: consoleId(),
        grants: NO_GRANTS,
        rateLimits: { perMinute: 6000, perDay: 10_000_000 },
        expiresAt: null,
        source: 'environment',
      });
    },

    list,
  };
}
