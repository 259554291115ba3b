/** Two limiters on one database, as two instances have them. The engine's part is the SQL of `store/rate-leases.ts`. */
import { describe, expect, test } from 'bun:test';
import { type AdjustableClock, adjustableClock, DAY, MINUTE, SECOND } from '@/core/clock.ts';
import { NO_DEADLINE } from '@/core/deadline.ts';
import type { Database } from '@/db/database.ts';
import { leasingLimiter } from '@/http/leasing-limiter.ts';
import type { Bucket } from '@/http/limits.ts';
import type { RateLimiter } from '@/http/rate-limit.ts';
import { openTestDatabase } from '../support/database.ts';

const NOON = Date.parse('2026-03-02T12:00:00.000Z');
const minute: Bucket = { name: 'minute', windowMs: MINUTE };
const day: Bucket = { name: 'day', windowMs: DAY };
const brief: Bucket = { name: 'brief', windowMs: MINUTE, isBrief: true };

/** A database that counts its changes, and refuses them on demand. */
function watched(db: Database) {
  const seen = { writes: 0, isAway: false };
  const write: Database['write'] = async (...given) => {
    seen.writes += 1;
    if (seen.isAway) throw new Error('the database is away');
    return db.write(...given);
  };
  return { seen, db: { ...db, write } };
}

async function open(clock: AdjustableClock = adjustableClock({ now: () => NOON })) {
  const { db: plain, sqlite } = await openTestDatabase(clock);
  const { db, seen } = watched(plain);
  const [first, second] = [leasingLimiter({ db, clock }), leasingLimiter({ db, clock })];
  const stored = (subject: string) =>
    (sqlite.query('SELECT count FROM rate_counters WHERE subject = ?').get(subject) as { count: number } | null)?.count;
  const allowed = async (limiters: RateLimiter[], uses: number, limit: number, bucket = minute) => {
    const states = await Promise.all(
      Array.from({ length: uses }, (_, at) => limiters[at % limiters.length]?.consume(bucket, 'a', limit)),
    );
    return states.filter((state) => state?.isAllowed).length;
  };
  return { db, clock, seen, first, second, stored, allowed };
}

describe('a rate limit over two instances', () => {
  for (const limit of [1, 2, 5, 20, 100, 600])
    test(`of ${limit} grants ${limit} of twice as many concurrent uses, and no more`, async () => {
      const { first, second, allowed } = await open();
      expect(await allowed([first, second], limit * 2 + 10, limit)).toBe(limit);
    });

  test('of a few uses is exact where they come one after the other', async () => {
    const { first, second } = await open();
    const states = [];
    for (let at = 0; at < 8; at += 1) states.push(await [first, second][at % 2]?.consume(minute, 'a', 5));
    expect(states.map((state) => [state?.isAllowed, state?.remaining])).toEqual([
      [true, 4],
      [true, 3],
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
      [false, 0],
    ]);
  });

  test('withholds at most a sixteenth of the rest for an instance that does not use its block', async () => {
    const { first, second } = await open();
    await first.consume(minute, 'a', 600);
    let granted = 1;
    while ((await second.consume(minute, 'a', 600)).isAllowed) granted += 1;
    expect(granted).toBe(600 - 36);
  });

  test('grants a block without the database, and asks for many subjects at once', async () => {
    const { first, seen } = await open();
    await Promise.all(Array.from({ length: 100 }, (_, at) => first.consume(minute, `s${at}`, 600)));
    expect(seen.writes).toBe(1);
    for (let at = 0; at < 36; at += 1) expect(first.consume(minute, 's1', 600)).not.toBeInstanceOf(Promise);
    expect(seen.writes).toBe(1);
    const further = first.consume(minute, 's1', 600);
    expect(further).toBeInstanceOf(Promise);
    await further;
  });

  test('refuses an exhausted subject from memory, and looks again after five seconds', async () => {
    const { first, second, clock, seen } = await open();
    while ((await first.consume(day, 'a', 3)).isAllowed);
    expect((await second.consume(day, 'a', 3)).isAllowed).toBe(false);
    const before = seen.writes;
    for (let at = 0; at < 50; at += 1) expect(first.consume(day, 'a', 3)).toMatchObject({ isAllowed: false });
    expect(seen.writes).toBe(before);
    clock.advance(5 * SECOND);
    expect((await first.consume(day, 'a', 3)).isAllowed).toBe(false);
    expect(seen.writes).toBe(before + 1);
  });

  test('begins anew with each window at both instances', async () => {
    const { first, second, clock, allowed } = await open();
    expect(await allowed([first, second], 20, 5)).toBe(5);
    clock.advance(MINUTE);
    expect(await allowed([first, second], 20, 5)).toBe(5);
  });

  test('grants no use of the block that a concurrent caller with a higher limit has leased', async () => {
    const { first } = await open();
    const higher = first.consume(minute, 'a', 600);
    // The request of the first has begun.
    await new Promise((resolve) => setImmediate(resolve));
    const states = await Promise.all([higher, first.consume(minute, 'a', 20), first.consume(minute, 'a', 20)]);
    for (let at = 0; at < 30; at += 1) states.push(await first.consume(minute, 'a', 20));
    expect(states.filter((state) => state.isAllowed).length).toBeLessThanOrEqual(20);
  });

  test('is raised at once', async () => {
    const { first, second } = await open();
    while ((await first.consume(minute, 'a', 2)).isAllowed);
    expect((await first.consume(minute, 'a', 3)).isAllowed).toBe(true);
    expect((await second.consume(minute, 'a', 3)).isAllowed).toBe(false);
  });

  test('counts into the later window where the clock of one instance is behind', async () => {
    const { db, first } = await open();
    const behind = leasingLimiter({ db, clock: { now: () => NOON - 2 * SECOND } });
    expect((await first.consume(minute, 'a', 2)).isAllowed).toBe(true);
    expect((await behind.consume(minute, 'a', 2)).isAllowed).toBe(true);
    expect((await behind.consume(minute, 'a', 2)).isAllowed).toBe(false);
    expect((await first.consume(minute, 'a', 2)).isAllowed).toBe(false);
  });

  test('does not wait for a window from before the clock was set back', async () => {
    let now = NOON;
    const { first, second, stored } = await open(adjustableClock({ now: () => now }));
    while ((await first.consume(day, 'a', 2)).isAllowed);
    now -= DAY;
    expect((await second.peek(day, 'a', 2)).isAllowed).toBe(true);
    const states = [];
    for (const limiter of [first, second, first]) states.push((await limiter.consume(day, 'a', 2)).isAllowed);
    expect([states, stored('a')]).toEqual([[true, true, false], 2]);
  });

  test('refuses by an error while the database is away, and works again afterwards', async () => {
    const { first, seen } = await open();
    seen.isAway = true;
    await expect(Promise.resolve(first.consume(minute, 'a', 5))).rejects.toThrow('away');
    seen.isAway = false;
    expect((await first.consume(minute, 'a', 5)).isAllowed).toBe(true);
  });
});

