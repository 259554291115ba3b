/** Names scheduled backups, and decides which of them are kept. */
import { DAY, fileTime } from '../core/clock.ts';

/** Retention of backups: the newest `count`, those younger than `days` days, or all that either of the two keeps. */
export interface Keep {
  readonly count: number | null;
  readonly days: number | null;
}

const MAX_KEPT = 10_000;

/** Parses `14`, `30d` or both, `7,30d`. @returns null for anything else. */
export function parseKeep(text: string): Keep | null {
  let count: number | null = null;
  let days: number | null = null;
  for (const part of text.split(',').map((word) => word.trim())) {
    const [, digits = '', unit] = /^(\d{1,5})(d?)$/.exec(part) ?? [];
    const value = Number(digits);
    if (!(value >= 1 && value <= MAX_KEPT)) return null;
    if (unit === 'd' ? days !== null : count !== null) return null;
    if (unit === 'd') days = value;
    else count = value;
  }
  return { count, days };
}

/** @param mark of the instance key: instances that share a folder know their own backups by it. */
export function backupName(mark: number, madeAt: number, isEncrypted: boolean): string {
  return `${prefixOf(mark)}${fileTime(madeAt)}.db${isEncrypted ? '.age' : ''}`;
}

function prefixOf(mark: number): string {
  return `gatehouse-${mark.toString(16).padStart(8, '0')}-`;
}

const STAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db(?:\.age)?$/;

/** Returns the time of a backup by its name; null if it is not this instance's. */
export function madeAtOf(name: string, mark: number): number | null {
  const prefix = prefixOf(mark);
  const [, ...parts] = (name.startsWith(prefix) && STAMP.exec(name.slice(prefix.length))) || [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  if (year === undefined || month === undefined) return null;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Returns the names to delete. The newest backup always stays, and so does every file that is not this instance's. */
export function outlived(names: readonly string[], mark: number, { count, days }: Keep, now: number): string[] {
  const own = names
    .map((name) => ({ name, madeAt: madeAtOf(name, mark) }))
    .filter((file): file is { name: string; madeAt: number } => file.madeAt !== null)
    .sort((a, b) => b.madeAt - a.madeAt);
  return own
    .filter(({ madeAt }, place) => {
      const isAmongNewest = place === 0 || (count !== null && place < count);
      const isYoung = days !== null && now - madeAt < days * DAY;
      return !isAmongNewest && !isYoung;
    })
    .map(({ name }) => name);
}
