/** Limits bodies slower than a second: how long one may take, and how many at once per client address and in all. */
import { AppError } from '../core/error.ts';
import { pool } from '../core/pool.ts';
import type { LimitSettings } from './limits.ts';
import { addressPrefix } from '../core/ip-address.ts';
import type { RequestContext } from './request-context.ts';

const SLOW_MS = 1000;

/** Interval of the checks; a body may take that much longer. */
const ROUND_MS = 250;

/**
 * Refusals per turn of the event loop. Bun closes connections recursively: some 2,300 in one turn overflow the stack and
 * end the process.
 */
const MOST_REFUSED_AT_ONCE = 100;

/** Roughly the time of a slow body. */
const RETRY_AFTER_SECONDS = 5;

/** Client of a body. A refusal closes its connection: the rest of the body would be taken for the next request. */
type Client = Pick<RequestContext, 'ip' | 'headers'>;

interface Reading {
  readonly since: number;
  readonly client: Client;
  readonly refuse: (error: unknown) => void;
  /** Releases its slot; set once it is slow. */
  leave: (() => void) | undefined;
}

export interface SlowBodies {
  /**
   * Resolves with what `parse` makes of the body, or rejects with a refusal and leaves the read unfinished.
   *
   * @throws {AppError} request_timeout, rate_limited, unavailable, and what reading and `parse` throw
   */
  watch<Text, Body>(reading: Promise<Text>, client: Client, parse: (text: Text) => Body): Promise<Body>;
  count(): number;
}

export type SlowBodyLimits = Pick<LimitSettings, 'bodySeconds' | 'slowBodiesPerAddress' | 'slowBodiesInAll'>;

/** Creates the limit. @param slowMs set by tests only. */
export function slowBodies(limits: SlowBodyLimits, slowMs = SLOW_MS): SlowBodies {
  const perAddress = limits.slowBodiesPerAddress ?? Infinity;
  const slots = pool({ total: limits.slowBodiesInAll, perKey: perAddress });

  /** Takes a slot. @returns the function that releases it. @throws {AppError} rate_limited, unavailable */
  function enter(address: string): () => void {
    if (slots.of(address) >= perAddress) throw tooManyOfOne(perAddress);
    if (!slots.take(address))
      throw new AppError('unavailable', { hint: 'too_many_slow_bodies', retryAfterSeconds: RETRY_AFTER_SECONDS });
    return () => slots.release(address);
  }

  const totalMs = limits.bodySeconds * 1000;
  const reading = new Set<Reading>();
  let round: ReturnType<typeof setInterval> | undefined;
  /** Whether a round continues in the next turn; a second, concurrent round would double the refusals. */
  let isContinued = false;

  function forget(one: Reading): void {
    // A refused body is forgotten again when its read ends.
    if (reading.delete(one)) one.leave?.();
  }

  function refuse(one: Reading, error: unknown): void {
    forget(one);
    one.client.headers['Connection'] = 'close';
    one.refuse(error);
  }

  /** Checks all bodies with one timer: one timer each would take longer than most bodies. */
  function look(): void {
    isContinued = false;
    const now = performance.now();
    let refused = 0;
    for (const one of reading) {
      const forMs = now - one.since;
      if (forMs < slowMs) break;
      if (refused >= MOST_REFUSED_AT_ONCE) {
        isContinued = true;
        setImmediate(look);
        return;
      }
      try {
        if (forMs >= totalMs) throw new AppError('request_timeout');
        one.leave ??= enter(addressPrefix(one.client.ip));
      } catch (error) {
        refuse(one, error);
        refused += 1;
      }
    }
    if (reading.size > 0) return;
    clearInterval(round);
    round = undefined;
  }

  return {
    watch: (body, client, parse) =>
      new Promise((resolve, reject) => {
        const one: Reading = { since: performance.now(), client, refuse: reject, leave: undefined };
        reading.add(one);
        round ??= setInterval(() => void (isContinued || look()), Math.min(ROUND_MS, slowMs));
        body.then(
          (text) => {
            forget(one);
            try {
              resolve(parse(text));
            } catch (error) {
              reject(error as Error);
            }
          },
          (error: unknown) => {
            forget(one);
            reject(error as Error);
          },
        );
      }),
    count: () => slots.used,
  };
}

const tooManyOfOne = (limit: number) =>
  new AppError('rate_limited', {
    hint: 'too_many_slow_bodies',
    limit,
    limitName: 'slow-bodies-address',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
