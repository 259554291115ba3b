/** The only source of time: services use a `Clock`, never `Date.now()`, so that tests can move it. */

/** Milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** A clock that also knows real time, for times that other systems check or have set. */
export interface WorldClock extends Clock {
  /** Real time, even where this clock was moved: for durations, and for what a receiver or a provider checks. */
  real(): number;
}

export const systemClock: WorldClock = { now: () => Date.now(), real: () => Date.now() };

/** A clock that runs with real time but can be moved forward; used by tests and `serve --ephemeral`. */
export interface AdjustableClock extends WorldClock {
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

/** Returns an ISO 8601 UTC timestamp with milliseconds, the wire form of every time; `null` stays `null`. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Returns a UTC time for file names, to the second, that sorts by time: `20260302T030000Z`. */
export function fileTime(ms: number): string {
  return isoTime(ms).replace(/[-:]|\.\d+/g, '');
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
