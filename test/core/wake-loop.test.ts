/** The loop of background workers: wake-ups are coalesced, none is lost, and a failed round ends nothing. */
import { expect, test } from 'bun:test';
import { wakeLoop } from '@/core/wake-loop.ts';
import { turns } from '../support/turns.ts';

test('wake-ups before a run are one round, and one during a round causes another', async () => {
  let rounds = 0;
  const gate = Promise.withResolvers<void>();
  const loop = wakeLoop(
    async () => {
      rounds += 1;
      if (rounds === 1) await gate.promise;
      return false;
    },
    () => {},
  );
  for (let call = 0; call < 5; call += 1) loop.wake();
  await turns();
  expect(rounds).toBe(1);
  for (let call = 0; call < 5; call += 1) loop.wake();
  await turns();
  gate.resolve();
  await turns();
  expect(rounds).toBe(2);
});

test('a round that wants another is followed by one, until none is wanted', async () => {
  let left = 5;
  const loop = wakeLoop(
    async () => (left -= 1) > 0,
    () => {},
  );
  await loop.run();
  expect(left).toBe(0);
});

test('a failed round is reported to its caller or to the handler, and the next call tries again', async () => {
  const failures: unknown[] = [];
  let isBroken = true;
  let done = 0;
  const loop = wakeLoop(
    async () => {
      if (isBroken) throw new Error('the disk');
      done += 1;
      return false;
    },
    (error) => void failures.push(error),
  );
  await expect(loop.run()).rejects.toThrow('the disk');
  loop.wake();
  await turns();
  expect(failures).toHaveLength(1);
  isBroken = false;
  await loop.run();
  expect(done).toBe(1);
});

test('a wake-up during a round that fails causes another', async () => {
  let rounds = 0;
  const failures: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const loop = wakeLoop(
    async () => {
      rounds += 1;
      if (rounds > 1) return false;
      await gate.promise;
      throw new Error('the disk');
    },
    (error) => void failures.push(error),
  );
  loop.wake();
  await turns();
  loop.wake();
  await turns();
  gate.resolve();
  await turns();
  expect([rounds, failures.length > 0]).toEqual([2, true]);
});

test('a stop waits for the round under way and starts no other', async () => {
  let rounds = 0;
  const gate = Promise.withResolvers<void>();
  const loop = wakeLoop(
    async () => {
      rounds += 1;
      await gate.promise;
      return true;
    },
    () => {},
  );
  loop.wake();
  await turns();
  let isOver = false;
  const stopped = loop.stop().then(() => void (isOver = true));
  await turns();
  expect([rounds, isOver]).toEqual([1, false]);
  gate.resolve();
  await stopped;
  loop.wake();
  await loop.run();
  expect([rounds, loop.isStopped()]).toEqual([1, true]);
});
