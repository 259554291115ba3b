/** The blocks of uses that this instance has leased, by bucket and subject, each for one window. */
import { BigMap } from '../core/big-map.ts';
import type { UnusedUses } from '../store/rate-leases.ts';
import type { Bucket } from './limits.ts';
import { windowEnd } from './rate-limit.ts';

export interface Lease {
  limit: number;
  /** Uses that may still be granted here. */
  left: number;
  /** Uses leased by all instances, at `countedAt`. */
  count: number;
  countedAt: number;
  usedAt: number;
}

interface Table {
  readonly windowEndsAt: number;
  readonly leases: BigMap<Lease>;
}

export interface Unused extends UnusedUses {
  readonly lease: Lease;
}

/** Bounds memory against a flood of made-up subjects, of some 200 bytes each. */
const MAX_SUBJECTS = 500_000;
const EVICTED_AT_ONCE = 250;

export function leaseTables() {
  /** Tables by bucket. All windows of a bucket end at once, so a table is dropped whole. */
  const tables = new Map<string, Table>();
  /** Leases that may have uses to give back, and where they belong. */
  const blocks = new Map<Lease, Omit<UnusedUses, 'unused'>>();

  function tableOf(bucket: Bucket, now: number): Table | undefined {
    const table = tables.get(bucket.name);
    return table?.windowEndsAt === windowEnd(now, bucket.windowMs) ? table : undefined;
  }

  /** Replaces a table whose window has ended. */
  function openTable(bucket: Bucket, now: number): Table {
    const table = { windowEndsAt: windowEnd(now, bucket.windowMs), leases: new BigMap<Lease>() };
    tables.set(bucket.name, table);
    return table;
  }

  /** Evicts from the largest table. The blocks of evicted subjects are forfeited; the database knows their counts. */
  function makeRoom(): void {
    let all = 0;
    let largest: BigMap<Lease> | undefined;
    for (const { leases } of tables.values()) {
      all += leases.size;
      if (leases.size > (largest?.size ?? -1)) largest = leases;
    }
    if (all < MAX_SUBJECTS) return;
    for (const subject of [...(largest?.keys().take(EVICTED_AT_ONCE) ?? [])]) largest?.delete(subject);
  }

  return {
    find: (bucket: Bucket, subject: string, now: number) => tableOf(bucket, now)?.leases.get(subject),
    /** Returns the subject's lease in the current window, by default without uses. */
    open(bucket: Bucket, subject: string, now: number): Lease {
      const { leases } = tableOf(bucket, now) ?? openTable(bucket, now);
      let lease = leases.get(subject);
      if (lease === undefined) {
        makeRoom();
        lease = { limit: 0, left: 0, count: 0, countedAt: -Infinity, usedAt: now };
        leases.set(subject, lease);
      }
      return lease;
    },
    /** Adds uses to a lease. Those of a brief window are never given back: it ends before that is worth a write. */
    add(bucket: Bucket, subject: string, lease: Lease, uses: number, now: number): void {
      lease.left += uses;
      if (lease.left === 0 || bucket.isBrief) return;
      blocks.set(lease, { bucket: bucket.name, subject, endsAt: windowEnd(now, bucket.windowMs) });
    },
    /** Takes the unused uses of due leases out of them. Those of ended windows are dropped. */
    takeUnused(now: number, isDue: (lease: Lease) => boolean): Unused[] {
      const unused: Unused[] = [];
      for (const [lease, block] of blocks) {
        const isOver = lease.left === 0 || block.endsAt <= now;
        if (!isOver && !isDue(lease)) continue;
        blocks.delete(lease);
        if (isOver) continue;
        unused.push({ ...block, unused: lease.left, lease });
        lease.left = 0;
      }
      return unused;
    },
  };
}
