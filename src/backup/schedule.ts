/** Schedules of backups: `every 6h`, `daily 03:00`, or five fields of cron, all in UTC. */
import { DAY, HOUR, MINUTE } from '../core/clock.ts';

export interface Schedule {
  readonly text: string;
  /** An interval in milliseconds, or five fields of cron. */
  readonly rule: number | string;
}

const UNITS = { m: MINUTE, h: HOUR, d: DAY } as const;
const SHORTEST_MS = 5 * MINUTE;
const LONGEST_MS = 366 * DAY;

/** @returns null if it is invalid, or never due. */
export function parseSchedule(text: string): Schedule | null {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const [, number, unit] = /^every (\d{1,4}) ?([mhd])$/.exec(words) ?? [];
  if (number !== undefined) {
    const rule = Number(number) * UNITS[unit as keyof typeof UNITS];
    return rule >= SHORTEST_MS && rule <= LONGEST_MS ? { text, rule } : null;
  }
  const [, hour, minute] = /^daily ([01]?\d|2[0-3]):([0-5]\d)$/.exec(words) ?? [];
  // Not checked: the first parse of a process takes milliseconds, and this is the default of every start.
  if (hour !== undefined) return { text, rule: `${Number(minute)} ${Number(hour)} * * *` };
  const rule = text.trim();
  return isCron(rule) ? { text, rule } : null;
}

/** @returns the first run after this time, both in epoch milliseconds. */
export function nextRun({ rule }: Schedule, after: number): number {
  return typeof rule === 'number' ? after + rule : (cronAfter(rule, after) ?? Infinity);
}

function isCron(fields: string): boolean {
  if (fields.split(/\s+/).length !== 5) return false;
  try {
    return cronAfter(fields, 0) !== undefined;
  } catch {
    return false;
  }
}

function cronAfter(fields: string, after: number): number | undefined {
  return Bun.cron.parse(fields, new Date(after), { tz: 'UTC' })?.getTime();
}
