/**
 * Sends due deliveries: claims them with a lease, sends, records. Any number of instances share the work. A crash repeats
 * a delivery and never loses one.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { wakeLoop } from '../../core/wake-loop.ts';
import { CLAIMING, type Database, type WriteOptions } from '../../db/database.ts';
import { isOutage, isUnavailable } from '../../db/errors.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { type AttemptDependencies, deliveryAttempter, type Result } from './attempt.ts';
import type { Claimed } from './claimed.ts';
import { deliveryClaims } from './claims.ts';
import { isLastAttempt, recordResult } from './record.ts';

export interface DispatcherDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly leaseHolder: string;
  readonly outbound: GuardedFetch;
  readonly logoutToken: AttemptDependencies['logoutToken'];
  readonly mails: WorkspaceMail;
  readonly log: Logger;
}

export interface Dispatcher {
  /** Makes deliveries due again that a stop or crash interrupted; call it before anything is sent. */
  start(): Promise<void>;
  /** Schedules one look for many calls. @param webhookIds may have due deliveries; without them all are searched. */
  wake(webhookIds?: readonly string[]): void;
  /** Renews the leases of deliveries under way; call it every second or so. */
  renewLeases(): Promise<void>;
  /** Sends everything due and waits for it; used after the clock was advanced. */
  runOnce(): Promise<void>;
  /** Claims nothing more, and waits for deliveries in flight. */
  stop(): Promise<void>;
}

/** Does nothing until one of its methods is called. */
export function dispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, leaseHolder, mails, log } = dependencies;
  const claims = deliveryClaims(dependencies);
  const attempt = deliveryAttempter(dependencies);
  const underWay = new Set<Promise<void>>();
  const finished: Result[] = [];
  /** Results to be recorded once the database takes changes again. */
  const postponed: Result[] = [];
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
    const result = await attempt(one);
    claims.free(one);
    if (result.errorClass === 'interrupted') {
      claims.forget(one);
      logLoss(one);
    } else {
      finished.push(result);
      recording.wake();
    }
    claiming.wake();
  }

  async function record(): Promise<boolean> {
    const results = finished.splice(0);
    if (results.length === 0) return false;
    const [last = [], others = []] = [true, false].map((isLast) =>
      results.filter((result) => isLastAttempt(result) === isLast),
    );
    await recordAll(others, CLAIMING);
    await recordAll(last);
    return true;
  }

  async function recordAll(results: readonly Result[], options?: WriteOptions): Promise<void> {
    if (results.length === 0) return;
    try {
      const recorded = await db.write(
        SYSTEM_ACTOR,
        (unit) => Promise.all(results.map((result) => recordResult(unit, result, mails))),
        options,
      );
      for (const [index, { claimed }] of results.entries()) if (recorded[index] !== true) logLoss(claimed);
    } catch (error) {
      if (isUnavailable(error)) return void postponed.push(...results);
      // The leases expire and the deliveries are repeated: at least once.
      log.error({ err: error }, 'delivery results could not be recorded');
    }
    for (const { claimed } of results) claims.forget(claimed);
    const inOrder = results.filter(({ claimed }) => claimed.isInOrder).map(({ claimed }) => claimed.endpoint.id);
    if (inOrder.length === 0) return;
    claims.note(inOrder);
    claiming.wake();
  }

  function logLoss({ deliveryId, attempts }: Claimed): void {
    log.warn(
      { deliveryId, attempts },
      'a delivery was not recorded here: it was taken over or deleted, or is on record already',
    );
  }

  /** Takes up the results of an outage, too. */
  function retryPostponed(): void {
    finished.push(...postponed.splice(0));
  }

  return {
    // No other living instance has this id, so its leases are left by a stop or crash.
    start: () => claims.endStale(leaseHolder),
    wake(webhookIds) {
      if (webhookIds) claims.note(webhookIds);
      else if (wanted === 'nothing') wanted = 'some';
      claiming.wake();
      if (postponed.length === 0) return;
      retryPostponed();
      recording.wake();
    },
    renewLeases: claims.renewLeases,
    async runOnce() {
      retryPostponed();
      for (let before = -1; before < claimed;) {
        before = claimed;
        await Promise.all(underWay);
        await recording.run();
        wanted = 'all';
        await claiming.run().catch(failed);
      }
    },
    async stop() {
      claims.stop();
      await claiming.stop();
      await Promise.all(underWay);
      await recording.run();
    },
  };
}
