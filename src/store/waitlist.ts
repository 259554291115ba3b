/**
 * Waitlist entries of applications. A decision over all pending entries takes effect at once: reads apply it until the
 * background task has updated the row.
 */
import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { change, longRead, note, orm, prepared, query } from '../db/statements.ts';
import { unindexedWorkspaceId } from './applications.ts';
import { listLongWorksOf } from './long-works.ts';
import { insertOne, updateOne } from './one-row.ts';
import { applications, type WaitlistEntry, betaInterests } from './schema/applications.ts';

export { BETA_STATUSES } from './schema/applications.ts';
export type { WaitlistEntry };

export type BetaStatus = WaitlistEntry['status'];

/** Kind of the background task that writes a decision into the rows; its data is the decision. */
export const DECIDE_PENDING = 'decide_pending';

/** Decision over all entries pending at that time. */
export interface WaitlistDecision {
  /** The application's epoch after the decision: it applies to entries pending under the previous epoch. */
  readonly epoch: number;
  readonly status: BetaStatus;
  /** Null, like the time, if nobody reviewed them. */
  readonly decidedById: string | null;
  readonly decidedAt: number | null;
  /** In epoch milliseconds. */
  readonly at: number;
}

const { placeholder } = sql;

/** Literal, to use the partial index. */
const IS_PENDING = sql`${betaInterests.status} = 'pending'`;

/** Returns decisions that the background task has not fully written yet. */
async function unwrittenDecisions(
  reader: Reader,
  applicationIds: readonly string[],
): Promise<readonly (WaitlistDecision & { readonly applicationId: string | null })[]> {
  const works = await listLongWorksOf(reader, DECIDE_PENDING, applicationIds);
  return works.map(({ applicationId, data }) => ({ ...(data as WaitlistDecision), applicationId }));
}

/** Applies unwritten decisions to the rows. */
async function settle(reader: Reader, rows: readonly WaitlistEntry[]): Promise<WaitlistEntry[]> {
  const pending = rows.filter(({ status }) => status === 'pending');
  const decisions = await unwrittenDecisions(reader, [...new Set(pending.map(({ applicationId }) => applicationId))]);
  return rows.map((row) => {
    const decision = decisions.find((one) => one.applicationId === row.applicationId && one.epoch === row.epoch + 1);
    if (row.status !== 'pending' || !decision) return row;
    const { status, decidedById, decidedAt, at } = decision;
    return { ...row, status, decidedById, decidedAt, updatedAt: at };
  });
}

const interestById = prepared((db) =>
  db
    .select()
    .from(betaInterests)
    .where(and(eq(betaInterests.applicationId, placeholder('applicationId')), eq(betaInterests.id, placeholder('id'))))
    .prepare(),
);

/** Returns an entry; undefined for one of another application. */
export async function findWaitlistEntry(
  reader: Reader,
  applicationId: string,
  id: string,
): Promise<WaitlistEntry | undefined> {
  const [interest] = await settle(reader, await interestById(reader, { applicationId, id }));
  return interest;
}

const interestByEmail = prepared((db) =>
  db
    .select()
    .from(betaInterests)
    .where(
      and(eq(betaInterests.applicationId, placeholder('applicationId')), eq(betaInterests.email, placeholder('email'))),
    )
    .prepare(),
);

/** @param email normalized. */
export async function findWaitlistEntryByEmail(
  reader: Reader,
  applicationId: string,
  email: string,
): Promise<WaitlistEntry | undefined> {
  const [interest] = await settle(reader, await interestByEmail(reader, { applicationId, email }));
  return interest;
}

export async function isOnAllowlist(reader: Reader, applicationId: string, email: string): Promise<boolean> {
  const interest = await findWaitlistEntryByEmail(reader, applicationId, email);
  return interest?.status === 'approved';
}

/** Returns up to `limit` waitlist entries of these addresses in these workspaces, oldest first. */
export async function listWaitlistEntriesOf(
  reader: Reader,
  emails: readonly string[],
  workspaceIds: readonly string[],
  limit: number,
): Promise<WaitlistEntry[]> {
  const rows = await orm(reader)
    .select({ interest: betaInterests })
    .from(betaInterests)
    .innerJoin(applications, eq(applications.id, betaInterests.applicationId))
    .where(and(inArray(betaInterests.email, [...emails]), inArray(unindexedWorkspaceId(reader), [...workspaceIds])))
    .orderBy(betaInterests.id)
    .limit(limit);
  return settle(
    reader,
    rows.map(({ interest }) => interest),
  );
}

/** Returns whether another workspace's waitlist has an entry, in any state, for any address the person has or had. */
export const isListedOutside = query.exists<{ userId: string; workspaceId: string }>(
  ({ joinInOrder }) => `SELECT b.id FROM beta_interests b ${joinInOrder} applications a ON a.id = b.application_id
   WHERE b.email IN (
       SELECT email FROM users WHERE id = :userId UNION SELECT email FROM email_aliases WHERE user_id = :userId)
     AND (a.workspace_id IS NULL OR a.workspace_id <> :workspaceId) LIMIT 1`,
);

