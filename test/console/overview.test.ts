/** The overview's tiles and charts, where a period is not complete. */
import { expect, test } from 'bun:test';
import { alignedData } from '@/console/components/chart-drawing.ts';
import { countedSince } from '@/console/views/overview/counted-since.ts';

test('a number says since when it is counted until both of its periods are counted in whole', () => {
  const on = (today: string) => countedSince('2026-03-02', { today, days: 7 });
  expect(on('2026-03-02')).toMatch(/^Counted since .*2/);
  // The 14 days up to the 15th begin on the 2nd, which was counted in part.
  expect(on('2026-03-15')).toMatch(/^Counted since /);
  expect(on('2026-03-16')).toBeUndefined();
  expect(countedSince(null, { today: '2026-03-02', days: 7 })).toBeUndefined();
});

test('a chart draws complete days as one series and the step to today as another', () => {
  const times = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const [, complete, running] = alignedData({ times, series: [{ name: 'Sign-ins', values: [1, 2, 3] }] });
  expect(complete).toEqual([1, 2, null]);
  expect(running).toEqual([null, 2, 3]);
});
