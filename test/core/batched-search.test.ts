import { expect, test } from 'bun:test';
import { searchInBatches } from '@/core/batched-search.ts';

/** Searches rows 0 … count − 1 for those that match, `pause` milliseconds a batch. */
function search(count: number, { limit = 50, size = 2000, pauseMs = 0, isMatch = (_: number): boolean => false } = {}) {
  const batches: number[] = [];
  const page = (after: number | null) =>
    searchInBatches<number, number>({
      after,
      limit,
      batchSizes: { first: 100, further: size },
      positionOf: (row) => row,
      async scan({ after, size }) {
        batches.push(size);
        const from = after === null ? 0 : after + 1;
        const rows = Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, at) => from + at);
        const until = performance.now() + pauseMs;
        while (performance.now() < until);
        return { matches: rows.filter(isMatch), last: rows.at(-1) ?? null, scanned: rows.length };
      },
    });
  return { page, batches };
}

test('few rows are searched in one page, however slow the machine', async () => {
  const { page } = search(4000, { pauseMs: 40 });
  expect(await page(null)).toEqual({ found: [], next: null });
});

test('a page ends before a batch that would take too long, and the next one continues there', async () => {
  const { page, batches } = search(100_000, { pauseMs: 20, isMatch: (row) => row === 99_999 });
  const first = await page(null);
  expect(first).toEqual({ found: [], next: 4099 });
  expect(batches).toEqual([100, 2000, 2000]);
  const found: number[] = [];
  let pages = 0;
  for (let next: number | null = first.next; next !== null; pages += 1) {
    const page = await search(100_000, { pauseMs: 20, isMatch: (row) => row === 99_999 }).page(next);
    found.push(...page.found);
    next = page.next;
  }
  expect(found).toEqual([99_999]);
  expect(pages).toBeGreaterThan(10);
});

test('a page ends once it is full', async () => {
  const { page, batches } = search(100_000, { limit: 3, isMatch: (row) => row % 10 === 0 });
  expect((await page(null)).next).toBe(20);
  expect(batches).toEqual([100]);
});
