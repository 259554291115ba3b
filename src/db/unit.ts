/** Runs one change: what it may do, what it notifies, and how misuse is refused. */
import type { Actor } from '../core/actor.ts';
import type { Connection } from './sqlite/connection.ts';
import { CONNECTION, type Topic, type Unit } from './database.ts';

/** Change as the engine drives it. */
export interface UnitState {
  /** Notifications by topic, in order. */
  readonly news: ReadonlyMap<Topic<unknown>, readonly unknown[]>;
  /** Runs the work, and throws if something in it was not awaited. */
  finish<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result>;
  enter(): void;
  begun(): void;
  ran(): void;
  end(): void;
}

/** Microtask turns in which an unawaited statement shows itself: an `await` takes up to three. */
const LAST_CALLS = 3;

/** Opens the unit for one run of a change's work; the engine begins and ends its transaction. */
export function openUnit(connection: Connection, actor: Actor, now: number): UnitState {
  const news = new Map<Topic<unknown>, unknown[]>();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  let phase: 'open' | 'closing' | 'ended' = 'open';
  let isUnawaited = false;
  let begun = 0;
  let ran = 0;

  function enter(): void {
    if (phase === 'closing') isUnawaited = true;
    if (phase !== 'open') throw new Error('a unit of work was used after its end: something in it was not awaited');
  }

  const unit: Unit = {
    get [CONNECTION]() {
      enter();
      return connection;
    },
    now,
    actor,
    tell(topic, message) {
      enter();
      const messages = news.get(topic) ?? [];
      messages.push(message);
      news.set(topic, messages);
    },
  };

  return {
    news,
    async finish(work) {
      // SQLite answers at once, so a change takes no turn of the event loop. One that does waits for a timer, the
      // network, or a write inside this one, which would deadlock.
      const watchdog = setImmediate(() =>
        aborted.reject(
          new Error('a unit of work waited for something else than its own statements, such as a write inside it'),
        ),
      );
      let result;
      try {
        result = await Promise.race([work(unit), aborted.promise]);
      } finally {
        clearImmediate(watchdog);
        phase = 'closing';
      }
      for (let call = 0; call < LAST_CALLS; call += 1) await undefined;
      if (isUnawaited) throw new Error('a unit of work ended before all of it was awaited');
      if (ran < begun) throw new Error('a unit of work built a change and did not await it');
      return result;
    },
    enter,
    begun: () => void (begun += 1),
    ran: () => void (ran += 1),
    end: () => void (phase = 'ended'),
  };
}
