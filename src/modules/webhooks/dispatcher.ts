/** Sends due deliveries: claims them with a lease, sends, records. A crash repeats a delivery and never loses one. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { wakeLoop } from '../../core/wake-loop.ts';
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
  const finished: Result[] = [];
  /** The search to run before the next claim. */
  let wanted: 'nothing' | 'some' | 'all' = 'nothing';
  let claimed = 0;
  const claiming = wakeLoop(claim, failed);
  /** Results are recorded in batches; freed slots are claimed in the following change. */
  const recording = wakeLoop(record, failed);

  /** Claims and sends what is due and finds a slot. The next wake retries a database that is temporarily unavailable. */
  async function claim(): Promise<boolean> {
    const search = wanted;
    wanted = 'nothing';
    if (search !== 'nothing') await claims.search(search === 'all');
    const due = await claims.next();
    for (const one of due) {
      const work = deliver(one).finally(() => underWay.delete(work));
      underWay.add(work);
    }
    claimed += due.length;
    return due.length > 0;
  }

  function failed(err: unknown): void {
    if (!isOutage(err)) log.error({ err }, 'deliveries could not be claimed; it will be tried again');
  }

  async function deliver(one: Claimed): Promise<void> {
    finished.push(await attempt(one));
    claims.free(one);
    recording.wake();
    claiming.wake();
  }

  async function record(): Promise<boolean> {
    const results = finished.splice(0);
    if (results.length === 0) return false;
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
    return true;
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
      claiming.wake();
    },
    async runOnce() {
      for (let before = -1; before < claimed;) {
        before = claimed;
        await Promise.all(underWay);
        await recording.run();
        wanted = 'all';
        await claiming.run().catch(failed);
      }
    },
    async stop() {
      await claiming.stop();
      await Promise.all(underWay);
      await recording.run();
    },
  };
}
