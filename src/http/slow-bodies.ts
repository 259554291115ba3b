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

/** About what a body takes that comes at all. */
const RETRY_AFTER_SECONDS = 5;

/** Its connection is to end with a refusal: what is still to come of the body would be taken for the next request. */
type Client = Pick<RequestContext, 'ip' | 'headers'>;

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

  return {
    async watch(reading, client) {
      const refusal = Promise.withResolvers<never>();
      let leave: (() => void) | undefined;
      const totalMs = limits.bodySeconds * 1000;
      const refuse = (error: unknown) => {
        client.headers['Connection'] = 'close';
        refusal.reject(error);
      };
      let timer = setTimeout(() => {
        try {
          leave = enter(addressBlock(client.ip));
          timer = setTimeout(() => refuse(new AppError('request_timeout')), totalMs - slowMs);
        } catch (error) {
          refuse(error);
        }
      }, slowMs);
      try {
        return await Promise.race([reading, refusal.promise]);
      } finally {
        clearTimeout(timer);
        leave?.();
      }
    },
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
