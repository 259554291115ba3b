/**
 * The allowlists of applications: who has asked, who is let in, who is to be told. A decision over all who wait takes effect
 * at once: whatever is read here shows it, although its trail may not have reached the row yet.
 */
import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { only } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { longRead, orm, prepared, raw, rawChange } from '../db/statements.ts';
import { listLongWorksOf } from './long-works.ts';
import { insertOne, updateOne } from './one-row.ts';
import { applications, type BetaInterest, betaInterests } from './schema/applications.ts';

export { BETA_STATUSES } from './schema/applications.ts';
export type { BetaInterest };

export type BetaStatus = BetaInterest['status'];

/** The kind of the long work that writes the trail of a decision; its data is the decision. */
export const DECIDE_PENDING = 'decide_pending';

/** What was decided at once over all who were pending then. */
export interface InterestDecision {
  /** The application's epoch from then on: it decides who was pending under the one before. */
  readonly epoch: number;
  readonly status: BetaStatus;
  /** Null, as the time, where nobody judged them. */
  readonly decidedById: string | null;
  readonly decidedAt: number | null;
  /** In epoch milliseconds. */
  readonly at: number;
}

const { placeholder } = sql;

/** Literal, so that the partial index is taken. */
const IS_PENDING = sql`${betaInterests.status} = 'pending'`;

/** Decisions whose trail is not written to the end. */
async function unwrittenDecisions(
  reader: Reader,
  applicationIds: readonly string[],
): Promise<readonly (InterestDecision & { readonly applicationId: string | null })[]> {
  const works = await listLongWorksOf(reader, DECIDE_PENDING, applicationIds);
  return works.map(({ applicationId, data }) => ({ ...(data as InterestDecision), applicationId }));
}

/** The rows as they stand by the decisions that have not reached them yet. */
async function settle(reader: Reader, rows: readonly BetaInterest[]): Promise<BetaInterest[]> {
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

/** Undefined for a row of another application. */
export async function findInterest(
  reader: Reader,
  applicationId: string,
  id: string,
): Promise<BetaInterest | undefined> {
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

/** @param email normalised. */
export async function findInterestByEmail(
  reader: Reader,
  applicationId: string,
  email: string,
): Promise<BetaInterest | undefined> {
  const [interest] = await settle(reader, await interestByEmail(reader, { applicationId, email }));
  return interest;
}

/** Whether the address is approved. */
export async function isOnAllowlist(reader: Reader, applicationId: string, email: string): Promise<boolean> {
  const interest = await findInterestByEmail(reader, applicationId, email);
  return interest?.status === 'approved';
}

/** Returns up to `limit` rows of these addresses on the allowlists of these workspaces, oldest first. */
export async function listInterestsIn(
  reader: Reader,
  emails: readonly string[],
  workspaceIds: readonly string[],
  limit: number,
): Promise<BetaInterest[]> {
  const rows = await orm(reader)
    .select({ interest: betaInterests })
    .from(betaInterests)
    .innerJoin(applications, eq(applications.id, betaInterests.applicationId))
    // The plus keeps the look-up by address: a workspace may have very many applications.
    .where(
      and(inArray(betaInterests.email, [...emails]), inArray(sql`+${applications.workspaceId}`, [...workspaceIds])),
    )
    .orderBy(betaInterests.id)
    .limit(limit);
  return settle(
    reader,
    rows.map(({ interest }) => interest),
  );
}

const listedOutside = raw<{ id: string }, [string, string]>(
  `SELECT b.id FROM beta_interests b CROSS JOIN applications a ON a.id = b.application_id
   WHERE b.email IN (SELECT email FROM users WHERE id = ?1 UNION SELECT email FROM email_aliases WHERE user_id = ?1)
     AND (a.workspace_id IS NULL OR a.workspace_id <> ?2) LIMIT 1`,
);

/** Whether an address of the person, present or former, is on an allowlist of another workspace, in whatever state. */
export async function isListedOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await listedOutside(reader, userId, workspaceId)).length > 0;
}

