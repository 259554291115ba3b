import { describe, expect, test } from 'bun:test';
import { counterBytes } from '@/http/shared-counter-memory.ts';
import { sharedCounters } from '@/http/shared-counters.ts';

const WINDOW = 60_000;

const MOST = 5000;

function counters(most = MOST, thread = 1, memory = new SharedArrayBuffer(counterBytes(most))) {
  return sharedCounters({ memory, offset: 0, seed: 7, most }, WINDOW, thread);
}

describe('counters that threads share', () => {
  test('never allow more uses than the limit, and do not count a refused one', () => {
    const table = counters();
    const uses = Array.from({ length: 5 }, () => table.use('usr_1', 3, WINDOW));
    expect(uses.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, false, false]);
    expect(table.countOf('usr_1', WINDOW)).toBe(3);
    expect(table.countOf('usr_2', WINDOW)).toBe(0);
  });

  test('a use that was given back can be used again', () => {
    const table = counters();
    table.use('usr_1', 1, WINDOW);
    expect(table.giveBack('usr_1', 1, WINDOW)).toBe(0);
    expect(table.use('usr_1', 1, WINDOW).isAllowed).toBe(true);
  });

  test('are one for two views of the memory', () => {
    const memory = new SharedArrayBuffer(counterBytes(MOST));
    const [left, right] = [counters(undefined, 1, memory), counters(undefined, 2, memory)];
    expect(left.use('usr_1', 2, WINDOW).count).toBe(1);
    expect(right.use('usr_1', 2, WINDOW).count).toBe(2);
    expect(left.use('usr_1', 2, WINDOW).isAllowed).toBe(false);
  });

  test('begin again with the next window', () => {
    const table = counters();
    for (let person = 0; person < 1000; person += 1) table.use(`usr_${person}`, 1, WINDOW);
    expect(table.use('usr_1', 1, 2 * WINDOW).isAllowed).toBe(true);
    expect(table.takeChanged(2 * WINDOW, 10)).toEqual([{ subject: 'usr_1', count: 1 }]);
  });

  test('a thread that was interrupted as the window ended does not reset the next one', () => {
    const table = counters();
    table.use('usr_1', 1, 2 * WINDOW);
    expect(table.use('usr_1', 1, WINDOW).isAllowed).toBe(false);
    expect(table.use('usr_1', 1, 2 * WINDOW).isAllowed).toBe(false);
  });

  test('begin again where the clock was set back by more than a window', () => {
    const table = counters();
    table.use('usr_1', 1, 9 * WINDOW);
    expect(table.use('usr_1', 1, 2 * WINDOW).isAllowed).toBe(true);
  });

  test('a full table evicts the least used and keeps the exhausted', () => {
    const table = counters(1000);
    table.use('exhausted', 1, WINDOW);
    for (let times = 0; times < 64; times += 1) table.use('busy', 100, WINDOW);
    for (let flood = 0; flood < 20_000; flood += 1) table.use(`flood_${flood}`, 100, WINDOW);
    expect(table.use('exhausted', 1, WINDOW).isAllowed).toBe(false);
    expect(table.countOf('busy', WINDOW)).toBe(64);
    expect(table.countOf('flood_19999', WINDOW)).toBe(1);
    expect(table.countOf('flood_0', WINDOW)).toBe(0);
  });

  test('agree with a model over random calls on a small table that never fills', () => {
    const table = counters(500);
    const model = new Map<string, number>();
    let state = 12_345;
    const random = (below: number) => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % below;
    for (let step = 0; step < 20_000; step += 1) {
      const subject = `usr_${random(400)}`;
      const known = model.get(subject) ?? 0;
      if (random(5) === 0) {
        table.giveBack(subject, 10, WINDOW);
        if (model.has(subject)) model.set(subject, Math.max(0, known - 1));
      } else {
        expect(table.use(subject, 10, WINDOW).isAllowed).toBe(known < 10);
        model.set(subject, Math.min(10, known + 1));
      }
      expect(table.countOf(subject, WINDOW)).toBe(model.get(subject) ?? 0);
    }
  });

  test('hands out each change once, and again after a failed store', () => {
    const table = counters();
    table.use('usr_1', 5, WINDOW);
    table.use('usr_2', 5, WINDOW);
    expect(table.takeChanged(WINDOW, 1)).toEqual([{ subject: 'usr_1', count: 1 }]);
    expect(table.takeChanged(WINDOW, 10)).toEqual([{ subject: 'usr_2', count: 1 }]);
    expect(table.takeChanged(WINDOW, 10)).toEqual([]);
    table.markChanged(['usr_2'], WINDOW);
    expect(table.takeChanged(WINDOW, 10)).toEqual([{ subject: 'usr_2', count: 1 }]);
  });

  test('counts on after a thread has ended while it held the lock', () => {
    const memory = new SharedArrayBuffer(counterBytes(MOST));
    const table = counters(undefined, 1, memory);
    table.use('usr_1', 5, WINDOW);
    const words = new Int32Array(memory, 8);
    words[0] = 2;
    table.recover(2);
    expect(table.use('usr_1', 5, WINDOW).count).toBe(2);
    expect(table.use('usr_2', 5, WINDOW).count).toBe(1);
  });
});
