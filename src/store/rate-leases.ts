/** Uses of a rate limit that instances lease in blocks, so that all together never exceed it. */
import { MINUTE } from '../core/clock.ts';
import type { Unit } from '../db/database.ts';
import { change, note, query } from '../db/statements.ts';

/** The uses of one subject that an instance wants to grant. */
export interface WantedUses {
  readonly bucket: string;
  readonly subject: string;
  readonly startedAt: number;
  readonly endsAt: number;
  readonly quota: number;
  readonly wanted: number;
}

export interface LeasedUses {
  readonly bucket: string;
  readonly subject: string;
  /** Uses leased by all instances in the window. */
  readonly count: number;
  /** Uses leased by this statement: fewer than wanted only if none is left. */
  readonly granted: number;
}

/** Share of the remaining uses in one block: the bound of what an idle instance withholds from the others. */
const BLOCKS = 16;

/** SQL: the uses to grant where `used` of the quota are leased. */
function grant(quota: string, wanted: string, used: string): string {
  const rest = `(${quota} - ${used})`;
  return `CASE WHEN ${rest} <= 0 THEN 0 WHEN ${rest} / ${BLOCKS} > ${wanted} THEN ${rest} / ${BLOCKS}
    WHEN ${rest} > ${wanted} THEN ${wanted} ELSE ${rest} END`;
}

const COLUMNS = {
  bucket: 'text',
  subject: 'text',
  started: 'integer',
  ends: 'integer',
  quota: 'integer',
  wanted: 'integer',
} as const;

/** Largest difference of two instances' clocks with which both count into one window. */
const CLOCKS_DIFFER_MS = 5 * MINUTE;

/**
 * A clock that is behind counts into the window that another instance has begun. A window further ahead is from a clock
 * that was set back since, and would refuse a spent subject until then.
 */
const isNew = `(excluded.window_started_at > rate_counters.window_started_at
  OR rate_counters.window_started_at > :now + ${CLOCKS_DIFFER_MS})`;
const used = `(CASE WHEN ${isNew} THEN 0 ELSE rate_counters.count END)`;
const granted = grant('excluded.quota', 'excluded.wanted', used);
const renewed = (column: string) =>
  `${column} = CASE WHEN ${isNew} THEN excluded.${column} ELSE rate_counters.${column} END`;

/** Rows are locked in the order of their key, so that concurrent leases do not deadlock. */
const lease = change.rows<LeasedUses, { uses: readonly object[] }>(
  ({ jsonRows }) => `INSERT INTO rate_counters
     (bucket, subject, window_started_at, window_ends_at, quota, wanted, count, granted)
   SELECT bucket, subject, started, ends, quota, wanted, ${grant('quota', 'wanted', '0')}, ${grant('quota', 'wanted', '0')}
   FROM ${jsonRows(':uses', COLUMNS)} WHERE true ORDER BY bucket, subject
   ON CONFLICT (bucket, subject) DO UPDATE SET count = ${used} + ${granted}, granted = ${granted},
     quota = excluded.quota, wanted = excluded.wanted, ${renewed('window_ends_at')}, ${renewed('window_started_at')}
   RETURNING bucket, subject, count, granted`,
);

/** Leases uses of many subjects in one statement; each subject once. */
export function leaseUses(unit: Unit, uses: readonly WantedUses[]): Promise<LeasedUses[]> {
  return lease(unit, {
    uses: uses.map(({ startedAt, endsAt, ...rest }) => ({ ...rest, started: startedAt, ends: endsAt })),
  });
}

export interface UnusedUses {
  readonly bucket: string;
  readonly subject: string;
  /** End of the window in which they were leased. */
  readonly endsAt: number;
  readonly unused: number;
}

const UNUSED = { bucket: 'text', subject: 'text', ends: 'integer', unused: 'integer' } as const;

const back = note<{ uses: readonly object[] }>(
  ({ jsonRows }) => `UPDATE rate_counters SET count = rate_counters.count - back.unused
   FROM (SELECT * FROM ${jsonRows(':uses', UNUSED)} ORDER BY bucket, subject) AS back
   WHERE rate_counters.bucket = back.bucket AND rate_counters.subject = back.subject
     AND rate_counters.window_ends_at = back.ends`,
);

/** Gives back leased uses that an instance has not granted, as long as their window lasts. */
export async function giveBackUses(unit: Unit, uses: readonly UnusedUses[]): Promise<void> {
  await back(unit, { uses: uses.map(({ endsAt, ...rest }) => ({ ...rest, ends: endsAt })) });
}

export interface UseCount {
  readonly subject: string;
  readonly count: number;
}

interface CountsAt {
  readonly bucket: string;
  readonly subjects: readonly string[];
  readonly now: number;
  /** End of the window that `now` is in. */
  readonly endsAt: number;
}

/** Returns the uses of these subjects that are leased in the window, without those that have none. */
export const listLeasedUses = query.rows<UseCount, CountsAt>(
  ({ idList }) => `SELECT subject, count FROM rate_counters
   WHERE bucket = :bucket AND subject IN ${idList(':subjects')} AND window_ends_at >= :endsAt
     AND window_started_at <= :now + ${CLOCKS_DIFFER_MS}`,
);
