/** Streams where rows become visible later than rows with higher ids, and where news is lost. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { SECOND } from '@/core/clock.ts';
import { firstIdAt, newId, timeOfId } from '@/core/id.ts';
import { emit } from '@/events/emit.ts';
import { activityStreams } from '@/modules/activity/streams.ts';
import { eventStreams } from '@/modules/webhooks/event-streams.ts';
import { recordAudit, AUDIT_NOTICED } from '@/store/audit.ts';
import { EVENT_NOTICED } from '@/store/events.ts';
import { createInstance, START } from '../support/instance.ts';
import { follow } from '../modules/live/listen.ts';

const LATE_MS = 15 * SECOND;

/** Writes a row of each value in one change. Values count on, so that a stream shows which it has sent. */
type Write = (values: number | readonly number[], isOther?: boolean) => Promise<void>;

interface Kind {
  readonly open: (after?: string | null) => ReturnType<typeof follow>;
  readonly write: Write;
  readonly poll: () => Promise<void>;
  readonly values: (stream: ReturnType<typeof follow>) => Promise<number[]>;
}

async function setUp(hasNews: boolean) {
  const now = { at: START };
  const clock = { now: () => now.at };
  const instance = await createInstance({ time: clock });
  const { db } = instance;
  const [shop, other] = [await instance.createApplication(), await instance.createApplication({ name: 'Other' })];
  const caller = {
    budgetId: 'usr_maker',
    userId: 'usr_1',
    credentialId: 'ses_1',
    confirm: async () => ({ maySeeNames: true }),
  };
  const activity = activityStreams(db.reader, clock, LATE_MS);
  const events = eventStreams({ reader: db.reader, clock, lateMs: LATE_MS });
  if (hasNews) {
    db.onCommit(AUDIT_NOTICED, activity.hear);
    db.onCommit(EVENT_NOTICED, events.hear);
  }
  const kinds: Record<'activity' | 'events', Kind> = {
    activity: {
      open: (after = null) =>
        follow(new Response(activity.open({ ...caller, workspaceId: 'wsp_1', applicationId: null, after }))),
      write: (values, isOther = false) =>
        db.write(SYSTEM_ACTOR, async (unit) => {
          const workspaceId = isOther ? 'wsp_2' : 'wsp_1';
          for (const value of [values].flat())
            await recordAudit(unit, { kind: 'role.created', workspaceId, detail: { value } });
        }),
      poll: activity.poll,
      values: async (stream) =>
        (await stream.told()).flatMap(({ event, data }) => (event === 'activity' ? [data.detail.value as number] : [])),
    },
    events: {
      open: (after = null) => follow(new Response(events.open({ ...caller, applicationId: shop.id, after }))),
      write: (values, isOther = false) =>
        db.write(SYSTEM_ACTOR, async (unit) => {
          const applicationId = (isOther ? other : shop).id;
          for (const value of [values].flat())
            await emit(unit, { type: 'user.banned', applicationId, data: { userId: 'usr_1', reason: `${value}` } });
        }),
      poll: events.poll,
      values: async (stream) =>
        (await stream.told()).flatMap(({ event, data }) => (event === 'event' ? [Number(data.data.reason)] : [])),
    },
  };
  /** Writes a row whose id is of an earlier time, as a transaction does that began before others and commits last. */
  async function writeLate(write: Write, value: number, ms: number): Promise<void> {
    now.at -= ms;
    await write(value);
    now.at += ms;
  }
  return { now, kinds, writeLate };
}

describe.each(['activity', 'events'] as const)('a stream of %s', (name) => {
  test('sends a row that commits behind rows with later ids, once', async () => {
    const { now, kinds, writeLate } = await setUp(true);
    const { open, write, poll, values } = kinds[name];
    const stream = open();
    await values(stream);
    now.at += SECOND;
    await write(1);
    expect(await values(stream)).toEqual([1]);
    await writeLate(write, 2, 500);
    await writeLate(write, 3, 14 * SECOND);
    expect((await values(stream)).sort()).toEqual([2, 3]);
    await write(4);
    await poll();
    now.at += 5 * SECOND;
    await poll();
    expect(await values(stream)).toEqual([4]);
    expect(stream.text()).not.toContain('event: reload');
  });

  test('finds by its poll what no news told it, late or not', async () => {
    const { now, kinds, writeLate } = await setUp(false);
    const { open, write, poll, values } = kinds[name];
    const stream = open();
    await values(stream);
    now.at += SECOND;
    await write(1);
    await write(2, true);
    expect(await values(stream)).toEqual([]);
    await poll();
    expect(await values(stream)).toEqual([1]);
    now.at += 2 * SECOND;
    await writeLate(write, 3, 2500);
    await write(4);
    await poll();
    await poll();
    expect((await values(stream)).sort()).toEqual([3, 4]);
    now.at += 60 * SECOND;
    await writeLate(write, 5, 14 * SECOND);
    await poll();
    expect(await values(stream)).toEqual([5]);
  });

  test('begins with nothing from before, though it may have been committed just now', async () => {
    const { now, kinds, writeLate } = await setUp(false);
    const { open, write, poll, values } = kinds[name];
    for (const value of [1, 2, 3]) await write(value);
    now.at += SECOND;
    const stream = open();
    expect(await values(stream)).toEqual([]);
    await poll();
    expect(await values(stream)).toEqual([]);
    await writeLate(write, 4, 5 * SECOND);
    await poll();
    expect(await values(stream)).toEqual([4]);
  });

  test('repeats the last seconds when it is resumed, rather than lose what came late', async () => {
    const { now, kinds, writeLate } = await setUp(true);
    const { open, write, values } = kinds[name];
    const first = open();
    await values(first);
    await write(1);
    now.at += 20 * SECOND;
    await write(2);
    now.at += SECOND;
    await write(3);
    expect(await values(first)).toEqual([1, 2, 3]);
    await first.leave();
    const [last = ''] = [...first.text().matchAll(/^id: (\w+)$/gm)].map(([, id]) => id).slice(-1);
    await writeLate(write, 4, 10 * SECOND);
    expect(await values(open(last))).toEqual([4, 2, 3]);
  });

  test('of more rows than it remembers is not lost: it runs behind until they can no longer come late', async () => {
    const { now, kinds, writeLate } = await setUp(true);
    const { open, write, poll, values } = kinds[name];
    const stream = open();
    await values(stream);
    const written = Array.from({ length: 3300 }, (_, at) => at);
    const sent: number[] = [];
    for (let from = 0; from < written.length; from += 300) {
      await write(written.slice(from, from + 300));
      sent.push(...(await values(stream)));
    }
    expect(sent.length).toBeLessThan(3300);
    now.at += 20 * SECOND;
    await poll();
    await writeLate(write, 9999, 14 * SECOND);
    sent.push(...(await values(stream)));
    for (let more = await values(stream); more.length > 0; more = await values(stream)) sent.push(...more);
    expect(sent.sort((a, b) => a - b)).toEqual([...written, 9999]);
  });
});

test('an id tells its time, and the first id of a time precedes all others of it', () => {
  for (const now of [0, START, START + 1, 2 ** 47]) {
    const id = newId('event', now);
    expect([timeOfId(id), firstIdAt('event', now) < id, id < firstIdAt('event', now + 1)]).toEqual([now, true, true]);
  }
});
