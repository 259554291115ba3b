import { expect, test } from 'bun:test';
import { isoDate, startOfDay, startOfMonth, startOfWeek } from '@/core/calendar.ts';

test.each([
  ['1970-01-01T00:00:00.000Z', '1970-01-01', '1969-12-29', '1970-01-01', '1969-12-01'],
  ['2026-03-02T00:00:00.000Z', '2026-03-02', '2026-03-02', '2026-03-01', '2026-02-01'],
  ['2026-03-01T23:59:59.999Z', '2026-03-01', '2026-02-23', '2026-03-01', '2026-02-01'],
  ['2024-02-29T12:00:00.000Z', '2024-02-29', '2024-02-26', '2024-02-01', '2024-01-01'],
  ['2027-01-03T23:59:59.999Z', '2027-01-03', '2026-12-28', '2027-01-01', '2026-12-01'],
])('%s has its day, the Monday of its week and the first of its month', (time, day, week, month, monthBefore) => {
  const at = Date.parse(time);
  expect([startOfDay(at), startOfWeek(at), startOfMonth(at), startOfMonth(at, -1)].map(isoDate)).toEqual([
    day,
    week,
    month,
    monthBefore,
  ]);
});
