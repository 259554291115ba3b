/** Documents of one budget are applied one after the other, and only a few of them may wait. */
import { expect, test } from 'bun:test';
import { AppError } from '@/core/error.ts';
import { applyPool } from '@/modules/seed/apply-pool.ts';

test('applies of one budget run in order, even after a failed one, and delay no other budget', async () => {
  const { run: inTurn } = applyPool({ begin: async () => ({ end: async () => {} }) });
  const first = Promise.withResolvers<void>();
  const done: string[] = [];
  const one = inTurn('wsp_1', async () => {
    await first.promise;
    done.push('one');
    throw new Error('failed');
  });
  const two = inTurn('wsp_1', async () => void done.push('two'));
  await inTurn('wsp_2', async () => void done.push('other'));
  first.resolve();
  expect(one).rejects.toThrow('failed');
  await two;
  expect(done).toEqual(['other', 'one', 'two']);
});

test('eight may wait; further ones get Retry-After, and are admitted once a slot is free', async () => {
  const { run: inTurn } = applyPool({ begin: async () => ({ end: async () => {} }) });
  const held = Promise.withResolvers<void>();
  const all = Array.from({ length: 9 }, () => inTurn('wsp_1', () => held.promise));
  const refused = await inTurn('wsp_1', async () => {}).catch((error: AppError) => error);
  expect(refused).toMatchObject({ code: 'rate_limited', hint: 'too_many_applied', retryAfterSeconds: 2 });
  await inTurn('wsp_2', async () => {});
  held.resolve();
  await Promise.all(all);
  await inTurn('wsp_1', async () => {});
});