describe('an unused block', () => {
  test('is given back after five idle seconds, and again granted by another instance', async () => {
    const { first, second, stored, clock, allowed } = await open();
    await first.consume(day, 'a', 160);
    expect(stored('a')).toBe(10);
    await first.flush();
    expect(stored('a')).toBe(10);
    clock.advance(5 * SECOND);
    await first.flush();
    expect(stored('a')).toBe(1);
    expect(await allowed([second], 200, 160, day)).toBe(159);
  });

  test('is given back at a clean stop', async () => {
    const { first, stored } = await open();
    await first.consume(day, 'a', 160);
    expect(await first.flushAll(NO_DEADLINE)).toMatchObject({ count: 0 });
    expect(stored('a')).toBe(1);
  });

  test('of a brief window is not, which would be as many writes again', async () => {
    const { first, stored, clock, seen } = await open();
    await first.consume(brief, 'a', 160);
    clock.advance(10 * SECOND);
    const before = seen.writes;
    await first.flush();
    expect([stored('a'), seen.writes - before]).toEqual([10, 1]);
  });

  test('is forfeited where it may or may not have been given back', async () => {
    const { first, second, seen, allowed } = await open();
    await first.consume(day, 'a', 160);
    seen.isAway = true;
    expect((await first.flushAll(NO_DEADLINE)).count).toBe(1);
    seen.isAway = false;
    expect(await allowed([first, second], 300, 160, day)).toBe(150);
  });
});

describe('uses of all instances', () => {
  test('are shown without blocks of this one', async () => {
    const { db, first, second } = await open();
    for (let at = 0; at < 3; at += 1) await first.consume(day, 'a', 160);
    expect(await first.used(day, ['a', 'b'], db.reader)).toEqual(
      new Map([
        ['a', 3],
        ['b', 0],
      ]),
    ); // biome-ignore format: one line
    await first.flushAll(NO_DEADLINE);
    expect((await second.used(day, ['a'], db.reader)).get('a')).toBe(3);
  });

  test('are seen by a look of another within a second, without counting', async () => {
    const { first, second, clock } = await open();
    expect((await second.peek(minute, 'a', 2)).isAllowed).toBe(true);
    while ((await first.consume(minute, 'a', 2)).isAllowed);
    clock.advance(SECOND);
    expect((await second.peek(minute, 'a', 2)).isAllowed).toBe(false);
    expect((await first.peek(minute, 'b', 1)).isAllowed).toBe(true);
    expect((await first.consume(minute, 'b', 1)).isAllowed).toBe(true);
  });

  test('that are counted in the same turn are seen by a look after them', async () => {
    const { first } = await open();
    await first.peek(minute, 'a', 2);
    const wrong = [first.consume(minute, 'a', 2), first.consume(minute, 'a', 2)];
    expect((await first.peek(minute, 'a', 2)).isAllowed).toBe(false);
    expect((await Promise.all(wrong)).every(({ isAllowed }) => isAllowed)).toBe(true);
  });

  test('can be taken back in their window only', async () => {
    const { first, clock } = await open();
    const use = await first.consume(minute, 'a', 1);
    first.release(minute, 'a', use);
    const again = await first.consume(minute, 'a', 1);
    expect(again.isAllowed).toBe(true);
    clock.advance(MINUTE);
    expect((await first.consume(minute, 'a', 1)).isAllowed).toBe(true);
    first.release(minute, 'a', again);
    expect((await first.consume(minute, 'a', 1)).isAllowed).toBe(false);
  });
});