/** A page of an allowlist. */
export interface InterestQuery {
  readonly applicationId: string;
  readonly status: BetaStatus | undefined;
  /** The id before which to go on; undefined for the newest. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listInterests(
  reader: Reader,
  { applicationId, status, before, limit }: InterestQuery,
): Promise<BetaInterest[]> {
  // Read before the rows: a trail that ends in between has written them.
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
  const found: BetaInterest[] = [];
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

export type NewInterest = Pick<
  BetaInterest,
  'id' | 'applicationId' | 'email' | 'status' | 'source' | 'decidedById' | 'decidedAt'
>;

/** The epoch of the application that a row belongs to. */
function epochOf(applicationId: string): SQL<number> {
  return sql`(SELECT interest_epoch FROM applications WHERE id = ${applicationId})`;
}

/** The row belongs to the epoch of now: no decision that was made before reaches it. */
export function insertInterest(unit: Unit, interest: NewInterest): Promise<BetaInterest> {
  const epoch = epochOf(interest.applicationId);
  return insertOne(unit, betaInterests, { ...interest, epoch, createdAt: unit.now, updatedAt: unit.now });
}

/** Sets what stands for this row alone; no decision over all that was made before reaches it any more. */
export function updateInterest(
  unit: Unit,
  { id, applicationId }: Pick<BetaInterest, 'id' | 'applicationId'>,
  columns: Pick<BetaInterest, 'status' | 'decidedById' | 'decidedAt'> & { readonly source?: string },
): Promise<BetaInterest> {
  return updateOne(unit, betaInterests, id, { ...columns, epoch: epochOf(applicationId), updatedAt: unit.now });
}

const touch = rawChange<[string]>('UPDATE beta_interests SET updated_at = updated_at WHERE id = ?');

/** Writes the row as it is. */
export async function rewriteInterest(unit: Unit, id: string): Promise<void> {
  await touch(unit, id);
}

/** The new address must not be on that list yet. */
export async function moveInterestTo(unit: Unit, id: string, email: string): Promise<void> {
  await orm(unit).update(betaInterests).set({ email, updatedAt: unit.now }).where(eq(betaInterests.id, id));
}

/** The address may be listed anew afterwards. */
export async function deleteInterest(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(betaInterests).where(eq(betaInterests.id, id));
}

/** Takes these addresses off all allowlists: nobody is mailed at addresses whose holder is gone. */
export async function deleteInterestsOf(unit: Unit, emails: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(betaInterests)
    .where(inArray(betaInterests.email, [...emails]));
}

const nextEpoch = raw<{ epoch: number }, [string]>(
  'UPDATE applications SET interest_epoch = interest_epoch + 1 WHERE id = ? RETURNING interest_epoch AS epoch',
);

/** Begins a decision over all who are pending. @returns its epoch. */
export async function advanceInterestEpoch(unit: Unit, applicationId: string): Promise<number> {
  return only(await nextEpoch(unit, applicationId)).epoch;
}

const countOfPending = raw<{ count: number }, [string]>(
  `SELECT count(*) AS count FROM beta_interests WHERE application_id = ?1 AND status = 'pending'
     AND epoch = (SELECT interest_epoch FROM applications WHERE id = ?1)`,
);

/** How many no decision has been made over. */
export async function countPending(reader: Reader, applicationId: string): Promise<number> {
  return only(await countOfPending(reader, applicationId)).count;
}

/** How many stand in each state, and how many are still to be told when the application opens, the pending apart. */
export interface InterestCounts {
  readonly byStatus: Readonly<Record<BetaStatus, number>>;
  readonly untold: number;
}

const countOfStatus = longRead<{ count: number }, [string, BetaStatus]>(
  'SELECT count(*) AS count FROM beta_interests WHERE application_id = ? AND status = ?',
);
const countsOfUndecided = longRead<{ epoch: number; count: number }, [string]>(
  `SELECT epoch, count(*) AS count FROM beta_interests WHERE application_id = ? AND status = 'pending' GROUP BY epoch`,
);
const countOfUntold = longRead<{ count: number }, [string]>(
  // By the epoch, so that the index of those who wait is taken.
  `SELECT count(*) AS count FROM beta_interests WHERE application_id = ? AND epoch >= 0
     AND status = 'notify_when_public' AND notified_at IS NULL`,
);

export async function countInterests(reader: Reader, applicationId: string): Promise<InterestCounts> {
  const decisions = await unwrittenDecisions(reader, [applicationId]);
  const byStatus: Record<BetaStatus, number> = { pending: 0, approved: 0, notify_when_public: 0, declined: 0 };
  for (const status of ['approved', 'notify_when_public', 'declined'] as const)
    byStatus[status] = only(await countOfStatus(reader, applicationId, status)).count;
  let untold = only(await countOfUntold(reader, applicationId)).count;
  // As they stand by the decisions that have not reached them yet.
  for (const { epoch, count } of await countsOfUndecided(reader, applicationId)) {
    const status = decisions.find((decision) => decision.epoch === epoch + 1)?.status ?? 'pending';
    byStatus[status] += count;
    if (status === 'notify_when_public') untold += count;
  }
  return { byStatus, untold };
}

const unreached = raw<{ id: string }, [string, number]>(
  "SELECT id FROM beta_interests WHERE application_id = ? AND status = 'pending' AND epoch = ? LIMIT 1",
);

/** Whether there are rows that a decision has not reached. */
export async function isAnyoneUnreached(reader: Reader, applicationId: string, epoch: number): Promise<boolean> {
  return (await unreached(reader, applicationId, epoch - 1)).length > 0;
}

const countOfUndecided = longRead<{ count: number }, [string, number]>(
  `SELECT count(*) AS count FROM beta_interests WHERE application_id = ? AND status = 'pending' AND epoch = ?`,
);

/** How many rows a decision has not reached. */
export async function countUnreached(reader: Reader, applicationId: string, epoch: number): Promise<number> {
  return only(await countOfUndecided(reader, applicationId, epoch - 1)).count;
}

/** A person that a slice of a trail has reached. */
export interface Reached {
  readonly id: string;
  readonly email: string;
}

const writeDecision = raw<Reached, [string, string | null, number | null, number, string, number, number]>(
  `UPDATE beta_interests SET status = ?, decided_by_id = ?, decided_at = ?, updated_at = ?
   WHERE id IN (SELECT id FROM beta_interests WHERE application_id = ? AND epoch = ? AND status = 'pending'
                ORDER BY id LIMIT ?)
   RETURNING id, email`,
);

/** Writes a decision into the next `limit` rows that it is over, oldest first. */
export async function decideInterests(
  unit: Unit,
  applicationId: string,
  { epoch, status, decidedById, decidedAt, at }: InterestDecision,
  limit: number,
): Promise<Reached[]> {
  return inOrder(await writeDecision(unit, status, decidedById, decidedAt, at, applicationId, epoch - 1, limit));
}

const stampNotified = raw<Reached, [number, string, number, number]>(
  `UPDATE beta_interests SET notified_at = ?
   WHERE id IN (SELECT id FROM beta_interests WHERE application_id = ? AND epoch < ? AND status = 'notify_when_public'
                  AND notified_at IS NULL
                ORDER BY epoch, id LIMIT ?)
   RETURNING id, email`,
);

/** Stamps the next `limit` who have waited to be told since before this epoch as told, each once. */
export async function takeWaiting(unit: Unit, applicationId: string, epoch: number, limit: number): Promise<Reached[]> {
  return inOrder(await stampNotified(unit, unit.now, applicationId, epoch, limit));
}

const waiting = raw<{ id: string }, [string, number]>(
  `SELECT id FROM beta_interests WHERE application_id = ? AND epoch < ? AND status = 'notify_when_public'
     AND notified_at IS NULL LIMIT 1`,
);

/** Whether anybody is still to be told of those who have waited since before this epoch. */
export async function isAnyoneWaiting(reader: Reader, applicationId: string, epoch: number): Promise<boolean> {
  return (await waiting(reader, applicationId, epoch)).length > 0;
}

const countOfWaiting = longRead<{ count: number }, [string, number]>(
  `SELECT count(*) AS count FROM beta_interests WHERE application_id = ? AND epoch < ?
     AND status = 'notify_when_public' AND notified_at IS NULL`,
);

/** How many are still to be told of those who have waited since before this epoch. */
export async function countWaiting(reader: Reader, applicationId: string, epoch: number): Promise<number> {
  return only(await countOfWaiting(reader, applicationId, epoch)).count;
}

/** Whether a decision made up to this epoch still has rows to reach. */
export async function hasUnwrittenDecision(reader: Reader, applicationId: string, epoch: number): Promise<boolean> {
  const decisions = await unwrittenDecisions(reader, [applicationId]);
  return decisions.some((decision) => decision.epoch <= epoch);
}

function inOrder(reached: readonly Reached[]): Reached[] {
  return reached.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
