import { expect, test } from 'bun:test';
import { LONG_TURN_MS, yieldToEventLoop, yieldIfLong } from '@/core/event-loop.ts';

/** Blocks the event loop, as a part of a background task does. */
function blockLoop(ms: number): void {
  const since = performance.now();
  while (performance.now() - since < ms);
}

test('work continues at once in a fresh turn of the event loop', async () => {
  await yieldToEventLoop();
  expect(yieldIfLong()).toBeUndefined();
});

test('tasks that wait for the same turn continue a few at a time, and other work runs in between', async () => {
  await yieldToEventLoop();
  const order: string[] = [];
  const works = Array.from({ length: 10 }, async (_, index) => {
    blockLoop(LONG_TURN_MS);
    await yieldIfLong();
    blockLoop(LONG_TURN_MS);
    order.push(`work ${index}`);
  });
  let isOver = false;
  const others = (async () => {
    for (;;) {
      await yieldToEventLoop();
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
