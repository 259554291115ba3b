/** Formats times, numbers and names for the console. */
import { once } from '../once.ts';

const relative = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' }));
const exact = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }));
const day = once(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' }));
const number = once(() => new Intl.NumberFormat('en'));
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

const STEPS: readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [86_400 * 30, 'day'],
  [86_400 * 365, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];
const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400, month: 86_400 * 30, year: 86_400 * 365 };

/** Returns "3 minutes ago" or "in 2 days". @param time ISO 8601. */
export function relativeTime(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 5) return 'just now';
  const [, unit] = STEPS.find(([limit]) => distance < limit) ?? [0, 'year' as const];
  return relative().format(Math.trunc(seconds / SECONDS[unit as keyof typeof SECONDS]), unit);
}

export const exactTime = (time: string) => exact().format(new Date(time));
export const dayOf = (time: string) => day().format(new Date(time));
export const count = (value: number) => number().format(value);

export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns "1 user" or "1,200 users". */
export const counted = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

export function bytes(value: number): string {
  const step = value < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  const amount = value / 1024 ** step;
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${BYTE_UNITS[step]}`;
}

/** Returns "1 h 20 min" or "45 s". */
export function duration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [Math.floor(seconds % 60), 's'],
  ];
  const said = parts.filter(([amount]) => amount > 0).slice(0, 2);
  return said.length === 0 ? '0 s' : said.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}
