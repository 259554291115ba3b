import { expect, test } from 'bun:test';
import { LONG_TURN_MS, nextTurn, yieldIfLong } from '@/core/turn.ts';

/** Holds the loop, as a part of long work does. */
function work(ms: number): void {
  const since = performance.now();
  while (performance.now() - since < ms);
}

test('work goes on at once in a turn that has just begun', async () => {
  await nextTurn();
  expect(yieldIfLong()).toBeUndefined();
});

test('of many works that waited for the same turn, only some go on in it, and somebody else comes in between', async () => {
  await nextTurn();
  const order: string[] = [];
  const works = Array.from({ length: 10 }, async (_, index) => {
    work(LONG_TURN_MS);
    await yieldIfLong();
    work(LONG_TURN_MS);
    order.push(`work ${index}`);
  });
  let isOver = false;
  const others = (async () => {
    for (;;) {
      await nextTurn();
      if (isOver) return;
      order.push('somebody else');
    }
  })();
  await Promise.all(works);
  isOver = true;
  await others;
  expect(order.filter((name) => name !== 'somebody else')).toHaveLength(10);
  const turns = order.join().split('somebody else');
  expect(Math.max(...turns.map((turn) => turn.split('work').length - 1))).toBeLessThanOrEqual(2);
});
