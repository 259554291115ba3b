/** Streams of two instances on one PostgreSQL database: each shows what the other commits, with news and without. */
import { afterEach, describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { adjustableClock, SECOND } from '@/core/clock.ts';
import { deadlineIn } from '@/core/deadline.ts';
import { mintSecret } from '@/core/secret.ts';
import { systemRandom } from '@/core/random.ts';
import { openPostgresEngine } from '@/db/postgres/engine.ts';
import { emit } from '@/events/emit.ts';
import { recordAudit } from '@/store/audit.ts';
import { eventually } from '../../support/eventually.ts';
import { openInstance, START, type Instance } from '../../support/instance.ts';
import { dropPostgresDatabase, freshPostgresDatabase } from '../../support/postgres.ts';
import { openRows } from '../../support/postgres-rows.ts';
import { makeRoomy } from '../../support/roomy-key.ts';
import { follow, type Listening, listen, type Message } from './listen.ts';

const LANES = { lookups: 1, reads: 1, longReads: 1, changes: 4 };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp({ hasNews = true } = {}) {
  const url = await freshPostgresDatabase();
  const sqlite = openRows(url);
  closing.push(
    () => dropPostgresDatabase(url),
    () => sqlite.close(),
  );
  const clock = adjustableClock({ now: () => START });
  const [secret, workspaceKey] = [systemRandom.bytes(32), mintSecret('apiKey', systemRandom)];
  async function instance(): Promise<Instance> {
    const db = await openPostgresEngine({
      urls: [url],
      tls: undefined,
      isBouncer: false,
      lanes: LANES,
      clock,
      random: systemRandom,
    });
    closing.push(() => db.close(deadlineIn(SECOND)));
    // Without its listeners an instance gets no news, as where the connection is lost.
    const heard = hasNews ? db : { ...db, onCommit() {}, onNewsMissed() {} };
    return openInstance({}, { db: heard, sqlite: sqlite as never }, clock, secret, workspaceKey);
  }
  const [a, b] = [await instance(), await instance()];
  await makeRoomy(a.db, workspaceKey);
  const shop = await a.createApplication();
  const ada = await a.signIn(shop.clientId, 'ada@example.com');
  const manage = async (method: string, path: string, body?: unknown) => {
    const answer = await a.call(method, `/api/applications/${shop.id}${path}`, { token: workspaceKey, body });
    expect(answer.status).toBe(200);
    return answer.json.data;
  };
  return { a, b, clock, shop, ada, manage, url, workspaceKey };
}

/** Messages of a stream, as they come. */
async function gets(stream: Listening, what: string, poll: () => unknown = () => {}): Promise<Message[]> {
  const got: Message[] = [];
  await eventually(what, async () => {
    await poll();
    got.push(...(await stream.told()));
    return got.some(({ event }) => event === what);
  });
  return got;
}

const open = async ({ app, workspaceKey }: Instance, path: string) =>
  follow(
    await app.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${workspaceKey}` } })),
  );

describe('with news, an instance shows what another one commits:', () => {
  test('the roles of a session', async () => {
    const { b, ada, manage } = await setUp();
    const stream = await listen(b, ada.token);
    await gets(stream, 'session');
    await manage('PUT', `/users/${ada.userId}/roles`, { slugs: ['developer', 'user'] });
    const got = await gets(stream, 'roles');
    expect(got.at(-1)?.data).toEqual({ roles: ['developer', 'user'] });
  });

  test('a ban, with which the stream ends', async () => {
    const { b, ada, manage } = await setUp();
    const stream = await listen(b, ada.token);
    await gets(stream, 'session');
    await manage('POST', `/users/${ada.userId}/ban`);
    expect(await gets(stream, 'revoked')).toEqual([{ event: 'revoked', data: { reason: 'banned' } }]);
    await eventually('it is closed', stream.isClosed);
  });

  test('the end of a key', async () => {
    const { a, b, shop, manage } = await setUp();
    const key = await a.createKey(shop.id);
    const stream = await listen(b, key.token);
    await gets(stream, 'session');
    await manage('DELETE', `/api-keys/${key.id}`);
    expect(await gets(stream, 'revoked')).toEqual([{ event: 'revoked', data: { reason: 'key_ended' } }]);
  });

  test('activity and events', async () => {
    const { b, shop, manage, ada } = await setUp();
    const activity = await open(b, `/api/applications/${shop.id}/activity/events`);
    const events = await open(b, `/api/applications/${shop.id}/webhooks/events`);
    await Promise.all([gets(activity, 'ready'), gets(events, 'ready')]);
    await manage('POST', `/users/${ada.userId}/ban`);
    const [recorded, emitted] = await Promise.all([gets(activity, 'activity'), gets(events, 'event')]);
    expect(recorded.map(({ data }) => data.kind)).toContain('user.banned');
    expect(emitted.map(({ data }) => data.type)).toContain('user.banned');
  });
});

describe('without news, the poll of an instance finds', () => {
  test('the roles of a session, and a ban', async () => {
    const { b, ada, manage } = await setUp({ hasNews: false });
    const stream = await listen(b, ada.token);
    await gets(stream, 'session');
    // The poll finds the sign-in itself, which changes nothing.
    await b.services.scheduler.runAll();
    await manage('PUT', `/users/${ada.userId}/roles`, { slugs: ['developer', 'user'] });
    expect([await stream.told(), stream.isClosed()]).toEqual([[], false]);
    const got = await gets(stream, 'roles', b.services.scheduler.runAll);
    expect(got.find(({ event }) => event === 'roles')?.data).toEqual({ roles: ['developer', 'user'] });
    await manage('POST', `/users/${ada.userId}/ban`);
    expect((await gets(stream, 'revoked', b.services.scheduler.runAll)).at(-1)?.data).toEqual({ reason: 'banned' });
  });

  test('the end of a caller, with the reason', async () => {
    const { b, ada, clock } = await setUp({ hasNews: false });
    const stream = await listen(b, ada.token);
    await gets(stream, 'session');
    clock.advance(366 * 24 * 3600 * SECOND);
    expect((await gets(stream, 'revoked', b.services.scheduler.runAll)).at(-1)?.data).toEqual({ reason: 'expired' });
  });

  test('activity and events', async () => {
    const { b, shop, manage, ada } = await setUp({ hasNews: false });
    const activity = await open(b, `/api/applications/${shop.id}/activity/events`);
    const events = await open(b, `/api/applications/${shop.id}/webhooks/events`);
    await Promise.all([gets(activity, 'ready'), gets(events, 'ready')]);
    await manage('POST', `/users/${ada.userId}/ban`);
    const { activity: ofActivity, eventStreams } = b.services;
    const recorded = await gets(activity, 'activity', ofActivity.poll);
    const emitted = await gets(events, 'event', eventStreams.poll);
    expect(recorded.map(({ data }) => data.kind)).toContain('user.banned');
    expect(emitted.map(({ data }) => data.type)).toContain('user.banned');
  });
});

describe('a transaction that began first and commits last', () => {
  test('is shown by both instances, once', async () => {
    const { a, b, shop, ada } = await setUp();
    const paths = [`/api/applications/${shop.id}/activity/events`, `/api/applications/${shop.id}/webhooks/events`];
    const streams = await Promise.all([a, b].flatMap((one) => paths.map((path) => open(one, path))));
    for (const stream of streams) await gets(stream, 'ready');
    const both = (isSlow: boolean, gate: Promise<unknown> = Promise.resolve()) =>
      a.db.write(
        SYSTEM_ACTOR,
        async (unit) => {
          const kind = isSlow ? 'user.paused' : 'user.banned';
          await recordAudit(unit, { kind, applicationId: shop.id, userId: ada.userId });
          await emit(unit, { type: kind, applicationId: shop.id, data: { userId: ada.userId } });
          if (isSlow) begun.resolve();
          await gate;
        },
        { isolation: 'read committed' },
      );
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = both(true, gate.promise);
    await begun.promise;
    await both(false);
    const got = await Promise.all(streams.map((stream, at) => gets(stream, at % 2 ? 'event' : 'activity')));
    expect(JSON.stringify(got)).not.toContain('user.paused');
    gate.resolve();
    await slow;
    const late = await Promise.all(streams.map((stream, at) => gets(stream, at % 2 ? 'event' : 'activity')));
    expect(late.map((messages) => messages.map(({ data }) => data.kind ?? data.type))).toEqual(
      streams.map(() => ['user.paused']),
    );
    for (const one of [a, b]) await one.services.scheduler.runAll();
    for (const stream of streams)
      expect((await stream.told()).filter(({ event }) => /activity|event/.test(event))).toEqual([]);
  });
});
