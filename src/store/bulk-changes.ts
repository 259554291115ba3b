/** Bulk changes of users, and the outcomes that an undo needs. */
import { and, asc, desc, eq, gt, inArray, isNull, lt, ne } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, orm } from '../db/statements.ts';
import { insertOne } from './one-row.ts';
import { bulkChangeMembers, bulkChanges } from './schema/bulk-changes.ts';

export type { BulkChange, BulkFilter, GrantSlugs, OutcomeDetail } from './schema/bulk-changes.ts';

export type BulkChangeRow = typeof bulkChanges.$inferSelect;
export type MemberOutcome = typeof bulkChangeMembers.$inferSelect;

export type NewBulkChange = Pick<BulkChangeRow, 'applicationId' | 'filter' | 'change' | 'undoOfId'>;

const NONE = { changed: 0, unchanged: 0, refused: 0, skipped: 0 };

export type OutcomeCounts = typeof NONE;

export const newBulkChangeId = (unit: Unit): string => newId('bulkChange', unit.now);

export function insertBulkChange(
  unit: Unit,
  change: NewBulkChange & Pick<BulkChangeRow, 'id' | 'auditId'>,
): Promise<BulkChangeRow> {
  return insertOne(unit, bulkChanges, { ...change, ...NONE, createdAt: unit.now });
}

/** Returns a bulk change of this application. */
export async function findBulkChange(
  reader: Reader,
  applicationId: string,
  id: string,
): Promise<BulkChangeRow | undefined> {
  const [row] = await orm(reader)
    .select()
    .from(bulkChanges)
    .where(and(eq(bulkChanges.id, id), eq(bulkChanges.applicationId, applicationId)));
  return row;
}

/** Returns whether a change of the application has not ended. */
export async function isBulkChangeRunning(reader: Reader, applicationId: string): Promise<boolean> {
  const rows = await orm(reader)
    .select({ id: bulkChanges.id })
    .from(bulkChanges)
    .where(and(eq(bulkChanges.applicationId, applicationId), isNull(bulkChanges.finishedAt)))
    .limit(1);
  return rows.length > 0;
}

/** Returns a page of the application's changes, newest first. */
export function pageOfBulkChanges(
  reader: Reader,
  applicationId: string,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<BulkChangeRow[]> {
  return orm(reader)
    .select()
    .from(bulkChanges)
    .where(
      and(eq(bulkChanges.applicationId, applicationId), ...(before === undefined ? [] : [lt(bulkChanges.id, before)])),
    )
    .orderBy(desc(bulkChanges.id))
    .limit(limit);
}

const addCounts = change<OutcomeCounts & { id: string }>(
  `UPDATE bulk_changes SET changed = changed + :changed, unchanged = unchanged + :unchanged,
     refused = refused + :refused, skipped = skipped + :skipped WHERE id = :id`,
);

/** Adds the outcomes of a batch. People who stayed as they were are only counted. */
export async function addOutcomes(
  unit: Unit,
  id: string,
  counts: OutcomeCounts,
  outcomes: readonly Pick<MemberOutcome, 'applicationUserId' | 'outcome' | 'detail'>[],
): Promise<void> {
  await addCounts(unit, { id, ...counts });
  if (outcomes.length === 0) return;
  await orm(unit)
    .insert(bulkChangeMembers)
    .values(outcomes.map((outcome) => ({ bulkChangeId: id, ...outcome, createdAt: unit.now })));
}

export const endBulkChange = change<string>('UPDATE bulk_changes SET finished_at = :now WHERE id = :id');

/** Makes the next batch the end. @returns 0 if the change has ended. */
export const stopBulkChange = change<string>(
  'UPDATE bulk_changes SET stopped_at = :now WHERE id = :id AND finished_at IS NULL',
);

export const noteUndoneBy = change<{ id: string; undoId: string }>(
  'UPDATE bulk_changes SET undone_by_id = :undoId WHERE id = :id',
);

/** Returns the next people whom a change has changed, by id. */
export function listChanged(
  reader: Reader,
  bulkChangeId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<MemberOutcome[]> {
  return orm(reader)
    .select()
    .from(bulkChangeMembers)
    .where(
      and(
        eq(bulkChangeMembers.bulkChangeId, bulkChangeId),
        gt(bulkChangeMembers.applicationUserId, after),
        eq(bulkChangeMembers.outcome, 'changed'),
      ),
    )
    .orderBy(asc(bulkChangeMembers.applicationUserId))
    .limit(limit);
}

/** Returns the outcomes of these people in a change. */
export async function findOutcomes(
  reader: Reader,
  bulkChangeId: string,
  memberIds: readonly string[],
): Promise<Map<string, MemberOutcome>> {
  if (memberIds.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(bulkChangeMembers)
    .where(
      and(
        eq(bulkChangeMembers.bulkChangeId, bulkChangeId),
        inArray(bulkChangeMembers.applicationUserId, [...memberIds]),
      ),
    );
  return new Map(rows.map((row) => [row.applicationUserId, row]));
}

/** Returns people who were left out, refused ones first, up to a limit. */
export function listLeftOut(reader: Reader, bulkChangeId: string, limit: number): Promise<MemberOutcome[]> {
  return orm(reader)
    .select()
    .from(bulkChangeMembers)
    .where(and(eq(bulkChangeMembers.bulkChangeId, bulkChangeId), ne(bulkChangeMembers.outcome, 'changed')))
    .orderBy(asc(bulkChangeMembers.outcome), asc(bulkChangeMembers.applicationUserId))
    .limit(limit);
}

export const deleteOutcomesOf = change<string>('DELETE FROM bulk_change_members WHERE application_user_id = :memberId');
