/** Two instances on one database, each with leases of its own. The engine's part is the SQL of `store/work-leases.ts`. */
import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { adjustableClock, HOUR, SECOND, type WorldClock } from '@/core/clock.ts';
import { type BackgroundTask, beginTask, taskRunner } from '@/jobs/background-tasks.ts';
import { type Job, scheduler } from '@/jobs/scheduler.ts';
import { sharedLeases } from '@/jobs/work-leases.ts';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { AppError } from '@/core/error.ts';
import { applyPool } from '@/modules/seed/apply-pool.ts';
import { listLongWorks } from '@/store/long-works.ts';
import { openTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const log = pino({ level: 'silent' });

async function open() {
  const time = { now: 1_000_000 };
  const clock: WorldClock = { now: () => time.now, real: () => time.now };
  const { db, sqlite } = await openTestDatabase(adjustableClock());
  const leasesOf = (leaseHolder: string) => sharedLeases({ db, clock, leaseHolder, log });
  const held = () => sqlite.query('SELECT name, holder FROM work_leases ORDER BY name').all();
  return { db, time, first: leasesOf('one'), second: leasesOf('two'), held };
}

describe('a lease of work', () => {
  test('is held by one instance, which may renew it, and one lease keeps back no other', async () => {
    const { first, second } = await open();
    expect(await first.take(['a', 'b'])).toEqual(['a', 'b']);
    expect(await second.take(['a', 'b', 'c'])).toEqual(['c']);
    expect(await first.take(['a', 'c'])).toEqual(['a']);
  });

  test('of a killed instance is taken over half a minute later, and not before', async () => {
    const { first, second, time } = await open();
    await first.take(['a']);
    time.now += 30 * SECOND - 1;
    expect(await second.take(['a'])).toEqual([]);
    time.now += 1;
    expect(await second.take(['a'])).toEqual(['a']);
    expect(await first.take(['a'])).toEqual([]);
  });

  test('is free at once after its end, after a rest where one is asked for, and after a clean stop', async () => {
    const { first, second, time, held } = await open();
    await (await first.begin('a'))?.end();
    const lease = await second.begin('a');
    expect(lease).not.toBeNull();
    await lease?.end(5 * SECOND);
    expect(await first.begin('a')).toBeNull();
    time.now += 5 * SECOND;
    expect(await first.begin('a')).not.toBeNull();
    await first.releaseAll();
    expect(held()).toEqual([]);
  });
});

describe('an exclusive job', () => {
  const jobOf = (runs: string[], name: string, everyMs: number, work = async () => {}): Job => ({
    name: 'sweep',
    everyMs,
    isDueAtStart: true,
    isExclusive: true,
    async runOnce() {
      runs.push(name);
      await work();
    },
  });
  const start = (job: Job, leases: Awaited<ReturnType<typeof open>>['first']) => {
    const jobs = scheduler([job], { log, leases, isDatabaseDown: () => false });
    jobs.start();
    return jobs;
  };

  test('runs in one instance, and again only an interval later', async () => {
    const { first, second, time, held } = await open();
    const runs: string[] = [];
    const jobs = [start(jobOf(runs, 'one', HOUR), first), start(jobOf(runs, 'two', HOUR), second)];
    await eventually('one of them has run', () => runs.length === 1);
    await Promise.all(jobs.map((one) => one.stop()));
    expect(held()).toHaveLength(1);
    time.now += 0.8 * HOUR;
    await start(jobOf(runs, 'late', HOUR), runs[0] === 'one' ? second : first).stop();
    expect(runs).toHaveLength(1);
  });

  test('that failed may run in another instance at once', async () => {
    const { first, second } = await open();
    const runs: string[] = [];
    const broken = jobOf(runs, 'one', HOUR, async () => {
      throw new Error('broken');
    });
    await start(broken, first).stop();
    await start(jobOf(runs, 'two', HOUR), second).stop();
    expect(runs).toEqual(['one', 'two']);
  });

  test('runs where a test asks for every job, whoever holds its lease', async () => {
    const { first, second } = await open();
    const runs: string[] = [];
    await first.take(['job sweep']);
    await scheduler([jobOf(runs, 'two', HOUR)], { log, leases: second, isDatabaseDown: () => false }).runAll();
    expect(runs).toEqual(['two']);
  });
});

test('a background task runs in the instance that holds it, and in another one after that is killed', async () => {
  const { db, first, second, time } = await open();
  const writers: string[] = [];
  const task = (name: string): BackgroundTask<{ readonly count: number }> => ({
    name: 'count',
    async step(_, { cursor }) {
      writers.push(name);
      const done = Number(cursor) + 1;
      return { done: 1, cursor: String(done), isFinished: done >= 5 };
    },
  });
  await db.write(SYSTEM_ACTOR, (unit) => beginTask(unit, task('begin'), { applicationId: null, data: { count: 5 } }));
  const runner = (name: string, leases: typeof first) =>
    taskRunner({ db, log, leases, tasks: [task(name)] as BackgroundTask<never>[] });
  const [work] = await listLongWorks(db.reader);
  await first.take([`task ${work?.id}`]);
  await runner('two', second).runOnce();
  expect(writers).toEqual(['begin']);
  time.now += 30 * SECOND;
  await runner('two', second).runOnce();
  expect(writers).toEqual(['begin', 'two', 'two', 'two', 'two']);
  expect(await first.take([`task ${work?.id}`])).toHaveLength(1);
});

test('applies of one budget wait for those of another instance', async () => {
  const { first, second } = await open();
  const order: string[] = [];
  const going = Promise.withResolvers<void>();
  const slow = applyPool(first).run('budget', async () => {
    order.push('first begins');
    await going.promise;
    order.push('first ends');
  });
  await eventually('the first has begun', () => order.length === 1);
  const waiting = applyPool(second).run('budget', async () => void order.push('second'));
  const other = applyPool(second).run('other', async () => void order.push('other'));
  await other;
  going.resolve();
  await Promise.all([slow, waiting]);
  expect(order).toEqual(['first begins', 'other', 'first ends', 'second']);
  const broken = applyPool(first).run('budget', () => Promise.reject(new AppError('conflict')));
  await expect(broken).rejects.toMatchObject({ code: 'conflict' });
  await applyPool(second).run('budget', async () => {});
});
