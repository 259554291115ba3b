/** Sends due deliveries: claims them with a lease, sends, records. A crash repeats a delivery and never loses one. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { yieldIfLong } from '../../core/turn.ts';
import type { Database } from '../../db/database.ts';
import { isOutage } from '../../db/errors.ts';
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
  readonly leaseHolder: string;
  readonly outbound: GuardedFetch;
  readonly mails: WorkspaceMail;
  readonly log: Logger;
}

export interface Dispatcher {
  /** Makes deliveries due again that a stop or crash interrupted; call it before anything is sent. */
  start(): Promise<void>;
  /** Schedules one look for many calls. @param webhookIds may have due deliveries; without them all are searched. */
  wake(webhookIds?: readonly string[]): void;
  /** Sends everything due and waits for it; used after the clock was advanced. */
  runOnce(): Promise<void>;
  /** Claims nothing more, and waits for deliveries in flight. */
  stop(): Promise<void>;
}

/** Does nothing until one of its methods is called. */
export function dispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, clock, leaseHolder: holder, mails, log } = dependencies;
  const claims = deliveryClaims(dependencies);
  const attempt = deliveryAttempter(dependencies);
  const underWay = new Set<Promise<void>>();
  const recording = new Set<Promise<void>>();
  const finished: Result[] = [];
  let looking: Promise<void> | undefined;
  /** The search to run before the next claim. */
  let wanted: 'nothing' | 'some' | 'all' = 'nothing';
  let isLookWanted = false;
  let isLookScheduled = false;
  let isRecordScheduled = false;
  let isStopped = false;

  /** Claims and sends until nothing more is due or no slot is free. */
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
        // The next wake retries a database that is temporarily unavailable.
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

  /** Records results in batches. Freed slots are claimed in the following change. */
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
      // The leases expire and the deliveries are repeated: at least once.
      log.error({ err: error }, 'delivery results could not be recorded');
    } finally {
      for (const { claimed } of results) claims.forget(claimed);
    }
  }

  return {
    async start() {
      // The folder's lock rules out another server with this id, so its leases are left by a stop or crash.
      const stale = { holder, realNow: clock.real(), errorClass: 'interrupted', leaseMs: LEASE_MS };
      await db.write(SYSTEM_ACTOR, (unit) => endLeases(unit, stale));
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
