/** Starts, lists, stops and undoes changes to all users that a filter matches; bulk-task.ts makes them. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  type BulkChange,
  type BulkChangeRow,
  findBulkChange,
  insertBulkChange,
  isBulkChangeRunning,
  listLeftOut,
  type NewBulkChange,
  newBulkChangeId,
  noteUndoneBy,
  pageOfBulkChanges,
  stopBulkChange,
} from '../../store/bulk-changes.ts';
import { listLongWorksOf, type LongWorkRow } from '../../store/long-works.ts';
import { findMembersById } from '../../store/members.ts';
import type { BulkChangeDetail, BulkChangeInput, BulkChangeRecord, UserCount, UserFilter } from './bulk-model.ts';
import { type BulkTask, CHANGE_USERS, changeUsers, describe } from './bulk-task.ts';
import { kindsOf, refuseBoth, refuseUnknown } from './grant-changes.ts';
import { searchMembers } from './search.ts';
import type { StatusAction } from './status.ts';

const OPPOSITE: Readonly<Record<StatusAction, StatusAction>> = {
  ban: 'unban',
  unban: 'ban',
  pause: 'resume',
  resume: 'pause',
  delete: 'restore',
  restore: 'delete',
};

/** Size of a count's reads, and the reads of one call: about half a second. */
const COUNTED = 5000;
const READS = 12;
const SHOWN_LEFT_OUT = 100;

export type BulkChangeService = ReturnType<typeof bulkChangeService>;

