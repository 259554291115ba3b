/** News between instances over a real PostgreSQL. */
import { afterEach, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { type Topic, topic, topicForAll } from '@/db/database.ts';
import { openNews } from '@/db/postgres/news.ts';
import { payloadsOf, readPayload } from '@/db/postgres/news-payload.ts';
import { eventually } from '../../support/eventually.ts';
import { databaseUrl, dropPostgresDatabase, freshPostgresDatabase } from '../../support/postgres.ts';

const ENDED = topicForAll<{ id: string }>('ended');
const LOCAL = topic<{ id: string }>('local');

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp() {
  const url = await freshPostgresDatabase();
  const admin = new SQL({ url, max: 1 });
  closing.push(
    () => dropPostgresDatabase(url),
    () => admin.close({ timeout: 0 }),
  );
  function instance(instanceId: string, at = url) {
    const heard: unknown[] = [];
    const seen = { missed: 0, silent: 0 };
    const news = openNews({
      urls: [at],
      tls: undefined,
      isBouncer: false,
      instanceId,
      onMessages: (name, messages) => void heard.push(...messages.map((message) => [name, message])),
      onMissed: () => void (seen.missed += 1),
      onSilence: () => void (seen.silent += 1),
    });
    closing.push(() => news.close());
    const say = (...ids: string[]) => news.publish(new Map([[ENDED, ids.map((id) => ({ id }))]]));
    return { news, heard, seen, say };
  }
  const listeners = async () =>
    (await admin`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`).length;
  return { url, admin, instance, listeners };
}

/** Returns two instances that listen. */
async function setUpTwo() {
  const world = await setUp();
  const [a, b] = [world.instance('a'), world.instance('b')];
  await eventually('both listen', async () => (await world.listeners()) === 2);
  return { ...world, a, b };
}

describe('news', () => {
  test('reach other instances with the name of their topic, and not the instance that sent them', async () => {
    const { a, b } = await setUpTwo();
    a.say('1');
    a.news.publish(new Map<Topic<unknown>, unknown[]>([[LOCAL, [{ id: 'local' }]]]));
    a.say('2', '3');
    await eventually('b hears', () => b.heard.length === 3);
    expect(b.heard).toEqual(['1', '2', '3'].map((id) => ['ended', { id }]));
    b.say('4');
    await eventually('a hears', () => a.heard.length > 0);
    expect([a.heard, b.heard.length, a.seen, b.seen]).toEqual([
      [['ended', { id: '4' }]],
      3,
      { missed: 0, silent: 0 },
      { missed: 0, silent: 0 },
    ]);
  });

  test('of more messages than are sent say that some are missing', async () => {
    const { a, b } = await setUpTwo();
    a.say(...Array.from({ length: 1001 }, (_, at) => `${at}`));
    await eventually('b learns it', () => b.seen.missed === 1);
    a.say('ü'.repeat(5000));
    await eventually('b learns it again', () => b.seen.missed === 2);
    expect(b.heard).toEqual([]);
    a.say(...Array.from({ length: 1000 }, (_, at) => `${at} ${'x'.repeat(100)}`));
    await eventually('b hears all', () => b.heard.length === 1000);
  });

  test('may be missing after the connection was lost, and come again', async () => {
    const { a, b, admin } = await setUpTwo();
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`;
    await eventually('both know', () => a.seen.missed > 0 && b.seen.missed > 0);
    a.say('after');
    await eventually('b hears', () => b.heard.length === 1);
  });

  test('begin once the server answers, and fail nothing before', async () => {
    const { url, instance, listeners } = await setUp();
    const nowhere = instance('away', databaseUrl('postgres://127.0.0.1:1/', 'nothing'));
    nowhere.say('lost');
    const [a, b] = [instance('a', url), instance('b', url)];
    await eventually('both listen', async () => (await listeners()) === 2);
    a.say('1');
    await eventually('b hears', () => b.heard.length === 1);
  });

  test('leave no connection behind, and are sent before the end', async () => {
    const { a, b, admin } = await setUpTwo();
    a.say('last');
    await a.news.close();
    a.say('too late');
    await eventually('b hears', () => b.heard.length === 1);
    await b.news.close();
    await eventually(
      'nobody is connected',
      async () =>
        (await admin`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
          .length === 0,
    );
  });
});

describe('a notification', () => {
  test('is below 8,000 bytes, however long its messages are', () => {
    const messages = Array.from({ length: 300 }, (_, at) => ({ id: `${at} ${'ü'.repeat(at)}` }));
    const payloads = payloadsOf('a', [['ended', messages]]);
    expect(payloads.length).toBeGreaterThan(10);
    expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000);
    const read = payloads.flatMap((payload) => readPayload(payload)?.items ?? []).flatMap(([, of]) => of ?? []);
    expect(read).toEqual(messages);
    expect(payloadsOf('a', [['ended', [...messages, { id: 'x'.repeat(8000) }]]])).toEqual(['["a",[["ended",null]]]']);
  });

  test('of another sender is ignored', () => {
    for (const payload of ['', '{}', 'null', '[1,[]]', '["a"]', '["a",{}]', '[[]]'])
      expect(readPayload(payload)).toBeNull();
    expect(readPayload('["a",[["ended",null],["ended",[1]],["ended",{}],3]]')?.items).toEqual([
      ['ended', null],
      ['ended', [1]],
    ]);
  });
});
