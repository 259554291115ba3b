/** Roles, scopes and membership groups: all three follow the same rules, so one service serves every kind. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Database, Reader } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  countGrants,
  countHolders,
  countPeople,
  findGrant,
  findGrantIds,
  type Grant,
  type GrantKind,
  insertGrant,
  isGrantHeld,
  markGrantRemoved,
  pageOfGrants,
  updateGrant,
} from '../../store/grants.ts';
import { GRANT_NAMES } from './kinds.ts';
import type { GrantInput, GrantPatch, GrantRecord, GrantsQuery } from './model.ts';
import { announceRename, withdrawGrant } from './background-tasks.ts';

/** More would not fit the envelope, which is sent at every verification. */
const MAX_PER_APPLICATION = 1000;

export type GrantService = ReturnType<typeof grantService>;

/** @param kind the only kind that the service touches. */
export function grantService(kind: GrantKind, db: Database) {
  const { audit, noun } = GRANT_NAMES[kind];

  async function find(reader: Reader, application: Application, id: string): Promise<Grant> {
    const grant = await findGrant(reader, kind, application.id, id);
    if (!grant) throw new AppError('not_found');
    return grant;
  }

  async function refuseTaken(reader: Reader, application: Application, slug: string, exceptId?: string): Promise<void> {
    const holderId = (await findGrantIds(reader, kind, application.id, [slug])).get(slug);
    if (holderId !== undefined && holderId !== exceptId)
      throw new AppError('conflict', { hint: 'grant_slug_taken', values: { noun } });
  }

  return {
    /** Returns grants ordered by slug; with `include`, the number of people of each. */
    async list(
      application: Application,
      { limit = DEFAULT_PAGE_SIZE, cursor, include }: GrantsQuery,
    ): Promise<Page<GrantRecord>> {
      const after = cursor === undefined ? '' : decodeCursor(cursor, ['string'])[0];
      const rows = await pageOfGrants(db.reader, kind, application.id, { after, limit: limit + 1 });
      const page = pageOf(rows, limit, (row) => [row.slug], present);
      if (include === undefined) return page;
      const ids = page.items.map(({ id }) => id);
      const people = await countPeople(db.reader, kind, { applicationId: application.id, ids });
      return { ...page, items: page.items.map((grant) => ({ ...grant, people: people.get(grant.id) ?? 0 })) };
    },

    create(actor: Actor, application: Application, input: GrantInput): Promise<GrantRecord> {
      const { slug, name, description = null, isDefault = false } = input;
      return db.write(actor, async (unit) => {
        await refuseTaken(unit, application, slug);
        if ((await countGrants(unit, kind, application.id)) >= MAX_PER_APPLICATION)
          throw new AppError('conflict', { hint: 'too_many_grants', values: { max: MAX_PER_APPLICATION } });
        const grant = await insertGrant(unit, kind, {
          applicationId: application.id,
          slug,
          name: name?.trim() ?? slug,
          description,
          isDefault,
        });
        await recordAudit(unit, {
          kind: `${audit}.created`,
          applicationId: application.id,
          targetId: grant.id,
          detail: { slug, name: grant.name },
        });
        return present(grant);
      });
    },

    /**
     * Changes a grant at once. Backends compare slugs: renaming a held one needs `force` and notifies holders.
     *
     * @throws {AppError} not_found, conflict
     */
    update(
      actor: Actor,
      application: Application,
      id: string,
      patch: GrantPatch,
      isForced: boolean,
    ): Promise<GrantRecord> {
      return db.write(actor, async (unit) => {
        const grant = await find(unit, application, id);
        const { slug } = patch;
        const isRenamed = slug !== undefined && slug !== grant.slug;
        if (isRenamed) {
          await refuseTaken(unit, application, slug, id);
          if (!isForced && (await isGrantHeld(unit, kind, id)))
            throw new AppError('conflict', { hint: 'grant_renamed_in_use', values: { noun } });
        }
        const columns = { ...patch, ...(patch.name !== undefined && { name: patch.name.trim() }) };
        const changed = await updateGrant(unit, kind, id, columns);
        if (isRenamed) {
          const data = { kind, grantId: id, slug: grant.slug };
          await beginTask(unit, announceRename, { applicationId: application.id, data });
        }
        await recordAudit(unit, {
          kind: `${audit}.updated`,
          applicationId: application.id,
          targetId: id,
          detail: { name: changed.name, fields: Object.keys(patch) },
        });
        return present(changed);
      });
    },

    /**
     * Deletes a grant at once; a background task notifies the holders. @returns the number of holders.
     *
     * @throws {AppError} not_found; conflict if it is in use and not forced
     */
    remove(
      actor: Actor,
      application: Application,
      id: string,
      isForced: boolean,
    ): Promise<{ id: string; withdrawnFrom: number }> {
      return db.write(actor, async (unit) => {
        const { slug, name } = await find(unit, application, id);
        if (!isForced && (await isGrantHeld(unit, kind, id)))
          throw new AppError('conflict', { hint: 'grant_deleted_in_use', values: { noun } });
        const withdrawnFrom = await countHolders(unit, kind, id);
        await markGrantRemoved(unit, kind, id);
        const data = { kind, grantId: id, slug };
        await beginTask(unit, withdrawGrant, { applicationId: application.id, data });
        await recordAudit(unit, {
          kind: `${audit}.deleted`,
          applicationId: application.id,
          targetId: id,
          detail: { slug, name, withdrawnFrom },
        });
        return { id, withdrawnFrom };
      });
    },
  };
}

function present({ id, slug, name, description, isDefault, createdAt, updatedAt }: Grant): GrantRecord {
  return { id, slug, name, description, isDefault, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