export function bulkChangeService(db: Database) {
  async function find(reader: Reader, application: Application, id: string): Promise<BulkChangeRow> {
    const row = await findBulkChange(reader, application.id, id);
    if (!row) throw new AppError('not_found');
    return row;
  }

  async function presentAll(
    reader: Reader,
    application: Application,
    rows: readonly BulkChangeRow[],
  ): Promise<BulkChangeRecord[]> {
    const works = rows.some(isRunning) ? await listLongWorksOf(reader, CHANGE_USERS, [application.id]) : [];
    return rows.map((row) => present(row, works));
  }

  async function detail(reader: Reader, application: Application, row: BulkChangeRow): Promise<BulkChangeDetail> {
    const [record] = await presentAll(reader, application, [row]);
    const leftOut = await listLeftOut(reader, row.id, SHOWN_LEFT_OUT);
    const members = await findMembersById(
      reader,
      leftOut.map(({ applicationUserId }) => applicationUserId),
    );
    return {
      ...(record ?? present(row, [])),
      leftOut: leftOut.flatMap(({ applicationUserId, outcome, detail: { message = null } }) => {
        const member = members.get(applicationUserId);
        if (!member || outcome === 'changed') return [];
        return [{ userId: member.user.id, email: member.user.email, outcome, message }];
      }),
    };
  }

  /** @throws {AppError} conflict while another change of the application runs. */
  async function begin(unit: Unit, bulk: NewBulkChange): Promise<BulkChangeRow> {
    const { applicationId } = bulk;
    if (await isBulkChangeRunning(unit, applicationId)) throw new AppError('conflict', { hint: 'bulk_change_running' });
    const id = newBulkChangeId(unit);
    const auditId = await recordAudit(unit, {
      kind: 'user.bulk_changed',
      applicationId,
      targetId: id,
      detail: describe({ id, ...bulk }),
    });
    const row = await insertBulkChange(unit, { id, auditId, ...bulk });
    const data: BulkTask = { bulkChangeId: id };
    await beginTask(unit, changeUsers, { applicationId, data });
    return row;
  }

  return {
    /** Counts in bounded reads; a count of very many continues at the cursor. @throws {AppError} invalid_cursor */
    async count(application: Application, filter: UserFilter, cursor: string | undefined): Promise<UserCount> {
      let after = cursor === undefined ? null : { lastSeenAt: 0, id: decodeCursor(cursor, ['string'])[0] };
      let count = 0;
      for (let reads = 0; reads < READS; reads += 1) {
        const { found, next } = await searchMembers(
          db.reader,
          application.id,
          { ...filter, isByName: true },
          { order: 'joined', after, limit: COUNTED },
        );
        count += found.length;
        if (next === null) return { count, nextCursor: null };
        after = { lastSeenAt: 0, id: next.id };
      }
      return { count, nextCursor: after && encodeCursor([after.id]) };
    },

    /** Takes effect person by person. @throws {AppError} invalid_request, conflict */
    async start(actor: Actor, application: Application, input: BulkChangeInput): Promise<BulkChangeDetail> {
      const change = changeOf(input);
      return db.write(actor, async (unit) => {
        if (change.action === null) await refuseUnknown(unit, application.id, change.grants);
        const row = await begin(unit, { applicationId: application.id, filter: input.filter, change, undoOfId: null });
        return detail(unit, application, row);
      });
    },

    async list(
      application: Application,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<BulkChangeRecord>> {
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const rows = await pageOfBulkChanges(db.reader, application.id, { before, limit: limit + 1 });
      const { items, nextCursor } = pageOf(
        rows,
        limit,
        ({ id }) => [id],
        (row) => row,
      );
      return { items: await presentAll(db.reader, application, items), nextCursor };
    },

    /** @throws {AppError} not_found */
    async get(application: Application, id: string): Promise<BulkChangeDetail> {
      return detail(db.reader, application, await find(db.reader, application, id));
    },

    /** Ends a change after the present batch; who was changed stays so. @throws {AppError} not_found, conflict */
    stop(actor: Actor, application: Application, id: string): Promise<BulkChangeDetail> {
      return db.write(actor, async (unit) => {
        await find(unit, application, id);
        if ((await stopBulkChange(unit, id)) === 0) throw new AppError('conflict', { hint: 'bulk_change_ended' });
        return detail(unit, application, await find(unit, application, id));
      });
    },

    /** Does the opposite for everybody whom the change changed. @throws {AppError} not_found, conflict */
    undo(actor: Actor, application: Application, id: string): Promise<BulkChangeDetail> {
      return db.write(actor, async (unit) => {
        const undone = await find(unit, application, id);
        if (!isUndoable(undone)) throw new AppError('conflict', { hint: 'bulk_change_not_undoable' });
        const change = oppositeOf(undone.change);
        const row = await begin(unit, { applicationId: application.id, filter: null, change, undoOfId: id });
        await noteUndoneBy(unit, { id, undoId: row.id });
        return detail(unit, application, row);
      });
    },
  };
}

/** @throws {AppError} invalid_request for none, or for both a status and grants. */
function changeOf({ action, reason, filter: _, ...given }: BulkChangeInput): BulkChange {
  const kinds = kindsOf(given).filter(
    (kind) => (given[kind]?.add?.length ?? 0) + (given[kind]?.remove?.length ?? 0) > 0,
  );
  if (action !== undefined) {
    if (kinds.length > 0) throw invalidField('action', 'Give an action or grants, not both; make two changes of it.');
    return { action, ...(reason !== undefined && { reason }) };
  }
  if (kinds.length === 0)
    throw invalidField('action', 'Give an action, or roles, scopes or memberships to add or remove.');
  if (reason !== undefined) throw invalidField('reason', 'A reason belongs to an action; leave it out for grants.');
  const grants = Object.fromEntries(kinds.map((kind) => [kind, given[kind]]));
  refuseBoth(grants);
  return { action: null, grants };
}

function oppositeOf(change: BulkChange): BulkChange {
  if (change.action !== null) return { action: OPPOSITE[change.action] };
  const turned = kindsOf(change.grants).map((kind) => {
    const { add, remove } = change.grants[kind] ?? {};
    return [kind, { ...(remove && { add: remove }), ...(add && { remove: add }) }];
  });
  return { action: null, grants: Object.fromEntries(turned) };
}

const isRunning = ({ finishedAt }: BulkChangeRow): boolean => finishedAt === null;

const isUndoable = ({ finishedAt, undoOfId, undoneById, changed }: BulkChangeRow): boolean =>
  finishedAt !== null && undoOfId === null && undoneById === null && changed > 0;

function present(row: BulkChangeRow, works: readonly LongWorkRow[]): BulkChangeRecord {
  const { id, filter, change, changed, unchanged, refused, skipped, stoppedAt } = row;
  const work = works.find(({ data }) => (data as Partial<BulkTask>).bulkChangeId === id);
  const done = changed + unchanged + refused + skipped;
  return {
    id,
    status: isRunning(row) ? 'running' : stoppedAt === null ? 'finished' : 'stopped',
    action: change.action,
    reason: change.action === null ? null : (change.reason ?? null),
    grants: change.action === null ? (change.grants as BulkChangeRecord['grants']) : null,
    filter,
    done,
    total: isRunning(row) ? (work?.total ?? null) : done,
    changed,
    unchanged,
    refused,
    skipped,
    undoOf: row.undoOfId,
    undoneBy: row.undoneById,
    isUndoable: isUndoable(row),
    startedAt: isoTime(row.createdAt),
    finishedAt: isoTime(row.finishedAt),
  };
}
