/** Batches are smaller after a slow one, down to a minimum, and grow after full ones only. */
import { expect, test } from 'bun:test';
import { batchSize } from '@/core/batches.ts';

async function slow(limit: number): Promise<number> {
  const until = performance.now() + 6;
  while (performance.now() < until);
  return limit;
}

test('each slow batch halves the next one, to ten at the least', async () => {
  const size = batchSize({ first: 100, largest: 200, longMs: 4 });
  const limits: number[] = [];
  for (let batch = 0; batch < 6; batch += 1) limits.push(await size.run(slow, () => true));
  expect(limits).toEqual([100, 50, 25, 12, 10, 10]);
});

test('a batch within its time is followed by none that is smaller', async () => {
  const size = batchSize({ first: 100, largest: 200, longMs: 10_000 });
  const limits: number[] = [];
  for (let batch = 0; batch < 3; batch += 1) limits.push(await size.run(slow, () => true));
  expect(limits).toEqual([100, 200, 200]);
});

test('a partial batch is followed by none that is larger', async () => {
  const size = batchSize({ first: 20, largest: 200, longMs: 4 });
  for (let batch = 0; batch < 5; batch += 1)
    expect(
      await size.run(
        async (limit) => limit,
        () => false,
      ),
    ).toBeLessThanOrEqual(20);
});

test('full batches grow to the largest', async () => {
  const size = batchSize({ first: 20, largest: 70, longMs: 4 });
  const limits = new Set<number>();
  for (let batch = 0; batch < 1000 && !limits.has(70); batch += 1)
    limits.add(
      await size.run(
        async (limit) => limit,
        () => true,
      ),
    );
  expect(Math.max(...limits)).toBe(70);
});
