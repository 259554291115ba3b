/** How the server names the backups it makes by itself, and which of those it keeps. */
import { DAY, fileTime } from '../core/clock.ts';

/** How many are kept: the newest so many, those younger than so many days, or what either of the two says. */
export interface Keep {
  readonly count: number | null;
  readonly days: number | null;
}

const MAX_KEPT = 10_000;

/** `14`, `30d` or both, `7,30d`. @returns null where it is neither. */
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

/** @param mark of the instance key: two instances can share a folder, and each knows its own. */
export function backupName(mark: number, madeAt: number, isEncrypted: boolean): string {
  return `${prefixOf(mark)}${fileTime(madeAt)}.db${isEncrypted ? '.age' : ''}`;
}

function prefixOf(mark: number): string {
  return `gatehouse-${mark.toString(16).padStart(8, '0')}-`;
}

const STAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db(?:\.age)?$/;

/** Since when the file is there, by its name; null where it is none of this instance's. */
export function madeAtOf(name: string, mark: number): number | null {
  const prefix = prefixOf(mark);
  const [, ...parts] = (name.startsWith(prefix) && STAMP.exec(name.slice(prefix.length))) || [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  if (year === undefined || month === undefined) return null;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Those of the names that are to go. The newest one always stays, and so does whatever is not this instance's. */
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
