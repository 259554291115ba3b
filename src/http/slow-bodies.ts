/**
 * Bodies that come slowly: how long one may take in all, and how many may be under way at once, of one client and of all.
 * What is there within a second is not looked at.
 */
import { AppError } from '../core/error.ts';
import { heldPlaces } from './held-places.ts';
import type { LimitSettings } from './limits.ts';
import { addressBlock, type RequestContext } from './request-context.ts';

/** From then on a body counts as slow. */
const SLOW_MS = 1000;

/** How often is looked; a body has so much longer. */
const ROUND_MS = 250;

/**
 * Refusals in one turn of the event loop. The runtime nests the close of each connection in the one before: some 2,300 in
 * one turn overflow the stack and end the process.
 */
const MOST_REFUSED_AT_ONCE = 100;

/** About what a body takes that comes at all. */
const RETRY_AFTER_SECONDS = 5;

/** Its connection is to end with a refusal: what is still to come of the body would be taken for the next request. */
type Client = Pick<RequestContext, 'ip' | 'headers'>;

/** A body that has not come to its end. */
interface Reading {
  readonly since: number;
  readonly client: Client;
  readonly refuse: (error: unknown) => void;
  /** Gives its place back, once it is slow. */
  leave: (() => void) | undefined;
}

export interface SlowBodies {
  /**
   * The body that is being read, or a refusal instead of it; the rest is left to come to nothing.
   *
   * @throws {AppError} request_timeout, rate_limited, unavailable, and what reading throws
   */
  watch<Body>(reading: Promise<Body>, client: Client): Promise<Body>;
  /** How many are under way. */
  count(): number;
}

export type SlowBodyLimits = Pick<LimitSettings, 'bodySeconds' | 'slowBodiesPerAddress' | 'slowBodiesInAll'>;

/** @param slowMs given by tests only. */
export function slowBodies(limits: SlowBodyLimits, slowMs = SLOW_MS): SlowBodies {
  const takeOwn = heldPlaces(limits.slowBodiesPerAddress, tooManyOfOne);
  let inAll = 0;

  /** @returns leaves again. @throws {AppError} rate_limited, unavailable */
  function enter(address: string): () => void {
    const leaveOwn = takeOwn(address);
    if (inAll >= limits.slowBodiesInAll) {
      leaveOwn();
      throw new AppError('unavailable', { hint: 'too_many_slow_bodies', retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    inAll += 1;
    return () => {
      inAll -= 1;
      leaveOwn();
    };
  }

  const totalMs = limits.bodySeconds * 1000;
  /** In the order in which they began. */
  const reading = new Set<Reading>();
  let round: ReturnType<typeof setInterval> | undefined;

  function forget(one: Reading): void {
    reading.delete(one);
    one.leave?.();
  }

  function refuse(one: Reading, error: unknown): void {
    forget(one);
    one.client.headers['Connection'] = 'close';
    one.refuse(error);
  }

  /** One timer for all of them: one each would take longer than most bodies. */
  function look(): void {
    const now = performance.now();
    let refused = 0;
    for (const one of reading) {
      const forMs = now - one.since;
      if (forMs < slowMs) break;
      if (refused >= MOST_REFUSED_AT_ONCE) {
        setImmediate(look);
        return;
      }
      try {
        if (forMs >= totalMs) throw new AppError('request_timeout');
        one.leave ??= enter(addressBlock(one.client.ip));
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
    watch: (body, client) =>
      new Promise((resolve, reject) => {
        const one: Reading = { since: performance.now(), client, refuse: reject, leave: undefined };
        reading.add(one);
        round ??= setInterval(look, Math.min(ROUND_MS, slowMs));
        body.then(
          (value) => {
            forget(one);
            resolve(value);
          },
          (error: unknown) => {
            forget(one);
            reject(error as Error);
          },
        );
      }),
    count: () => inAll,
  };
}

const tooManyOfOne = (limit: number) =>
  new AppError('rate_limited', {
    hint: 'too_many_slow_bodies',
    limit,
    limitName: 'slow-bodies-address',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
