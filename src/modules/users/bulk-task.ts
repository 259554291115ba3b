/**
 * Background task of a bulk change. Its people are those who matched when it began: who joined later is beyond its
 * highest id, and who was changed by somebody else since is left alone.
 */
import { AppError } from '../../core/error.ts';
import { firstIdAt, idBeside } from '../../core/id.ts';
import type { Reader, Unit } from '../../db/database.ts';
import type { BackgroundTask, Batch, RunningTask } from '../../jobs/background-tasks.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { amendAudit } from '../../store/audit.ts';
import {
  addOutcomes,
  type BulkChangeRow,
  endBulkChange,
  findBulkChange,
  findOutcomes,
  listChanged,
  type MemberOutcome,
  type OutcomeCounts,
  type OutcomeDetail,
} from '../../store/bulk-changes.ts';
import { findMembersById, type MemberWithUser } from '../../store/members.ts';
import { changeGrantsOf, undoneGrants } from './grant-changes.ts';
import { searchMembers } from './search.ts';
import { changeStatus } from './status.ts';

export const CHANGE_USERS = 'change_users';

/** People found for one batch; the batch writes as many of them as its limit allows. */
const MOST = 50;
/** People per read while counting. */
const COUNTED = 2000;

export interface BulkTask {
  readonly bulkChangeId: string;
}

interface FoundPeople {
  readonly memberIds: readonly string[];
  /** Null at the end. */
  readonly next: string | null;
}

type Run = RunningTask<BulkTask, string>;

interface Outcome {
  readonly outcome: MemberOutcome['outcome'] | 'unchanged';
  readonly detail: OutcomeDetail;
}

const NOBODY: FoundPeople = { memberIds: [], next: null };

/** Returns the next people of a change by id, without those who joined after its start. */
async function findNext(reader: Reader, { applicationId, data, cursor }: Run, limit: number): Promise<FoundPeople> {
  const bulk = await findBulkChange(reader, applicationId, data.bulkChangeId);
  if (!bulk) return NOBODY;
  const { filter, undoOfId } = bulk;
  if (undoOfId !== null) {
    const rows = await listChanged(reader, undoOfId, { after: cursor ?? '', limit });
    const memberIds = rows.map(({ applicationUserId }) => applicationUserId);
    return { memberIds, next: memberIds.length < limit ? null : (memberIds.at(-1) ?? null) };
  }
  const { found, next } = await searchMembers(
    reader,
    applicationId,
    { ...filter, isByName: true },
    { order: 'joined', after: cursor === null ? null : { lastSeenAt: 0, id: cursor }, limit },
  );
  const end = endOf(bulk);
  const memberIds = found.map(({ id }) => id).filter((id) => id < end);
  return { memberIds, next: next === null || next.id >= end ? null : next.id };
}

/** Returns an id behind those of all who joined before the change: very many ids in a millisecond run ahead of the clock. */
function endOf({ id, createdAt }: BulkChangeRow): string {
  const [byClock, byId] = [firstIdAt('applicationUser', createdAt + 1), idBeside('applicationUser', id)];
  return byClock > byId ? byClock : byId;
}

export const changeUsers: BackgroundTask<BulkTask, string, FoundPeople> = {
  name: CHANGE_USERS,

  find: (reader, run) => findNext(reader, run, MOST),

  async step(unit, { applicationId, data, cursor }, limit, found) {
    const bulk = await findBulkChange(unit, applicationId, data.bulkChangeId);
    if (!bulk) return { done: 0, cursor, isFinished: true };
    if (bulk.stoppedAt !== null) return finish(unit, bulk, 0);
    if (!found) return { done: 0, cursor, isFinished: false };
    const memberIds = found.memberIds.slice(0, limit);
    const counts = await changeAll(unit, bulk, memberIds);
    const isCut = memberIds.length < found.memberIds.length;
    const next = isCut ? (memberIds.at(-1) ?? null) : found.next;
    if (next === null) return finish(unit, { ...bulk, ...sumOf(bulk, counts) }, memberIds.length);
    return { done: memberIds.length, cursor: next, isFinished: false };
  },

  async count(reader, run) {
    let count = 0;
    for (let { cursor } = run; ;) {
      const { memberIds, next } = await findNext(reader, { ...run, cursor }, COUNTED);
      count += memberIds.length;
      if (next === null) return count;
      cursor = next;
    }
  },
};

