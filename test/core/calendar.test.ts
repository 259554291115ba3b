import { expect, test } from 'bun:test';
import { isoDate, startOfDay, startOfHour } from '@/core/calendar.ts';

test.each([
  ['1970-01-01T00:00:00.000Z', '1970-01-01', '1970-01-01T00:00:00.000Z'],
  ['2026-03-01T23:59:59.999Z', '2026-03-01', '2026-03-01T23:00:00.000Z'],
  ['2024-02-29T12:00:00.000Z', '2024-02-29', '2024-02-29T12:00:00.000Z'],
])('%s has its day and its hour', (time, day, hour) => {
  const at = Date.parse(time);
  expect([isoDate(startOfDay(at)), new Date(startOfHour(at)).toISOString()]).toEqual([day, hour]);
});
