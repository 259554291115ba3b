/** How long a personal key lasts: as the person or program asked when connecting, or as its client's default says. */
import { DAY } from '../../core/clock.ts';
import type { Application } from '../../store/applications.ts';

/** A login of the command line has its person's rights in the console, so it ends by itself. */
export const LOGIN_DAYS = 90;

/** Ten years, like other keys that end. */
const MAX_DAYS = 3_650;

/** Stored for a key that ends only when it is disconnected. */
const NEVER = 0;

/** Accepts `never`, a whole number from 1 to 3650, or nothing: a parameter without a value counts as omitted. */
export const KEY_DAYS_PATTERN = '^(?:|never|[1-9][0-9]{0,2}|[12][0-9]{3}|3[0-5][0-9]{2}|36[0-4][0-9]|3650)$';

export const KEY_DAYS_REMEDY = `Give a whole number of days from 1 to ${MAX_DAYS}, or never.`;

/** Returns the days to store; null if none were asked, undefined for a text of another form. */
export function keyDaysOf(text: string | null | undefined): number | null | undefined {
  if (!text) return null;
  if (!new RegExp(KEY_DAYS_PATTERN).test(text)) return undefined;
  return text === 'never' ? NEVER : Number(text);
}

/** Returns the days of a device's key where none were asked; null for a key that does not end. */
export function defaultDaysOf({ workspaceId }: Application): number | null {
  return workspaceId === null ? LOGIN_DAYS : null;
}

/**
 * Returns when a key ends that is minted now, in epoch milliseconds; null if only a disconnection ends it.
 *
 * @param byDefault days where none were asked; null for a key that does not end.
 */
export function keyEnd(now: number, keyDays: number | null, byDefault: number | null): number | null {
  const days = keyDays ?? byDefault;
  return days === null || days === NEVER ? null : now + days * DAY;
}