export interface WaitlistQuery {
  readonly applicationId: string;
  readonly status: BetaStatus | undefined;
  readonly before: string | undefined;
  readonly limit: number;
}

/** Returns a page of entries, newest first. */
export async function listWaitlist(
  reader: Reader,
  { applicationId, status, before, limit }: WaitlistQuery,
): Promise<WaitlistEntry[]> {
  // Read before the rows: a task that finishes in between has written them.
  const decisions = await unwrittenDecisions(reader, [applicationId]);
  const pendingUnder = (epoch: number | SQL) => and(IS_PENDING, eq(betaInterests.epoch, epoch));
  const current = sql`(SELECT ${applications.interestEpoch} FROM ${applications} WHERE ${applications.id} = ${applicationId})`;
  const parts =
    status === undefined
      ? [undefined]
      : status === 'pending'
        ? [pendingUnder(current)]
        : [
            eq(betaInterests.status, status),
            ...decisions.filter((one) => one.status === status).map(({ epoch }) => pendingUnder(epoch - 1)),
          ];
  const found: WaitlistEntry[] = [];
  for (const part of parts)
    found.push(
      ...(await orm(reader)
        .select()
        .from(betaInterests)
        .where(
          and(
            eq(betaInterests.applicationId, applicationId),
            part,
            before === undefined ? undefined : lt(betaInterests.id, before),
          ),
        )
        .orderBy(desc(betaInterests.id))
        .limit(limit)),
    );
  if (parts.length > 1) found.sort((one, other) => (one.id < other.id ? 1 : -1));
  return settle(reader, found.slice(0, limit));
}

export type NewWaitlistEntry = Pick<
  WaitlistEntry,
  'id' | 'applicationId' | 'email' | 'status' | 'source' | 'locale' | 'decidedById' | 'decidedAt'
>;

function epochOf(applicationId: string): SQL<number> {
  return sql`(SELECT interest_epoch FROM applications WHERE id = ${applicationId})`;
}

/** Inserts an entry under the current epoch, so that no earlier decision applies. */
export function insertWaitlistEntry(unit: Unit, interest: NewWaitlistEntry): Promise<WaitlistEntry> {
  const epoch = epochOf(interest.applicationId);
  return insertOne(unit, betaInterests, { ...interest, epoch, createdAt: unit.now, updatedAt: unit.now });
}

/** Sets the status of one entry, so that no earlier decision applies to it. */
export function updateWaitlistEntry(
  unit: Unit,
  { id, applicationId }: Pick<WaitlistEntry, 'id' | 'applicationId'>,
  columns: Pick<WaitlistEntry, 'status' | 'decidedById' | 'decidedAt'> &
    Partial<Pick<WaitlistEntry, 'source' | 'locale'>>,
): Promise<WaitlistEntry> {
  return updateOne(unit, betaInterests, id, { ...columns, epoch: epochOf(applicationId), updatedAt: unit.now });
}

/** Sets the language of an entry that has none. Writes the row in any case. */
export const fillWaitlistLocale = change<Pick<WaitlistEntry, 'id' | 'locale'>>(
  'UPDATE beta_interests SET locale = coalesce(locale, :locale) WHERE id = :id',
);

/** Moves an entry to an address that is not on that waitlist yet. */
export async function moveWaitlistEntry(unit: Unit, id: string, email: string): Promise<void> {
  await orm(unit).update(betaInterests).set({ email, updatedAt: unit.now }).where(eq(betaInterests.id, id));
}

/** Deletes an entry; its address may be added again. */
export async function deleteWaitlistEntry(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(betaInterests).where(eq(betaInterests.id, id));
}

/** Removes these addresses from all waitlists, so that no mail is sent to the address of a deleted account. */
export async function deleteWaitlistEntriesOf(unit: Unit, emails: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(betaInterests)
    .where(inArray(betaInterests.email, [...emails]));
}

const addToEpoch = note<string>(
  'UPDATE applications SET interest_epoch = interest_epoch + 1 WHERE id = :applicationId',
);
const currentEpoch = query.aggregate<number, string>(
  'SELECT interest_epoch FROM applications WHERE id = :applicationId',
);

/** Starts a decision over all pending entries. @returns its epoch. */
export async function advanceWaitlistEpoch(unit: Unit, applicationId: string): Promise<number> {
  await addToEpoch(unit, applicationId);
  return currentEpoch(unit, applicationId);
}

export const countPending = query.count<string>(
  `SELECT count(*) FROM beta_interests WHERE application_id = :applicationId AND status = 'pending'
     AND epoch = (SELECT interest_epoch FROM applications WHERE id = :applicationId)`,
);

/** Entries by status, and how many must be notified when the application opens, pending ones excluded. */
export interface WaitlistCounts {
  readonly byStatus: Readonly<Record<BetaStatus, number>>;
  readonly untold: number;
}

