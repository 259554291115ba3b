/** Runs the work of one change, collects the messages it publishes, and refuses misuse. */
import type { Actor } from '../core/actor.ts';
import type { Connection } from './connection.ts';
import { CONNECTION, type Topic, type Unit } from './database.ts';

export type UnitState = ReturnType<typeof openUnit>;

export interface Committed<Result> {
  readonly result: Result;
  readonly messages: UnitState['messages'];
}

/** Microtasks to wait for before a statement counts as unawaited: an `await` takes up to three. */
const LAST_CALLS = 3;

/** Ends a run of a change that has to be serializable. */
export class NeedsSerializable extends Error {}

export interface UnitOptions {
  /** Whether concurrent changes leave no trace in this one. */
  readonly isSerializable?: boolean;
  /** Whether the engine answers statements at once, so that a change which waits for a turn waits for something else. */
  readonly isAnsweredAtOnce?: boolean;
}

/** Opens the unit for one run of a change's work; the engine begins and ends its transaction. */
export function openUnit(
  connection: Connection,
  actor: Actor,
  now: number,
  { isAnsweredAtOnce = true, isSerializable = true }: UnitOptions = {},
) {
  const messages = new Map<Topic<unknown>, unknown[]>();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  let phase: 'open' | 'closing' | 'ended' = 'open';
  let isUnawaited = false;
  let built = 0;
  let executed = 0;

  function enter(): void {
    if (phase === 'closing') isUnawaited = true;
    if (phase !== 'open') throw new Error('a unit of work was used after its end: something in it was not awaited');
  }

  function abort(): void {
    aborted.reject(
      new Error('a unit of work waited for something else than its own statements, such as a write inside it'),
    );
  }

  const unit: Unit = {
    get [CONNECTION]() {
      enter();
      return connection;
    },
    now,
    actor,
    isSerializable,
    requireSerializable() {
      if (!isSerializable) throw new NeedsSerializable('the change has to be serializable');
    },
    publish(topic, message) {
      enter();
      const published = messages.get(topic) ?? [];
      published.push(message);
      messages.set(topic, published);
    },
  };

  return {
    /** Published messages by topic, in order. */
    messages: messages as ReadonlyMap<Topic<unknown>, readonly unknown[]>,
    /** Runs the work, and throws if something in it was not awaited. */
    async finish<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result> {
      // SQLite answers at once, so a change takes no turn of the event loop. One that does waits for a timer, the
      // network, or a write inside this one, which would deadlock.
      const watchdog = isAnsweredAtOnce ? setImmediate(abort) : undefined;
      let result;
      try {
        result = await Promise.race([work(unit), aborted.promise]);
      } finally {
        clearImmediate(watchdog);
        phase = 'closing';
      }
      for (let call = 0; call < LAST_CALLS; call += 1) await undefined;
      if (isUnawaited) throw new Error('a unit of work ended before all of it was awaited');
      if (executed < built) throw new Error('a unit of work built a change and did not await it');
      return result;
    },
    enter,
    built: () => void (built += 1),
    executed: () => void (executed += 1),
    end: () => void (phase = 'ended'),
  };
}
