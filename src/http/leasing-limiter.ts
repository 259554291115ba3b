/**
 * Rate limits of a database with several instances: each leases uses in blocks from the database and grants them from
 * memory. All together never grant more than the limit. They may grant less: another instance withholds its unused
 * block, at most a sixteenth of what was left, for some five seconds, or until the window ends where that is brief.
 */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { MINUTE, SECOND } from '../core/clock.ts';
import { writeBatches } from '../core/last-batches.ts';
import { BOOKKEEPING, type Reader, type Unit } from '../db/database.ts';
import { purgeRateCounters } from '../store/rate-counters.ts';
import { giveBackUses, listLeasedUses } from '../store/rate-leases.ts';
import type { Bucket } from './limits.ts';
import { leaseRequests } from './lease-requests.ts';
import { type Lease, leaseTables, type Unused } from './limit-leases.ts';
import { limitState, type LimiterDependencies, type RateLimiter, windowEnd, type WindowState } from './rate-limit.ts';

/** How long an exhausted subject is refused, or its count shown, without asking the database. */
const EXHAUSTED_MS = 5 * SECOND;
const SEEN_MS = SECOND;
/** How long a block stays without a use. */
const IDLE_MS = 5 * SECOND;
/** Rows are kept for the next window of the same subject, which then inserts none. */
const KEPT_MS = 5 * MINUTE;
const ROWS_PER_CHANGE = 250;

/**
 * Windows use this instance's clock. One that is ahead begins each window early, for all instances; one that is behind
 * counts into the window that others have begun, if the clocks differ by no more than five minutes.
 */
export function leasingLimiter({ db, clock }: LimiterDependencies): RateLimiter {
  const tables = leaseTables();
  const requests = leaseRequests(db);

  function stateOf(bucket: Bucket, { count, left }: Lease, limit: number, isAllowed: boolean): WindowState {
    return limitState(bucket, { count: count - left, limit, isAllowed, now: clock.now() });
  }

  /** Answers from memory. @returns null if the database must be asked. */
  function answerHere(bucket: Bucket, lease: Lease | undefined, limit: number, now: number): WindowState | null {
    if (lease?.limit !== limit) return null;
    if (lease.left > 0) {
      lease.left -= 1;
      lease.usedAt = now;
      return stateOf(bucket, lease, limit, true);
    }
    const isExhausted = lease.count >= limit && now - lease.countedAt < EXHAUSTED_MS;
    return isExhausted ? stateOf(bucket, lease, limit, false) : null;
  }

  /** Asks the database for a use of the caller and a block. */
  async function ask(bucket: Bucket, subject: string, limit: number): Promise<WindowState> {
    const { windowMs, name } = bucket;
    const asked = windowEnd(clock.now(), windowMs);
    const window = { bucket: name, subject, startedAt: asked - windowMs, endsAt: asked };
    const known = tables.find(bucket, subject, clock.now());
    if (known && known.limit !== limit && known.left > 0) await giveBackBlock(bucket, subject, known);
    const { isAllowed, count, spare, endsAt } = await requests.ask(window, limit);
    const now = clock.now();
    // The block of a window that has ended meanwhile is of no use.
    if (windowEnd(now, windowMs) !== endsAt) return limitState(bucket, { count, limit, isAllowed, now });
    const lease = tables.open(bucket, subject, now);
    // A concurrent caller has leased a block for another limit: its uses could exceed this one.
    if (lease.limit !== limit) lease.left = 0;
    Object.assign(lease, { limit, count, countedAt: now, usedAt: now });
    tables.add(bucket, subject, lease, spare, now);
    return stateOf(bucket, lease, limit, isAllowed);
  }

  /** Gives back the block of a limit that was changed within its window. */
  async function giveBackBlock(bucket: Bucket, subject: string, lease: Lease): Promise<void> {
    const unused = lease.left;
    lease.left = 0;
    const endsAt = windowEnd(clock.now(), bucket.windowMs);
    await giveBack([{ bucket: bucket.name, subject, endsAt, unused, lease }]);
  }

  const isFresh = (lease: Lease | undefined): lease is Lease =>
    lease !== undefined && clock.now() - lease.countedAt < SEEN_MS;

  function looked(bucket: Bucket, lease: Lease, limit: number): WindowState {
    return stateOf(bucket, lease, limit, lease.count - lease.left < limit);
  }

  /** Reads the count of all instances, at most once a second for a subject. */
  async function look(bucket: Bucket, subject: string, limit: number): Promise<WindowState> {
    // Uses that this process counts at the same time come first.
    await requests.settled({ bucket: bucket.name, subject });
    const known = tables.find(bucket, subject, clock.now());
    if (isFresh(known)) return looked(bucket, known, limit);
    const count = (await countsOf(db.reader, bucket, [subject])).get(subject) ?? 0;
    const lease = tables.open(bucket, subject, clock.now());
    Object.assign(lease, { count, countedAt: clock.now() });
    return looked(bucket, lease, limit);
  }

  async function countsOf(reader: Reader, bucket: Bucket, subjects: readonly string[]) {
    const now = clock.now();
    const endsAt = windowEnd(now, bucket.windowMs);
    const rows = await listLeasedUses(reader, { bucket: bucket.name, subjects, now, endsAt });
    return new Map(rows.map(({ subject, count }) => [subject, count]));
  }

  /** A block is forfeited when this fails: after a lost connection, it may have been given back. */
  async function giveBack(unused: readonly Unused[]): Promise<void> {
    const rows = unused.map(({ lease: _, ...row }) => row);
    await db.write(SYSTEM_ACTOR, (unit) => giveBackUses(unit, rows), BOOKKEEPING);
    for (const { lease, unused: uses } of unused) lease.count -= uses;
  }

  async function purge(): Promise<boolean> {
    const purgeSome = (unit: Unit) => purgeRateCounters(unit, unit.now - KEPT_MS);
    return db.write(SYSTEM_ACTOR, purgeSome, BOOKKEEPING);
  }

  return {
    consume(bucket, subject, limit) {
      const now = clock.now();
      return answerHere(bucket, tables.find(bucket, subject, now), limit, now) ?? ask(bucket, subject, limit);
    },
    release(bucket, subject, { limit, windowEndsAt, remaining }) {
      const now = clock.now();
      const lease = windowEnd(now, bucket.windowMs) === windowEndsAt ? tables.find(bucket, subject, now) : undefined;
      if (lease?.limit === limit) tables.add(bucket, subject, lease, 1, now);
      return limitState(bucket, { count: limit - remaining - 1, limit, isAllowed: true, now });
    },
    peek(bucket, subject, limit) {
      const known = tables.find(bucket, subject, clock.now());
      const isPending = requests.isPending({ bucket: bucket.name, subject });
      return isFresh(known) && !isPending ? looked(bucket, known, limit) : look(bucket, subject, limit);
    },
    async used(bucket, subjects, reader) {
      const counts = await countsOf(reader, bucket, subjects);
      const leftOf = (subject: string) => tables.find(bucket, subject, clock.now())?.left ?? 0;
      return new Map(subjects.map((one) => [one, Math.max(0, (counts.get(one) ?? 0) - leftOf(one))]));
    },
    load: async () => {},
    async flush() {
      const now = clock.now();
      const unused = tables.takeUnused(now, ({ usedAt }) => now - usedAt >= IDLE_MS);
      while (unused.length > 0) await giveBack(unused.splice(0, ROWS_PER_CHANGE));
      while (await purge());
    },
    flushAll: (deadline) =>
      writeBatches(
        tables.takeUnused(clock.now(), () => true),
        deadline,
        giveBack,
      ),
  };
}
