/** The one source of time: services ask a `Clock`, never `Date.now()`, so that tests and ephemeral instances can move it. */

/** Milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** A clock that also knows what clocks elsewhere show, for what others judge or have dated. */
export interface WorldClock extends Clock {
  /** Real time, even where this clock was moved: how long something takes, and what a receiver or a provider goes by. */
  real(): number;
}

/** Real time. */
export const systemClock: WorldClock = { now: () => Date.now(), real: () => Date.now() };

/** A clock that runs with real time but can be moved forward; used by tests and `serve --ephemeral`. */
export interface AdjustableClock extends WorldClock {
  /** @param ms how far to move forward, in milliseconds; never negative. */
  advance(ms: number): void;
}

/** Never runs backwards: `advance` throws a RangeError for a negative step. */
export function adjustableClock(base: Clock = systemClock): AdjustableClock {
  let offset = 0;
  return {
    now: () => base.now() + offset,
    real: () => base.now(),
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError('a clock only moves forward');
      offset += ms;
    },
  };
}

/** An ISO 8601 UTC timestamp with milliseconds, the wire form of every time; `null` stays `null`. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** For names of files, to the second and in UTC, so that they sort by time: `20260302T030000Z`. */
export function fileTime(ms: number): string {
  return isoTime(ms).replace(/[-:]|\.\d+/g, '');
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
