/** Sends what is due: claims deliveries with a lease, sends, records. A crash repeats a delivery, never loses one. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { yieldIfLong } from '../../core/turn.ts';
import type { Database } from '../../db/database.ts';
import { isOutage } from '../../db/engine-error.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { endLeases } from '../../store/deliveries.ts';
import { deliveryAttempter, type Result } from './attempt.ts';
import { type Claimed, deliveryClaims, LEASE_MS } from './claims.ts';
import { recordResult } from './record.ts';

export interface DispatcherDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly outbound: GuardedFetch;
  readonly mails: WorkspaceMail;
  readonly log: Logger;
}

/** The one sender of deliveries. */
export interface Dispatcher {
  /** Makes due again what a stop or a crash left under way; to be called before anything is sent. */
  start(): Promise<void>;
  /**
   * Looks for what is due, soon; many calls are one look.
   *
   * @param webhookIds endpoints for which something may have become due; without them, all are searched bit by bit.
   */
  wake(webhookIds?: readonly string[]): void;
  /** Sends everything that is due and returns when it has; for a moved clock. */
  runOnce(): Promise<void>;
  /** Claims no more and waits for what is in flight. */
  stop(): Promise<void>;
}

/** Runs no statement and sends nothing by itself: its calls do. */
export function dispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, mails, log } = dependencies;
  const claims = deliveryClaims(dependencies);
  const attempt = deliveryAttempter(dependencies);
  const underWay = new Set<Promise<void>>();
  const recording = new Set<Promise<void>>();
  const finished: Result[] = [];
  let looking: Promise<void> | undefined;
  /** What is to be searched before the next claim. */
  let wanted: 'nothing' | 'some' | 'all' = 'nothing';
  let isLookWanted = false;
  let isLookScheduled = false;
  let isRecordScheduled = false;
  let isStopped = false;

  /** Claims and sends until nothing more is due or all places are taken. */
  function look(): Promise<void> {
    isLookWanted = true;
    looking ??= (async () => {
      try {
        while (isLookWanted && !isStopped) {
          isLookWanted = false;
          const search = wanted;
          wanted = 'nothing';
          if (search !== 'nothing') await claims.search(search === 'all');
          const claimed = await claims.next();
          for (const one of claimed) begin(one);
          if (claimed.length > 0) isLookWanted = true;
          await yieldIfLong();
        }
      } catch (error) {
        // A database that refuses for a moment is asked again at the next wake.
        if (!isOutage(error)) log.error({ err: error }, 'deliveries could not be claimed; it will be tried again');
      } finally {
        looking = undefined;
      }
    })();
    return looking;
  }

  function begin(claimed: Claimed): void {
    const work = deliver(claimed).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  async function deliver(claimed: Claimed): Promise<void> {
    finished.push(await attempt(claimed));
    claims.free(claimed);
    scheduleRecord();
  }

  /** Results that come together are recorded together. What takes their places is claimed in the change behind that. */
  function scheduleRecord(): void {
    if (isRecordScheduled) return;
    isRecordScheduled = true;
    setImmediate(() => {
      isRecordScheduled = false;
      record();
      void look();
    });
  }

  function record(): void {
    const results = finished.splice(0);
    if (results.length === 0) return;
    const work = recordAll(results).finally(() => recording.delete(work));
    recording.add(work);
  }

  async function recordAll(results: readonly Result[]): Promise<void> {
    try {
      await db.write(SYSTEM_ACTOR, async (unit) => {
        for (const result of results) await recordResult(unit, result, mails);
      });
    } catch (error) {
      // The leases run out, and the deliveries are made again: twice rather than never.
      log.error({ err: error }, 'results of deliveries could not be recorded');
    } finally {
      for (const { claimed } of results) claims.forget(claimed);
    }
  }

  return {
    async start() {
      // Nobody else sends from this folder: a lease left by a crash need not be waited for, and its attempt goes on record.
      await db.write(SYSTEM_ACTOR, (unit) => endLeases(unit, { errorClass: 'interrupted', leaseMs: LEASE_MS }));
    },
    wake(webhookIds) {
      if (webhookIds) claims.note(webhookIds);
      else if (wanted === 'nothing') wanted = 'some';
      if (isLookScheduled || isStopped) return;
      isLookScheduled = true;
      setImmediate(() => {
        isLookScheduled = false;
        void look();
      });
    },
    async runOnce() {
      do {
        await Promise.all(underWay);
        record();
        await Promise.all(recording);
        wanted = 'all';
        await look();
      } while (underWay.size > 0 || finished.length > 0 || recording.size > 0);
    },
    async stop() {
      isStopped = true;
      await looking;
      await Promise.all(underWay);
      record();
      await Promise.all(recording);
    },
  };
}
