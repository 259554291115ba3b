/** Background tasks that write a tenant-wide state change into its rows: durable, each with a cursor. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { type Actor, SYSTEM_ACTOR } from '../core/actor.ts';
import { newId } from '../core/id.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { longWorks } from './schema/records.ts';

const { placeholder } = sql;

export type LongWorkRow = typeof longWorks.$inferSelect;

export interface PendingWork {
  readonly kind: string;
  readonly done: number;
  /** Null until counted. */
  readonly total: number | null;
}

/** Ids of background tasks that their first batch did not finish. */
export const LONG_WORK_BEGUN = topic<string>('long work begun');

export interface NewLongWork {
  readonly kind: string;
  readonly applicationId: string | null;
  readonly data: object;
  readonly cursor: string | null;
  readonly done: number;
}

/** Returns a copy of an actor for JSON: most of its properties are inherited. */
const storedActor = ({ type, userId, apiKeyId, requestId, ip, ipCountry }: Actor): Actor => ({
  type,
  userId,
  apiKeyId,
  requestId,
  ip,
  ipCountry,
});

/** Adds what tasks of earlier versions lack of their actor. */
const withActor = (row: LongWorkRow): LongWorkRow => ({ ...row, actor: { ...SYSTEM_ACTOR, ...row.actor } });

/** Inserts a task that runs as this change's actor, and starts it after the commit. */
export async function insertLongWork(unit: Unit, work: NewLongWork): Promise<void> {
  const id = newId('longWork', unit.now);
  await orm(unit)
    .insert(longWorks)
    .values({ id, ...work, actor: storedActor(unit.actor), total: null, createdAt: unit.now, updatedAt: unit.now });
  unit.publish(LONG_WORK_BEGUN, id);
}

const allWorks = prepared((db) => db.select().from(longWorks).orderBy(asc(longWorks.id)).prepare());

export async function listLongWorks(reader: Reader): Promise<LongWorkRow[]> {
  return (await allWorks(reader)).map(withActor);
}

const workById = prepared((db) =>
  db
    .select()
    .from(longWorks)
    .where(eq(longWorks.id, placeholder('id')))
    .prepare(),
);

/** Returns a task; undefined once it is finished or cancelled. */
export async function findLongWork(reader: Reader, id: string): Promise<LongWorkRow | undefined> {
  const [row] = await workById(reader, { id });
  return row && withActor(row);
}

/** Returns these applications' unfinished tasks of this kind, oldest first. */
export async function listLongWorksOf(
  reader: Reader,
  kind: string,
  applicationIds: readonly string[],
): Promise<LongWorkRow[]> {
  if (applicationIds.length === 0) return [];
  return orm(reader)
    .select()
    .from(longWorks)
    .where(and(inArray(longWorks.applicationId, [...applicationIds]), eq(longWorks.kind, kind)))
    .orderBy(asc(longWorks.id));
}

export async function deleteLongWorksOf(unit: Unit, kind: string, applicationId: string): Promise<void> {
  await orm(unit)
    .delete(longWorks)
    .where(and(eq(longWorks.applicationId, applicationId), eq(longWorks.kind, kind)));
}

/** Stores the progress in the same change as the batch, so that a crash repeats neither. */
export async function advanceLongWork(
  unit: Unit,
  id: string,
  { cursor, done }: { readonly cursor: string | null; readonly done: number },
): Promise<void> {
  await orm(unit).update(longWorks).set({ cursor, done, updatedAt: unit.now }).where(eq(longWorks.id, id));
}

/** Stores the total of rows done and remaining, counted once. */
export async function setLongWorkTotal(unit: Unit, id: string, total: number): Promise<void> {
  await orm(unit).update(longWorks).set({ total }).where(eq(longWorks.id, id));
}

export async function deleteLongWork(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(longWorks).where(eq(longWorks.id, id));
}

/** Returns each application's oldest unfinished task. */
export async function findPendingWork(
  reader: Reader,
  applicationIds: readonly string[],
): Promise<ReadonlyMap<string, PendingWork>> {
  if (applicationIds.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(longWorks)
    .where(inArray(longWorks.applicationId, [...applicationIds]))
    .orderBy(asc(longWorks.id));
  const pending = new Map<string, PendingWork>();
  for (const { applicationId, kind, done, total } of rows)
    if (applicationId !== null && !pending.has(applicationId)) pending.set(applicationId, { kind, done, total });
  return pending;
}
