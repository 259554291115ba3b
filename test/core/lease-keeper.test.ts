/** Leases are renewed in time, and work without a lease is ended. */
import { expect, test } from 'bun:test';
import { SECOND } from '@/core/clock.ts';
import { type Claim, LEASE_MS, leaseKeeper } from '@/core/lease-keeper.ts';

const CLAIM: Claim = { id: 'one', attempts: 1 };

function setUp() {
  let now = 1_000_000;
  let answer: () => readonly string[] = () => ['one'];
  const renewed: number[] = [];
  const released: Claim[] = [];
  const keeper = leaseKeeper({
    clock: { now: () => now, real: () => now },
    async renew(_, until) {
      const kept = answer();
      renewed.push(until);
      return kept;
    },
    release: async (claims) => void released.push(...claims),
  });
  return {
    keeper,
    renewed,
    released,
    hold: () => keeper.hold(CLAIM, now + LEASE_MS),
    now: () => now,
    pass: (ms: number) => void (now += ms),
    answerWith: (next: () => readonly string[]) => void (answer = next),
  };
}

function unavailable(): never {
  throw new Error('unavailable');
}

test('a lease is renewed once a third of it has passed, and never after its end', async () => {
  const { keeper, renewed, hold, now, pass } = setUp();
  const lost = hold();
  pass(LEASE_MS / 3);
  await keeper.renew();
  expect(renewed).toEqual([]);
  pass(SECOND);
  await keeper.renew();
  expect(renewed).toEqual([now() + LEASE_MS]);
  await keeper.renew();
  expect(renewed).toHaveLength(1);
  keeper.end(CLAIM);
  pass(LEASE_MS);
  await keeper.renew();
  expect([renewed.length, lost.aborted, keeper.has('one')]).toEqual([1, false, false]);
});

test('work is ended when the database says that its lease is lost', async () => {
  const { keeper, hold, pass, answerWith } = setUp();
  const lost = hold();
  answerWith(() => []);
  pass(LEASE_MS / 2);
  await keeper.renew();
  expect(lost.aborted).toBe(true);
});

test('without an answer of the database, work goes on until the end of its lease', async () => {
  const { keeper, hold, pass, answerWith } = setUp();
  const lost = hold();
  answerWith(unavailable);
  pass(LEASE_MS / 2);
  await expect(keeper.renew()).rejects.toThrow('unavailable');
  expect(lost.aborted).toBe(false);
  pass(LEASE_MS / 2);
  await expect(keeper.renew()).rejects.toThrow('unavailable');
  expect(lost.aborted).toBe(true);
});

test('work whose lease ended before it could begin is told so at once', () => {
  const { keeper, now } = setUp();
  expect(keeper.hold(CLAIM, now()).aborted).toBe(true);
});

test('claims of a change with an unknown outcome are released, unless they are held meanwhile', async () => {
  const { keeper, released, hold } = setUp();
  keeper.doubt([CLAIM, { id: 'two', attempts: 3 }]);
  hold();
  await keeper.releaseDoubted();
  await keeper.releaseDoubted();
  expect(released).toEqual([{ id: 'two', attempts: 3 }]);
});