async function changeAll(unit: Unit, bulk: BulkChangeRow, memberIds: readonly string[]): Promise<OutcomeCounts> {
  const application = await requireApplication(unit, bulk.applicationId);
  const members = await findMembersById(unit, memberIds);
  const undone = bulk.undoOfId === null ? null : await findOutcomes(unit, bulk.undoOfId, memberIds);
  const counts = { changed: 0, unchanged: 0, refused: 0, skipped: 0 };
  const outcomes: Pick<MemberOutcome, 'applicationUserId' | 'outcome' | 'detail'>[] = [];
  for (const [applicationUserId, row] of members) {
    // Judged before the first change of this batch: an undo may change one person twice.
    const isOthers = undone === null && row.member.updatedAt > bulk.createdAt;
    const { outcome, detail } = isOthers
      ? { outcome: 'skipped' as const, detail: {} }
      : await changeOne(unit, application, row, bulk.change, undone?.get(applicationUserId)?.detail);
    counts[outcome] += 1;
    if (outcome !== 'unchanged') outcomes.push({ applicationUserId, outcome, detail });
  }
  // Forgotten imports.
  counts.skipped += memberIds.length - members.size;
  await addOutcomes(unit, bulk.id, counts, outcomes);
  return counts;
}

/** @param undone what the change to undo did to this person; undefined for another change. */
async function changeOne(
  unit: Unit,
  application: Application,
  row: MemberWithUser,
  change: BulkChangeRow['change'],
  undone: OutcomeDetail | undefined,
): Promise<Outcome> {
  try {
    if (change.action === null) {
      const wanted = undone ? await undoneGrants(unit, application.id, undone.grants ?? {}) : change.grants;
      const { isChanged, made } = await changeGrantsOf(unit, row.member, wanted);
      return { outcome: isChanged ? 'changed' : 'unchanged', detail: { grants: made } };
    }
    const { action, reason } = change;
    const { isChanged, row: changed } = await changeStatus(unit, application, row, { action, reason });
    // A ban of somebody paused: lifting it must not let them in.
    if (isChanged && undone?.before === 'paused' && changed.member.status === 'active')
      await changeStatus(unit, application, changed, { action: 'pause' });
    return { outcome: isChanged ? 'changed' : 'unchanged', detail: { before: row.member.status } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { outcome: 'refused', detail: { error: error.code, message: error.message } };
  }
}

function sumOf(one: OutcomeCounts, other: OutcomeCounts): OutcomeCounts {
  const sum = (name: keyof OutcomeCounts) => one[name] + other[name];
  return { changed: sum('changed'), unchanged: sum('unchanged'), refused: sum('refused'), skipped: sum('skipped') };
}

async function finish(unit: Unit, bulk: BulkChangeRow, done: number): Promise<Batch> {
  await endBulkChange(unit, bulk.id);
  const { changed, unchanged, refused, skipped, stoppedAt } = bulk;
  const counts = { changed, unchanged, refused, skipped, ...(stoppedAt !== null && { isStopped: true }) };
  await amendAudit(unit, bulk.auditId, { ...describe(bulk), ...counts });
  return { done, cursor: null, isFinished: true };
}

/** Returns what was asked, for the audit log. */
export function describe({
  id,
  filter,
  change,
  undoOfId,
}: Pick<BulkChangeRow, 'id' | 'filter' | 'change' | 'undoOfId'>): Record<string, unknown> {
  const { action } = change;
  const asked =
    action === null ? change.grants : { action, ...(change.reason !== undefined && { reason: change.reason }) };
  return { bulkChangeId: id, ...asked, ...(filter && { filter }), ...(undoOfId !== null && { undoOf: undoOfId }) };
}
