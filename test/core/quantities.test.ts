/** Quantities as text for people. */
import { expect, test } from 'bun:test';
import { bytesText, counted, lasting, secondsText } from '@/core/quantities.ts';

test('bytes are shown in the unit that keeps the number short', () => {
  expect([0, 1023, 1536, 12 * 2 ** 20, 1.4 * 2 ** 30].map(bytesText)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '12 MiB',
    '1.4 GiB',
  ]);
});

test('a count has its singular or plural, including irregular ones', () => {
  expect([counted(1, 'mail'), counted(1200, 'mail'), counted(2, 'delivery', 'deliveries')]).toEqual([
    '1 mail',
    '1,200 mails',
    '2 deliveries',
  ]);
});

test('durations are shown in a unit that is easy to read', () => {
  expect([1000, 119_000, 3 * 60_000, 3 * 3_600_000, 3 * 86_400_000].map(lasting)).toEqual([
    '1 second',
    '119 seconds',
    '3 minutes',
    '3 hours',
    '3 days',
  ]);
  expect([1400, 12_300].map(secondsText)).toEqual(['1.4 s', '12 s']);
});
