import { describe, expect, test } from 'bun:test';
import { type AdjustableClock, adjustableClock, DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { NO_DEADLINE } from '@/core/deadline.ts';
import type { Bucket } from '@/http/limits.ts';
import { type CountingLimiter, countingLimiter } from '@/http/counting-limiter.ts';
import { announceLimit, tightest } from '@/http/rate-limit.ts';
import { openTestDatabase } from '../support/database.ts';

const NOON = Date.parse('2026-03-02T12:00:00.000Z');
const minute: Bucket = { name: 'minute', windowMs: MINUTE };
const day: Bucket = { name: 'day', windowMs: DAY };

async function open(clock: AdjustableClock = adjustableClock({ now: () => NOON })) {
  const { db, sqlite } = await openTestDatabase(clock);
  const rows = () =>
    sqlite
      .query(
        'SELECT bucket, subject, window_started_at AS startedAt, window_ends_at AS endsAt, count FROM rate_counters',
      )
      .all();
  const restarted = async () => {
    const limiter = countingLimiter({ db, clock });
    await limiter.load();
    return limiter;
  };
  return { db, clock, sqlite, rows, limiter: countingLimiter({ db, clock }), restarted };
}

const usesOf = (limiter: CountingLimiter, bucket: Bucket, subject: string) =>
  limiter.used(bucket, [subject]).get(subject) ?? 0;

describe('a rate limit', () => {
  test('allows the given number of uses and announces the rest', async () => {
    const { limiter } = await open();
    const states = Array.from({ length: 4 }, () => limiter.consume(minute, 'a', 3));
    expect(states.map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(states.every(({ limit, resetSeconds }) => limit === 3 && resetSeconds === 60)).toBe(true);
  });

  test('counts per minute of the clock, not from the first use', async () => {
    const { limiter, clock } = await open();
    clock.advance(59 * SECOND);
    expect(limiter.consume(minute, 'a', 1)).toMatchObject({ isAllowed: true, resetSeconds: 1 });
    clock.advance(999);
    expect(limiter.consume(minute, 'a', 1)).toMatchObject({ isAllowed: false, resetSeconds: 1 });
    clock.advance(1);
    expect(limiter.consume(minute, 'a', 1)).toMatchObject({ isAllowed: true, resetSeconds: 60 });
  });

  test('counts per UTC day', async () => {
    const { limiter, clock } = await open();
    expect(limiter.consume(day, 'a', 1)).toMatchObject({ isAllowed: true, resetSeconds: (12 * HOUR) / SECOND });
    clock.advance(12 * HOUR - 1);
    expect(limiter.consume(day, 'a', 1)).toMatchObject({ isAllowed: false, resetSeconds: 1 });
    clock.advance(1);
    expect(limiter.consume(day, 'a', 1)).toMatchObject({ isAllowed: true, resetSeconds: DAY / SECOND });
  });

  test('does not count refused uses, so that a raised limit applies at once', async () => {
    const { limiter } = await open();
    for (let use = 0; use < 10; use += 1) limiter.consume(minute, 'a', 2);
    expect(limiter.consume(minute, 'a', 3)).toMatchObject({ isAllowed: true, remaining: 0 });
  });

  test('has zero remaining, never less, once it is lowered below the count', async () => {
    const { limiter } = await open();
    for (let use = 0; use < 5; use += 1) limiter.consume(minute, 'a', 5);
    expect(limiter.consume(minute, 'a', 2)).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  test('counts separately for each subject and bucket', async () => {
    const { limiter } = await open();
    limiter.consume(minute, 'a', 1);
    expect(limiter.consume(minute, 'a', 1).isAllowed).toBe(false);
    expect(limiter.consume(minute, 'b', 1).isAllowed).toBe(true);
    expect(limiter.consume(day, 'a', 1).isAllowed).toBe(true);
    expect(limiter.consume(minute, '__proto__', 1).isAllowed).toBe(true);
  });

  test('can be read without counting', async () => {
    const { limiter } = await open();
    for (let look = 0; look < 5; look += 1)
      expect(limiter.peek(minute, 'a', 1)).toMatchObject({ isAllowed: true, limit: 1, remaining: 1, resetSeconds: 60 });
    limiter.consume(minute, 'a', 1);
    expect(limiter.peek(minute, 'a', 1)).toMatchObject({ isAllowed: false, remaining: 0 });
  });
});

describe('rate-limit counters', () => {
  test('survive a restart once they are flushed', async () => {
    const { limiter, restarted, clock } = await open();
    for (let use = 0; use < 3; use += 1) limiter.consume(minute, 'a', 3);
    limiter.consume(day, 'a', 2);
    await limiter.flush();
    clock.advance(59 * SECOND);
    const second = await restarted();
    expect(second.consume(minute, 'a', 3).isAllowed).toBe(false);
    expect(second.consume(day, 'a', 2)).toMatchObject({ isAllowed: true, remaining: 0 });
    await second.flush();
    expect((await restarted()).consume(day, 'a', 2).isAllowed).toBe(false);
  });

  test('are written with their window, and only when flushed', async () => {
    const { limiter, rows, clock } = await open();
    clock.advance(20 * SECOND);
    limiter.consume(minute, 'a', 5);
    limiter.consume(minute, 'a', 5);
    expect(rows()).toEqual([]);
    await limiter.flush();
    expect(rows()).toEqual([{ bucket: 'minute', subject: 'a', startedAt: NOON, endsAt: NOON + MINUTE, count: 2 }]);
    limiter.consume(minute, 'a', 5);
    await limiter.flush();
    expect(rows()).toEqual([{ bucket: 'minute', subject: 'a', startedAt: NOON, endsAt: NOON + MINUTE, count: 3 }]);
  });

  test('of brief windows are written only at a clean stop', async () => {
    const { limiter, restarted, rows } = await open();
    const brief: Bucket = { name: 'brief', windowMs: MINUTE, isBrief: true };
    limiter.consume(brief, 'a', 1);
    await limiter.flush();
    expect(rows()).toEqual([]);
    await limiter.flushAll(NO_DEADLINE);
    expect((await restarted()).consume(brief, 'a', 1).isAllowed).toBe(false);
  });

  test('of ended windows are not loaded after a restart, and are deleted by a flush', async () => {
    const { limiter, restarted, rows, clock } = await open();
    limiter.consume(minute, 'a', 1);
    limiter.consume(day, 'a', 5);
    await limiter.flush();
    clock.advance(MINUTE);
    expect((await restarted()).consume(minute, 'a', 1).isAllowed).toBe(true);
    await limiter.flush();
    expect(rows()).toEqual([
      { bucket: 'day', subject: 'a', startedAt: NOON - 12 * HOUR, endsAt: NOON + 12 * HOUR, count: 1 },
    ]);
  });

  test('of a window that ended before its flush do not affect the next one', async () => {
    const { limiter, restarted, clock } = await open();
    for (let use = 0; use < 3; use += 1) limiter.consume(minute, 'a', 3);
    clock.advance(MINUTE);
    limiter.consume(minute, 'a', 3);
    await limiter.flush();
    expect((await restarted()).consume(minute, 'a', 3)).toMatchObject({ isAllowed: true, remaining: 1 });
  });

  test('beyond one batch are all flushed, and all deleted in the end', async () => {
    const { limiter, rows, clock } = await open();
    for (let subject = 0; subject < 1000; subject += 1) limiter.consume(minute, `s${subject}`, 5);
    await limiter.flush();
    expect(rows()).toHaveLength(1000);
    clock.advance(MINUTE);
    for (let turn = 0; turn < 4; turn += 1) await limiter.flush();
    expect(rows()).toEqual([]);
  });
});

describe('a flood of invented subjects', () => {
  const MOST = 200_000;
  const flood = (limiter: CountingLimiter, bucket: Bucket, count: number, limit: number, name = 'flood') => {
    for (let at = 0; at < count; at += 1) limiter.consume(bucket, `${name}${at}`, limit);
  };

  test('does not evict subjects that have reached the limit or used much of it', async () => {
    const { limiter } = await open();
    for (let use = 0; use < 5; use += 1) limiter.consume(minute, 'spent', 5);
    for (let use = 0; use < 4; use += 1) limiter.consume(minute, 'busy', 5);
    limiter.consume(minute, 'idle', 5);
    flood(limiter, minute, MOST + 1000, 5);
    expect(limiter.peek(minute, 'spent', 5).isAllowed).toBe(false);
    expect(usesOf(limiter, minute, 'busy')).toBe(4);
    expect(usesOf(limiter, minute, 'idle')).toBe(0);
  });

  test('that uses up the limit of each subject evicts the oldest of them, and not the recent ones', async () => {
    const { limiter } = await open();
    flood(limiter, minute, MOST, 1);
    expect(limiter.peek(minute, 'flood0', 1).isAllowed).toBe(false);
    limiter.consume(minute, 'one more', 1);
    expect(limiter.peek(minute, 'flood0', 1).isAllowed).toBe(true);
    expect(limiter.peek(minute, `flood${MOST - 1}`, 1).isAllowed).toBe(false);
    expect(limiter.peek(minute, 'one more', 1).isAllowed).toBe(false);
  });

  test('does not evict a subject that has reached a lower limit of its own', async () => {
    const { limiter } = await open();
    for (let use = 0; use < 2; use += 1) limiter.consume(minute, 'small', 2);
    for (let round = 0; round < 4; round += 1) flood(limiter, minute, MOST / 2, 100);
    flood(limiter, minute, MOST, 100, 'idle');
    expect(limiter.peek(minute, 'small', 2).isAllowed).toBe(false);
    expect(usesOf(limiter, minute, 'flood0')).toBe(4);
  });

  test('across several limits is bounded in total, and evicts from the largest limit', async () => {
    const { limiter } = await open();
    const bucket = (at: number): Bucket => ({ name: `limit ${at}`, windowMs: MINUTE });
    limiter.consume(bucket(9), 'somebody', 5);
    for (let at = 0; at < 4; at += 1) flood(limiter, bucket(at), 150_000, 5);
    const kept = [0, 1, 2, 3].map((at) => {
      let number = 0;
      for (let subject = 0; subject < 150_000; subject += 1) number += usesOf(limiter, bucket(at), `flood${subject}`);
      return number;
    });
    const all = kept.reduce((sum, number) => sum + number, 0);
    expect(all).toBeGreaterThan(490_000);
    expect(all).toBeLessThan(500_000);
    expect(usesOf(limiter, bucket(9), 'somebody')).toBe(1);
  });

  test('is dropped quickly with its window, at any size', async () => {
    const { limiter, clock, rows } = await open();
    const brief: Bucket = { name: 'brief', windowMs: MINUTE, isBrief: true };
    flood(limiter, brief, MOST, 5);
    clock.advance(MINUTE);
    const began = performance.now();
    limiter.consume(brief, 'new', 5);
    await limiter.flush();
    expect(performance.now() - began).toBeLessThan(1000);
    expect(usesOf(limiter, brief, 'flood1')).toBe(0);
    await limiter.flushAll(NO_DEADLINE);
    expect(rows()).toHaveLength(1);
  });

  test('keeps counters in memory while the disk refuses writes, and writes them afterwards', async () => {
    const { limiter, rows, sqlite, restarted } = await open();
    sqlite.run("CREATE TRIGGER is_full BEFORE INSERT ON rate_counters BEGIN SELECT raise(FAIL, 'full'); END");
    for (let use = 0; use < 3; use += 1) limiter.consume(day, 'spent', 3);
    flood(limiter, day, 1000, 3);
    await expect(limiter.flush()).rejects.toThrow();
    sqlite.run('DROP TRIGGER is_full');
    await limiter.flush();
    expect(rows()).toHaveLength(1001);
    expect((await restarted()).consume(day, 'spent', 3).isAllowed).toBe(false);
  });

  test('is loaded after a restart from the subjects that used most', async () => {
    const { sqlite, restarted } = await open();
    sqlite.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MOST + 1000})
       INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) SELECT 'minute', 's' || i, ${NOON}, ${NOON + MINUTE}, CASE WHEN i > ${MOST} THEN 5 ELSE 1 END FROM n`,
    );
    const limiter = await restarted();
    expect(limiter.peek(minute, `s${MOST + 1000}`, 5).isAllowed).toBe(false);
    flood(limiter, minute, 1000, 5);
    expect(limiter.peek(minute, `s${MOST + 1}`, 5).isAllowed).toBe(false);
  });
});

test('the tightest of several limits is announced', async () => {
  const headers: Record<string, string> = {};
  const state = { isAllowed: true, limit: 60, remaining: 5, resetSeconds: 60 };
  announceLimit(headers, tightest(state, { ...state, limit: 10_000, remaining: 4, resetSeconds: 3600 }));
  expect(headers).toEqual({ 'RateLimit-Limit': '10000', 'RateLimit-Remaining': '4', 'RateLimit-Reset': '3600' });
});
