import { expect, test } from 'bun:test';
import { adjustableClock, DAY, HOUR, isoTime, MINUTE, SECOND, systemClock } from '@/core/clock.ts';

test('an adjustable clock runs with its base and keeps its offset', () => {
  let time = 1000;
  const clock = adjustableClock({ now: () => time });
  expect(clock.now()).toBe(1000);
  clock.advance(500);
  clock.advance(0);
  time = 2000;
  expect(clock.now()).toBe(2500);
  // `real` is the time without the offset.
  expect(clock.real()).toBe(2000);
});

test('an adjustable clock never goes back', () => {
  const clock = adjustableClock({ now: () => 1000 });
  for (const ms of [-1, NaN, -Infinity]) expect(() => clock.advance(ms)).toThrow(RangeError);
  expect(clock.now()).toBe(1000);
});

test('two clocks on one base do not move each other', () => {
  const base = { now: () => 0 };
  const [left, right] = [adjustableClock(base), adjustableClock(base)];
  left.advance(MINUTE);
  expect([left.now(), right.now()]).toEqual([MINUTE, 0]);
});

test('the system clock returns whole milliseconds', () => {
  expect(Number.isInteger(systemClock.now())).toBe(true);
});

test('isoTime is in UTC with milliseconds, and null for null', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(isoTime(Date.parse('2026-03-02T13:00:00.007+01:00'))).toBe('2026-03-02T12:00:00.007Z');
  expect(isoTime(null)).toBeNull();
});

test('the units of time are in milliseconds', () => {
  expect([SECOND, MINUTE, HOUR, DAY]).toEqual([1000, 60_000, 3_600_000, 86_400_000]);
});