/** Count of one status: SQLite counts 200,000 entries in 12 ms, and groups them in 18. */
const decidedAs = (status: Exclude<BetaStatus, 'pending'>) =>
  `SELECT '${status}' AS status, 0 AS epoch, count(*) AS count FROM beta_interests
   WHERE application_id = :applicationId AND status = '${status}'`;

// One statement: between two, a background task could change the status of entries.
const countsByStatus = longRead.rows<{ status: BetaStatus | 'unnotified'; epoch: number; count: number }, string>(
  // `epoch` selects the index of waiting entries.
  `${decidedAs('approved')} UNION ALL ${decidedAs('notify_when_public')} UNION ALL ${decidedAs('declined')}
   UNION ALL
   SELECT status, epoch, count(*) FROM beta_interests
   WHERE application_id = :applicationId AND status = 'pending' GROUP BY status, epoch
   UNION ALL
   SELECT 'unnotified', 0, count(*) FROM beta_interests
   WHERE application_id = :applicationId AND epoch >= 0 AND status = 'notify_when_public' AND notified_at IS NULL`,
);

export async function countWaitlist(reader: Reader, applicationId: string): Promise<WaitlistCounts> {
  const decisions = await unwrittenDecisions(reader, [applicationId]);
  const byStatus: Record<BetaStatus, number> = { pending: 0, approved: 0, notify_when_public: 0, declined: 0 };
  let untold = 0;
  for (const { status, epoch, count } of await countsByStatus(reader, applicationId)) {
    if (status === 'unnotified') {
      untold += count;
      continue;
    }
    // Applies the decisions that are not written yet.
    const decision = status === 'pending' ? decisions.find((one) => one.epoch === epoch + 1) : undefined;
    byStatus[decision?.status ?? status] += count;
    if (decision?.status === 'notify_when_public') untold += count;
  }
  return { byStatus, untold };
}

interface AtEpoch {
  readonly applicationId: string;
  readonly epoch: number;
}

/** Returns whether rows remain for the decision of this epoch to reach. */
export const isAnyoneUnreached = query.exists<AtEpoch>(
  `SELECT id FROM beta_interests
   WHERE application_id = :applicationId AND status = 'pending' AND epoch = :epoch - 1 LIMIT 1`,
);

export const countUnreached = longRead.count<AtEpoch>(
  `SELECT count(*) FROM beta_interests
   WHERE application_id = :applicationId AND status = 'pending' AND epoch = :epoch - 1`,
);

/** An entry reached by one batch of a background task. */
export type Reached = Pick<WaitlistEntry, 'id' | 'email' | 'locale'>;

const writeDecision = change.rows<Reached, WaitlistDecision & { applicationId: string; limit: number }>(
  `UPDATE beta_interests SET status = :status, decided_by_id = :decidedById, decided_at = :decidedAt, updated_at = :at
   WHERE id IN (SELECT id FROM beta_interests
                WHERE application_id = :applicationId AND epoch = :epoch - 1 AND status = 'pending'
                ORDER BY id LIMIT :limit)
   RETURNING id, email, locale`,
);

/** Writes a decision into the next `limit` rows, oldest first. */
export async function decideWaitlist(
  unit: Unit,
  applicationId: string,
  decision: WaitlistDecision,
  limit: number,
): Promise<Reached[]> {
  return inOrder(await writeDecision(unit, { ...decision, applicationId, limit }));
}

const stampNotified = change.rows<Reached, AtEpoch & { limit: number }>(
  `UPDATE beta_interests SET notified_at = :now
   WHERE id IN (SELECT id FROM beta_interests WHERE application_id = :applicationId AND epoch < :epoch
                  AND status = 'notify_when_public' AND notified_at IS NULL
                ORDER BY epoch, id LIMIT :limit)
   RETURNING id, email, locale`,
);

/** Marks the next `limit` entries that have waited since before this epoch as notified, each once. */
export async function takeWaiting(unit: Unit, applicationId: string, epoch: number, limit: number): Promise<Reached[]> {
  return inOrder(await stampNotified(unit, { applicationId, epoch, limit }));
}

/** Returns whether entries from before this epoch still have to be notified. */
export const isAnyoneWaiting = query.exists<AtEpoch>(
  `SELECT id FROM beta_interests WHERE application_id = :applicationId AND epoch < :epoch
     AND status = 'notify_when_public' AND notified_at IS NULL LIMIT 1`,
);

export const countWaiting = longRead.count<AtEpoch>(
  `SELECT count(*) FROM beta_interests WHERE application_id = :applicationId AND epoch < :epoch
     AND status = 'notify_when_public' AND notified_at IS NULL`,
);

/** Returns whether a decision up to this epoch still has rows to reach. */
export async function hasUnwrittenDecision(reader: Reader, applicationId: string, epoch: number): Promise<boolean> {
  const decisions = await unwrittenDecisions(reader, [applicationId]);
  return decisions.some((decision) => decision.epoch <= epoch);
}

function inOrder(reached: readonly Reached[]): Reached[] {
  return reached.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
