import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { AppError } from '@/core/error.ts';
import { type Job, scheduler, type SchedulerDependencies } from '@/jobs/scheduler.ts';
import { eventually } from '../support/eventually.ts';

const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });

/** Leases as the only instance has them. */
const alone: SchedulerDependencies = {
  log,
  leases: { begin: async () => ({ end: async () => {} }) },
  isDatabaseDown: () => false,
};

/** Creates a job that counts its runs and its concurrent runs. */
function watched(name: string, everyMs: number, work: () => unknown = () => {}) {
  const state = { runs: 0, atOnce: 0, mostAtOnce: 0 };
  const job: Job = {
    name,
    everyMs,
    async runOnce() {
      state.runs += 1;
      state.atOnce += 1;
      state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce);
      try {
        await work();
      } finally {
        state.atOnce -= 1;
      }
    },
  };
  return { job, state };
}

const HOUR = 3_600_000;

describe('the scheduler', () => {
  test('runs each job at its own interval, and not before start', async () => {
    const [fast, slow] = [watched('fast', 5), watched('slow', HOUR)];
    const jobs = scheduler([fast.job, slow.job], alone);
    await Bun.sleep(20);
    expect(fast.state.runs).toBe(0);
    jobs.start();
    await eventually('the fast one has run a few times', () => fast.state.runs >= 3);
    expect(slow.state.runs).toBe(0);
    await jobs.stop();
  });

  test('runs a job that is due at the start once, and then at its interval', async () => {
    const { job, state } = watched('resumed', HOUR);
    const jobs = scheduler([{ ...job, isDueAtStart: true }, watched('other', HOUR).job], alone);
    jobs.start();
    await eventually('it has run', () => state.runs === 1);
    await jobs.stop();
  });

  test('logs an outage of the database once, without a stack, for any number of failing jobs', async () => {
    lines.length = 0;
    let isDown = true;
    const refused = () => {
      if (isDown) throw new AppError('unavailable', { hint: 'disk_refuses_writes', cause: new Error('full') });
    };
    const [one, two, idle] = [watched('one', HOUR, refused), watched('two', HOUR, refused), watched('idle', HOUR)];
    const jobs = scheduler([one.job, two.job, idle.job], { ...alone, isDatabaseDown: () => isDown });
    const said = () => lines.map((line) => JSON.parse(line) as { level: number; job: string; err?: unknown });
    for (let round = 0; round < 3; round += 1) await jobs.runAll();
    expect(said()).toEqual([expect.objectContaining({ level: 50, job: 'one' })]);
    expect(said()[0]).not.toHaveProperty('err');
    // The next outage is logged again.
    isDown = false;
    await jobs.runAll();
    isDown = true;
    await jobs.runAll();
    expect(said().map(({ job }) => job)).toEqual(['one', 'one']);
  });

  test('never runs a job concurrently with itself, even when it takes longer than its interval', async () => {
    const { job, state } = watched('long', 2, () => Bun.sleep(15));
    const jobs = scheduler([job], alone);
    jobs.start();
    await Promise.all([jobs.runAll(), jobs.runAll(), Bun.sleep(20).then(() => jobs.runAll())]);
    await eventually('it has run a few times', () => state.runs >= 4);
    await jobs.stop();
    expect(state.mostAtOnce).toBe(1);
  });

  test('runs other jobs while a long one runs', async () => {
    const gate = Promise.withResolvers<void>();
    const [long, short] = [watched('long', 2, () => gate.promise), watched('short', 2)];
    const jobs = scheduler([long.job, short.job], alone);
    jobs.start();
    await eventually('the short one goes on', () => long.state.atOnce === 1 && short.state.runs > 5);
    gate.resolve();
    await jobs.stop();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('at once');
      },
    ],
    ['rejects', () => Promise.reject(new Error('later'))],
  ])('continues after a job that %s, logs its name, and runs it again', async (_, fail) => {
    lines.length = 0;
    let runs = 0;
    const broken: Job = { name: 'broken', everyMs: 5, runOnce: () => ((runs += 1), fail()) };
    const sound = watched('sound', 5);
    const jobs = scheduler([broken, sound.job], alone);
    jobs.start();
    await eventually('both go on', () => runs >= 3 && sound.state.runs >= 3);
    await jobs.runAll();
    await jobs.stop();
    const logged = lines.map((line) => JSON.parse(line) as { level: number; job: string; err: { message: string } });
    expect(logged.length).toBeGreaterThanOrEqual(3);
    for (const { level, job, err } of logged)
      expect([level, job, err.message]).toEqual([50, 'broken', expect.stringMatching(/^(at once|later)$/)]);
  });

  test('runs all jobs one after another in runAll, which returns when they are done', async () => {
    const order: string[] = [];
    const step = (name: string) =>
      watched(name, HOUR, async () => {
        order.push(`${name} begins`);
        await Bun.sleep(3);
        order.push(`${name} ends`);
      }).job;
    await scheduler([step('a'), step('b')], alone).runAll();
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test('runs a job again in runAll while an earlier run is active, so that recent work is included', async () => {
    let due = 0;
    const done: number[] = [];
    const jobs = scheduler(
      [
        watched('due', HOUR, async () => {
          const seen = due;
          await Bun.sleep(5);
          done.push(seen);
        }).job,
      ],
      alone,
    );
    const first = jobs.runAll();
    due = 1;
    await jobs.runAll();
    await first;
    expect(done).toContain(1);
  });

  test('waits for running jobs on stop, and starts no more', async () => {
    const gate = Promise.withResolvers<void>();
    const { job, state } = watched('long', 2, () => gate.promise);
    const other = watched('other', 2);
    const jobs = scheduler([job, other.job], alone);
    jobs.start();
    await eventually('it is under way', () => state.atOnce === 1);
    let hasStopped = false;
    const stopping = jobs.stop().then(() => void (hasStopped = true));
    await Bun.sleep(10);
    expect(hasStopped).toBe(false);
    const { runs } = other.state;
    gate.resolve();
    await stopping;
    await Bun.sleep(10);
    expect([state.runs, state.atOnce, other.state.runs]).toEqual([1, 0, runs]);
  });
});
