/** The trails still to be written of switches that are as long as a tenant: durable, each with a cursor. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Actor } from '../core/actor.ts';
import { newId } from '../core/id.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { longWorks } from './schema/records.ts';

const { placeholder } = sql;

export type LongWorkRow = typeof longWorks.$inferSelect;

/** How far a trail is, as a record shows it. */
export interface PendingWork {
  readonly kind: string;
  readonly done: number;
  /** Null until it has been counted. */
  readonly total: number | null;
}

/** A trail was begun that its first slice did not finish. */
export const LONG_WORK_BEGUN = topic<string>('long work begun');

/** A trail, as far as its first slice has come. */
export interface NewLongWork {
  readonly kind: string;
  readonly applicationId: string | null;
  readonly data: object;
  readonly cursor: string | null;
  readonly done: number;
}

/** Goes on under the actor of this change, and is taken up once it is durable. */
export async function insertLongWork(unit: Unit, work: NewLongWork): Promise<void> {
  const id = newId('longWork', unit.now);
  await orm(unit)
    .insert(longWorks)
    .values({ id, ...work, actor: unit.actor as Actor, total: null, createdAt: unit.now, updatedAt: unit.now });
  unit.tell(LONG_WORK_BEGUN, id);
}

const allWorks = prepared((db) => db.select().from(longWorks).orderBy(asc(longWorks.id)).prepare());

/** Oldest first. */
export function listLongWorks(reader: Reader): Promise<LongWorkRow[]> {
  return allWorks(reader);
}

const workById = prepared((db) =>
  db
    .select()
    .from(longWorks)
    .where(eq(longWorks.id, placeholder('id')))
    .prepare(),
);

/** Undefined once it is done or given up. */
export async function findLongWork(reader: Reader, id: string): Promise<LongWorkRow | undefined> {
  const [row] = await workById(reader, { id });
  return row;
}

/** The trails of this kind that are still being written for these applications, oldest first. */
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

/** Gives up the trails of this kind for the application. */
export async function deleteLongWorksOf(unit: Unit, kind: string, applicationId: string): Promise<void> {
  await orm(unit)
    .delete(longWorks)
    .where(and(eq(longWorks.applicationId, applicationId), eq(longWorks.kind, kind)));
}

/** In the change that writes the slice, so that a crash repeats neither. */
export async function advanceLongWork(
  unit: Unit,
  id: string,
  { cursor, done }: { readonly cursor: string | null; readonly done: number },
): Promise<void> {
  await orm(unit).update(longWorks).set({ cursor, done, updatedAt: unit.now }).where(eq(longWorks.id, id));
}

/** Rows done and left together, as counted once. */
export async function setLongWorkTotal(unit: Unit, id: string, total: number): Promise<void> {
  await orm(unit).update(longWorks).set({ total }).where(eq(longWorks.id, id));
}

/** It is done. */
export async function deleteLongWork(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(longWorks).where(eq(longWorks.id, id));
}

/** The oldest trail of each of these applications that has one. */
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
