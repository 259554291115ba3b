/** The gate before changes of one instance: those that run again have it to themselves. */
import { expect, test } from 'bun:test';
import { NO_DEADLINE } from '@/core/deadline.ts';
import { retryGate } from '@/db/postgres/retry-gate.ts';

const AT_ONCE = async () => {};

test('a new change waits for those that run again, also while they only wait to', async () => {
  const gate = retryGate(1000);
  const order: string[] = [];
  const pause = Promise.withResolvers<void>();
  const again = gate.again(
    NO_DEADLINE,
    () => pause.promise,
    async () => void order.push('again'),
  );
  const first = gate.pass(NO_DEADLINE).then(() => order.push('first'));
  pause.resolve();
  await Promise.all([again, first]);
  expect(order).toEqual(['again', 'first']);
});

test('changes run again one by one, in the order of their conflicts', async () => {
  const gate = retryGate(1000);
  const order: string[] = [];
  const done = Promise.withResolvers<void>();
  const one = gate.again(NO_DEADLINE, AT_ONCE, async () => {
    order.push('one begins');
    await done.promise;
    order.push('one ends');
  });
  const two = gate.again(NO_DEADLINE, AT_ONCE, async () => void order.push('two'));
  done.resolve();
  await Promise.all([one, two]);
  expect(order).toEqual(['one begins', 'one ends', 'two']);
});

test('a change that fails again holds up nobody', async () => {
  const gate = retryGate(1000);
  const failing = gate.again(NO_DEADLINE, AT_ONCE, () => Promise.reject(new Error('conflict')));
  const first = gate.pass(NO_DEADLINE);
  expect(await failing.catch((error: Error) => error.message)).toBe('conflict');
  await first;
  await gate.pass(NO_DEADLINE);
});
