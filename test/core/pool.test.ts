/** Pools: slots in all, of one key and in reserve, and calls that wait for one. */
import { expect, test } from 'bun:test';
import { fairShares, pool } from '@/core/pool.ts';

const takeAll = (slots: ReturnType<typeof pool>, key: string) => {
  let taken = 0;
  while (slots.take(key)) taken += 1;
  return taken;
};

test('a key gets its share, all keys together get all, and released slots are free again', () => {
  const slots = pool({ total: 5, perKey: 3 });
  expect([takeAll(slots, 'a'), takeAll(slots, 'b'), takeAll(slots, 'c')]).toEqual([3, 2, 0]);
  expect([slots.of('a'), slots.used, slots.free('c')]).toEqual([3, 5, 0]);
  slots.release('a', 2);
  expect([slots.free('c'), slots.free('a'), slots.take('c', 3), slots.take('c', 2)]).toEqual([2, 2, false, true]);
});

test('a quarter is for first slots only, so that a few keys never take everything', () => {
  const slots = pool(fairShares(20));
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => takeAll(slots, key))).toEqual([5, 5, 5, 4, 1, 0]);
  slots.release('a');
  expect([slots.free('b'), slots.free('a'), slots.free('f')]).toEqual([0, 1, 1]);
});

test('slots that are added beyond the limits count, and free nothing until they are released', () => {
  const slots = pool({ total: 1 });
  slots.add();
  slots.add();
  expect([slots.free(), slots.take()]).toEqual([0, false]);
  slots.release();
  expect(slots.take()).toBe(false);
  slots.release();
  expect(slots.take()).toBe(true);
});

test('calls wait in order, one that fails frees its slot, and a full key delays no other', async () => {
  const slots = pool({ total: 2, perKey: 1 });
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = slots.run('a', () => first.promise.then(() => Promise.reject(new Error('failed'))));
  const waiting = ['one', 'two'].map((name) => slots.run('a', async () => void done.push(name)));
  await slots.run('b', async () => void done.push('other'));
  first.resolve();
  await expect(failing).rejects.toThrow('failed');
  await Promise.all(waiting);
  expect([done, slots.used]).toEqual([['other', 'one', 'two'], 0]);
});

test('a call that finds too many waiting, or no slot in time, is refused and not started', async () => {
  const slots = pool({ perKey: 1, waitingPerKey: 1, waitMs: 5, refusal: () => new Error('busy') });
  const held = Promise.withResolvers<void>();
  const holder = slots.run('a', () => held.promise);
  let started = 0;
  const start = async () => void (started += 1);
  const late = slots.run('a', start);
  await expect(slots.run('a', start)).rejects.toThrow('busy');
  await expect(late).rejects.toThrow('busy');
  held.resolve();
  await holder;
  expect(started).toBe(0);
  await slots.run('a', start);
  expect([started, slots.used]).toEqual([1, 0]);
});

test('a call waits no longer than its own limit', async () => {
  const slots = pool({ total: 1, waitMs: 60_000, refusal: () => new Error('busy') });
  slots.take();
  expect(slots.run('a', async () => 'never', 1)).rejects.toThrow('busy');
});
