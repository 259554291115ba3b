/** Limits bodies slower than a second: how long one may take, and how many at once per client address and in all. */
import { AppError } from '../core/error.ts';
import { type Linked, LinkedList } from '../core/linked-list.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
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

/**
 * Continuation of a read body, called with what it was given: in place of promises and closures on the way, each of
 * which costs as much as a lookup.
 */
export interface BodyUse<Body, Given, Result> {
  /** Called with the body. An error that it throws goes to `failed`. */
  readonly taken: (body: Body, given: Given) => MaybePromise<Result>;
  /** Called with the error of a refusal, of reading or of `taken`. An error that it throws rejects. */
  readonly failed: (error: unknown, given: Given) => MaybePromise<Result>;
}

/** A body that is being read. */
interface Watched extends Linked<Watched> {
  readonly client: Client;
  readonly since: number;
  isOver: boolean;
  /** Releases its slot; set once it is slow. */
  leave: (() => void) | null;
  fail(error: unknown): void;
}

/** A body that is being read, with its use: settles the promise of `watch` with the result of that. */
export abstract class Reading<Read, Body, Given, Result> implements Watched {
  readonly since = performance.now();
  before: Watched | null = null;
  behind: Watched | null = null;
  isOver = false;
  leave: (() => void) | null = null;
  /** Both set by `watch`. */
  resolve: (result: MaybePromise<Result>) => void = ignore;
  reject: (error: unknown) => void = ignore;

  constructor(
    readonly client: Client,
    private readonly use: BodyUse<Body, Given, Result>,
    private readonly given: Given,
  ) {}

  /** An error that it throws goes to `failed`. */
  protected abstract bodyOf(read: Read): Body;

  take(read: Read): void {
    try {
      this.resolve(this.use.taken(this.bodyOf(read), this.given));
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    try {
      this.resolve(this.use.failed(error, this.given));
    } catch (unanswered) {
      this.reject(unanswered);
    }
  }
}

function ignore(): void {}

/** A body that is read as its value. */
export class ReadingValue<Body, Given, Result> extends Reading<Body, Body, Given, Result> {
  protected bodyOf(read: Body): Body {
    return read;
  }
}

export interface SlowBodies {
  /**
   * Resolves with what the use makes of the body, or of the error. A refusal leaves the read unfinished.
   * The refusals are {AppError} request_timeout, rate_limited and unavailable.
   */
  watch<Read, Body, Given, Result>(read: Promise<Read>, reading: Reading<Read, Body, Given, Result>): Promise<Result>;
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
  const reading = new LinkedList<Watched>();
  let round: ReturnType<typeof setInterval> | undefined;
  /** Whether a round continues in the next turn; a second, concurrent round would double the refusals. */
  let isContinued = false;

  /** @returns false if it was refused before its read ended. */
  function end(one: Watched): boolean {
    if (one.isOver) return false;
    one.isOver = true;
    reading.remove(one);
    one.leave?.();
    return true;
  }

  function refuse(one: Watched, error: unknown): void {
    end(one);
    one.client.headers['Connection'] = 'close';
    one.fail(error);
  }

  /** Checks all bodies with one timer: one timer each would take longer than most bodies. */
  function look(): void {
    isContinued = false;
    const now = performance.now();
    let refused = 0;
    for (let [one, next] = [reading.first, null as Watched | null]; one; one = next) {
      next = one.behind;
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
    if (reading.first) return;
    clearInterval(round);
    round = undefined;
  }

  return {
    watch: (read, one) =>
      new Promise((resolve, reject) => {
        one.resolve = resolve;
        one.reject = reject;
        reading.add(one);
        round ??= setInterval(() => void (isContinued || look()), Math.min(ROUND_MS, slowMs));
        read.then(
          (whole) => void (end(one) && one.take(whole)),
          (error: unknown) => void (end(one) && one.fail(error)),
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
