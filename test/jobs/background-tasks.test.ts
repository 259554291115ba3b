import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { type Actor, SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import type { Unit } from '@/db/database.ts';
import { beginTask, FIRST_BATCH, type BackgroundTask, taskRunner, type RunningTask } from '@/jobs/background-tasks.ts';
import { workLeases } from '@/jobs/work-leases.ts';
import { insertApplication, type NewApplication } from '@/store/applications.ts';
import { recordAudit } from '@/store/audit.ts';
import { advanceLongWork, listLongWorks, findPendingWork } from '@/store/long-works.ts';
import { openTestDatabase } from '../support/database.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');
const ACTOR: Actor = { ...SYSTEM_ACTOR, type: 'user', userId: 'usr_1', requestId: 'req_1' };

const APPLICATION: NewApplication = {
  id: 'app_1',
  clientId: 'c',
  slug: 's',
  name: 'n',
  stage: 'live',
  signinGate: 'public',
  betaRequestPolicy: 'manual',
  sessionTtlSeconds: 300,
  returnUrls: [],
  createdAt: NOW,
  updatedAt: NOW,
};

interface Rows {
  readonly count: number;
}

/** A task that writes numbered audit records, which a test can hold up or break. */
function counting(name: string, onBatch: (from: number) => void = () => {}): BackgroundTask<Rows> {
  return {
    name,
    async step(unit: Unit, { data, cursor }: RunningTask<Rows>, limit) {
      const from = Number(cursor ?? 0);
      onBatch(from);
      const to = Math.min(from + limit, data.count);
      for (let index = from; index < to; index += 1)
        await recordAudit(unit, { kind: 'workspace.created', targetId: `${name}-${index}` });
      return { done: to - from, cursor: String(to), isFinished: to === data.count };
    },
    count: async (_, { data, cursor }) => data.count - Number(cursor ?? 0),
  };
}

async function open() {
  const { db, sqlite } = await openTestDatabase({ now: () => NOW });
  await db.write(ACTOR, (unit) => insertApplication(unit, APPLICATION));
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const targets = () => sqlite.query('SELECT target_id FROM audit_records ORDER BY rowid').values().flat() as string[];
  const begin = (kind: BackgroundTask<Rows>, count: number) =>
    db.write(ACTOR, (unit) => beginTask(unit, kind, { applicationId: 'app_1', data: { count } }));
  const leases = workLeases({ db, clock: systemClock, leaseHolder: 'instance', log });
  const runner = (...tasks: BackgroundTask<Rows>[]) =>
    taskRunner({ db, log, leases, tasks: tasks as BackgroundTask<never>[] });
  const pending = async () => (await findPendingWork(db.reader, ['app_1'])).get('app_1');
  return { db, sqlite, lines, targets, begin, runner, pending };
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('a background task', () => {
  test('that is short is done with the state change and leaves nothing behind', async () => {
    const { begin, targets, pending } = await open();
    expect(await begin(counting('short'), FIRST_BATCH)).toBe(FIRST_BATCH);
    expect(targets()).toEqual(numbered('short', FIRST_BATCH));
    expect(await pending()).toBeUndefined();
  });

  test('starts at once, is written to its end row by row, and logged', async () => {
    const { begin, targets, runner, pending, lines } = await open();
    const kind = counting('long');
    const works = runner(kind);
    expect(await begin(kind, 5000)).toBe(FIRST_BATCH);
    await works.runOnce();
    expect(targets()).toEqual(numbered('long', 5000));
    expect(await pending()).toBeUndefined();
    expect(lines.at(-1)).toMatchObject({ msg: 'background task finished', kind: 'long', applicationId: 'app_1' });
  });

  test('writes nothing that it found before another instance took it over', async () => {
    const { db, begin, targets, runner } = await open();
    let isTaken = false;
    const kind: BackgroundTask<Rows> = {
      ...counting('found'),
      async find() {
        if (isTaken) return;
        isTaken = true;
        const [run] = await listLongWorks(db.reader);
        await db.write(ACTOR, (unit) => advanceLongWork(unit, run!.id, { cursor: '290', done: 290 }));
      },
    };
    await begin(kind, 300);
    const works = runner(kind);
    await works.runOnce();
    await works.runOnce();
    expect(targets()).toEqual([...numbered('found', FIRST_BATCH), ...numbered('found', 300).slice(290)]);
  });

  test('shows how far it is', async () => {
    const { begin, pending, runner } = await open();
    let seen: unknown;
    const kind = counting('long', (from) => {
      if (from >= 200 && seen === undefined) seen = pending();
    });
    await begin(kind, 3000);
    expect(await pending()).toEqual({ kind: 'long', done: FIRST_BATCH, total: null });
    await runner(kind).runOnce();
    expect(await seen).toMatchObject({ kind: 'long', total: 3000 });
  });

  test('keeps the actor of the state change after it is resumed', async () => {
    const { begin, runner, sqlite } = await open();
    const kind = counting('long');
    await begin(kind, 300);
    await runner(kind).runOnce();
    expect(sqlite.query('SELECT DISTINCT actor_user_id AS id, request_id AS request FROM audit_records').all()).toEqual(
      [{ id: 'usr_1', request: 'req_1' }],
    );
  });

  test('that is interrupted resumes where it stopped: nothing is left out, nothing done twice', async () => {
    const { begin, targets, runner, pending } = await open();
    const first = runner(
      counting('long', (from) => {
        if (from >= 1000) void first.stop();
      }),
    );
    await begin(counting('long'), 5000);
    await first.runOnce();
    const { done } = (await pending())!;
    expect(done).toBeGreaterThanOrEqual(1000);
    expect(done).toBeLessThan(5000);
    await runner(counting('long')).runOnce();
    expect(targets()).toEqual(numbered('long', 5000));
  });

  test('keeps its position when a batch fails, and is tried again', async () => {
    const { begin, targets, runner, pending, lines } = await open();
    let isBroken = true;
    const kind = counting('long', (from) => {
      if (from >= 300 && isBroken) throw new Error('disk full');
    });
    const works = runner(kind);
    await begin(kind, 1000);
    await works.runOnce();
    expect((await pending())!.done).toBeLessThan(1000);
    expect(lines.some(({ level, msg }) => level === 50 && String(msg).includes('will be tried again'))).toBe(true);
    isBroken = false;
    await works.runOnce();
    expect(targets()).toEqual(numbered('long', 1000));
  });

  test('runs in turn: a long task does not delay a short one', async () => {
    const { begin, targets, runner } = await open();
    const kinds = [counting('long'), counting('short')] as const;
    await begin(kinds[0], 5000);
    await begin(kinds[1], 300);
    await runner(...kinds).runOnce();
    const done = targets();
    expect(done.lastIndexOf('short-299')).toBeLessThan(done.lastIndexOf('long-4999'));
    expect(done).toHaveLength(5300);
  });

  test('lets other changes in between its batches', async () => {
    const { db, begin, runner, targets } = await open();
    const kind = counting('long');
    const works = runner(kind);
    await begin(kind, 5000);
    await new Promise((resolve) => setImmediate(resolve));
    await db.write(SYSTEM_ACTOR, (unit) => recordAudit(unit, { kind: 'workspace.created', targetId: 'mine' }));
    await works.runOnce();
    expect(targets().indexOf('mine')).toBeLessThan(4000);
  });
});
