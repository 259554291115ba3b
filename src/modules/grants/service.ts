/**
 * Roles, scopes and membership groups of an application. The three have the same rules, so one service takes the kind:
 * three copies would only differ in the name of a table.
 */
import { and, asc, eq, gt } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Application } from '../../db/schema/applications.ts';
import type { roles } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { announceRename, isHeld, withdrawFromSome } from './holders.ts';
import { GRANT_KINDS, type GrantKind } from './kinds.ts';
import type { GrantInput, GrantPatch, GrantRecord } from './model.ts';

type GrantRow = typeof roles.$inferSelect;

/** More would not fit an envelope that is sent at every verification. */
const MAX_PER_APPLICATION = 1000;

/** People from whom a grant is taken in one transaction. */
const WITHDRAW_BATCH = 100;

export type GrantService = ReturnType<typeof grantService>;

export function grantService(kind: GrantKind, db: Database) {
  const { table, idKind, audit, noun } = GRANT_KINDS[kind];

  function find({ tx }: Unit, application: Application, id: string): GrantRow {
    const row = tx
      .select()
      .from(table)
      .where(and(eq(table.applicationId, application.id), eq(table.id, id)))
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function refuseTaken({ tx }: Unit, application: Application, slug: string, exceptId?: string): void {
    const holder = tx
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.applicationId, application.id), eq(table.slug, slug)))
      .get();
    if (holder && holder.id !== exceptId)
      throw new AppError('conflict', { message: `This application has a ${noun} with this slug already.` });
  }

  return {
    /** In the order of their slugs. */
    list(application: Application, { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): Page<GrantRecord> {
      const after = cursor === undefined ? '' : decodeCursor(cursor, ['string'])[0];
      const rows = db.orm
        .select()
        .from(table)
        .where(and(eq(table.applicationId, application.id), gt(table.slug, after)))
        .orderBy(asc(table.slug))
        .limit(limit + 1)
        .all();
      return pageOf(rows, limit, (row) => [row.slug], present);
    },

    create(actor: Actor, application: Application, input: GrantInput): GrantRecord {
      return db.write(actor, (unit) => {
        refuseTaken(unit, application, input.slug);
        if (
          unit.tx.select({ id: table.id }).from(table).where(eq(table.applicationId, application.id)).all().length >=
          MAX_PER_APPLICATION
        )
          throw new AppError('conflict', { message: `An application has at most ${MAX_PER_APPLICATION} of these.` });
        const [row] = unit.tx
          .insert(table)
          .values({
            id: newId(idKind, unit.now),
            applicationId: application.id,
            slug: input.slug,
            name: input.name?.trim() ?? input.slug,
            description: input.description ?? null,
            isDefault: input.isDefault ?? false,
            createdAt: unit.now,
            updatedAt: unit.now,
          })
          .returning()
          .all();
        unit.audit({
          kind: `${audit}.created`,
          applicationId: application.id,
          targetId: row!.id,
          detail: { slug: row!.slug },
        });
        return present(row!);
      });
    },

    /**
     * A slug in use is what backends compare with, so changing it takes `force`.
     *
     * @throws {AppError} not_found, conflict
     */
    update(actor: Actor, application: Application, id: string, patch: GrantPatch, isForced: boolean): GrantRecord {
      return db.write(actor, (unit) => {
        const row = find(unit, application, id);
        const isRenamed = patch.slug !== undefined && patch.slug !== row.slug;
        if (isRenamed) {
          refuseTaken(unit, application, patch.slug!, id);
          if (!isForced && isHeld(unit, kind, id))
            throw new AppError('conflict', { message: `This ${noun} is in use; add ?force=true to change its slug.` });
        }
        const [changed] = unit.tx
          .update(table)
          .set({ ...patch, ...(patch.name !== undefined && { name: patch.name.trim() }), updatedAt: unit.now })
          .where(eq(table.id, id))
          .returning()
          .all();
        if (isRenamed) announceRename(unit, kind, id, { from: row.slug, to: changed!.slug });
        unit.audit({
          kind: `${audit}.updated`,
          applicationId: application.id,
          targetId: id,
          detail: { fields: Object.keys(patch) },
        });
        return present(changed!);
      });
    },

    /**
     * Deletes a grant. One that many hold is taken away in batches that let other requests through, and deleted with the
     * last of them; cut off in between, it is there still, held by the rest, and can be deleted again.
     *
     * @throws {AppError} not_found; conflict where it is in use and not forced.
     */
    async remove(actor: Actor, application: Application, id: string, isForced: boolean) {
      for (let withdrawnFrom = 0; ; await Bun.sleep(0)) {
        const outcome = db.write(actor, (unit) => {
          const row = find(unit, application, id);
          if (!isForced && isHeld(unit, kind, id))
            throw new AppError('conflict', {
              message: `This ${noun} is in use; add ?force=true to take it away from everyone and delete it.`,
            });
          const count = withdrawFromSome(unit, kind, row, WITHDRAW_BATCH);
          if (count < WITHDRAW_BATCH) {
            unit.tx.delete(table).where(eq(table.id, id)).run();
            const detail = { slug: row.slug, withdrawnFrom: withdrawnFrom + count };
            unit.audit({ kind: `${audit}.deleted`, applicationId: application.id, targetId: id, detail });
          }
          return count;
        });
        withdrawnFrom += outcome;
        if (outcome < WITHDRAW_BATCH) return { id, withdrawnFrom };
      }
    },
  };
}

function present({ id, slug, name, description, isDefault, createdAt, updatedAt }: GrantRow): GrantRecord {
  return { id, slug, name, description, isDefault, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
