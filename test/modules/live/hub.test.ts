/** The event-stream hub, alone and over a real connection: slow, numerous and disconnected readers. */
import { afterAll, describe, expect, test } from 'bun:test';
import type { Envelope } from '@/core/envelope.ts';
import type { DomainEvent } from '@/core/event.ts';
import { hub } from '@/modules/live/hub.ts';
import type { Followed } from '@/modules/verification/service.ts';
import { createInstance } from '../../support/instance.ts';
import { eventually } from '../../support/eventually.ts';
import { follow, PATH } from './listen.ts';
import { turns } from '../../support/turns.ts';

const KIB = 1024;
const ENVELOPE = { userId: 'usr_1', roles: [] } as unknown as Envelope;

const principal = (
  credentialId: string,
  userId = 'usr_1',
  applicationId = 'app_1',
  workspaceId = 'wsp_1',
): Followed => ({
  workspaceId,
  applicationId,
  userId,
  credentialId,
  keyHash: null,
});

const budgetOf = async (workspaceId: string | null) => workspaceId ?? 'console';

const roles = (current: string[], userId = 'usr_1', applicationId = 'app_1'): DomainEvent => ({
  type: 'user.role_added',
  applicationId,
  data: { userId, roles: [], current },
});

const RENAMED: DomainEvent = {
  type: 'user.username_changed',
  applicationId: 'app_1',
  data: { userId: 'usr_1', username: 'a', previousUsername: null },
};

const heard = (stream: ReadableStream<Uint8Array>) => follow(new Response(stream));

/** Returns the envelopes of sessions; null for those marked as ended. */
const openHub = (over: string[] = []) =>
  hub(async ({ credentialId }) => (over.includes(credentialId) ? null : ENVELOPE), budgetOf);

describe('the event-stream hub', () => {
  test('notifies each listener of its own person in its own application, in the order of the events', async () => {
    const live = openHub();
    const streams = {
      one: heard(await live.open(principal('ses_1'))),
      two: heard(await live.open(principal('ses_2'))),
      other: heard(await live.open(principal('ses_3', 'usr_2'))),
      elsewhere: heard(await live.open(principal('ses_4', 'usr_1', 'app_2'))),
    };
    live.publish([roles(['a']), roles(['a', 'b']), roles(['z'], 'usr_2')]);
    const told = async (name: keyof typeof streams) =>
      (await streams[name].told()).slice(1).map(({ data }) => data.roles.join(' '));
    expect([await told('one'), await told('two'), await told('other'), await told('elsewhere')]).toEqual([
      ['a', 'a b'],
      ['a', 'a b'],
      ['z'],
      [],
    ]);
  });

  test('sends one message with the result of a change that adds and removes grants', async () => {
    const live = openHub();
    const stream = heard(await live.open(principal('ses_1')));
    const added = roles(['b']);
    live.publish([added, { ...added, type: 'user.role_removed' } as DomainEvent]);
    expect((await stream.told()).slice(1).map(({ data }) => data.roles)).toEqual([['b']]);
  });

  test('reads the envelope only for people with a listener, and only for changes that need it', async () => {
    let reads = 0;
    const live = hub(async () => ((reads += 1), ENVELOPE), budgetOf);
    live.publish([RENAMED]);
    const stream = heard(await live.open(principal('ses_1')));
    reads = 0;
    live.publish([roles(['a'])]);
    await turns();
    expect(reads).toBe(0);
    live.publish([RENAMED]);
    expect((await stream.told()).map(({ event }) => event)).toEqual(['session', 'roles', 'profile']);
    expect(reads).toBe(1);
  });

  test('sends no profile for a session that has ended', async () => {
    const over: string[] = [];
    const live = openHub(over);
    const stream = heard(await live.open(principal('ses_1')));
    over.push('ses_1');
    live.publish([
      { type: 'user.profile_updated', applicationId: 'app_1', data: { userId: 'usr_1', name: 'A', categories: [] } },
    ]);
    expect((await stream.told()).map(({ event }) => event)).toEqual(['session']);
  });

  test('sends changes in order, even if some need a database read', async () => {
    const live = openHub();
    const stream = heard(await live.open(principal('ses_1')));
    live.publish([roles(['a']), RENAMED, roles(['b']), RENAMED, roles(['c'])]);
    live.publish([roles(['d'])]);
    const names = (await stream.told()).map(({ event, data }) => (event === 'roles' ? data.roles.join() : event));
    expect(names).toEqual(['session', 'a', 'profile', 'b', 'profile', 'c', 'd']);
  });

  test('disconnects a listener with a hundred queued changes, so that queues stay bounded', async () => {
    const gate = Promise.withResolvers<Envelope>();
    let isSlow = false;
    const live = hub(() => (isSlow ? gate.promise : Promise.resolve(ENVELOPE)), budgetOf);
    await live.open(principal('ses_1'));
    isSlow = true;
    for (let change = 0; change < 100; change += 1) live.publish([RENAMED]);
    expect(live.count()).toBe(1);
    live.publish([RENAMED]);
    expect(live.count()).toBe(0);
    gate.resolve(ENVELOPE);
  });

  test('ends only the streams of an application whose sessions have ended, without an event for each session', async () => {
    const over: string[] = [];
    const live = openHub(over);
    const streams = await Promise.all(
      [
        principal('ses_1', 'usr_1'),
        principal('ses_2', 'usr_2'),
        principal('ses_3', 'usr_3'),
        principal('ses_4', 'usr_1', 'app_2'),
      ].map(async (one) => heard(await live.open(one))),
    );
    for (const stream of streams) await stream.told();
    over.push('ses_1', 'ses_3', 'ses_4');
    live.recheck([{ applicationId: 'app_1', userId: null, reason: 'application.archived' }]);
    await turns();
    const ended = [{ event: 'revoked', data: { reason: 'application.archived' } }];
    expect(await Promise.all(streams.map((stream) => stream.told()))).toEqual([ended, [], ended, []]);
    expect(streams.map((stream) => stream.isClosed())).toEqual([true, false, true, false]);
    live.recheck([{ applicationId: 'app_2', userId: 'usr_1', reason: 'banned' }]);
    await turns();
    expect([await streams[3]!.told(), live.count()]).toEqual([[{ event: 'revoked', data: { reason: 'banned' } }], 1]);
  });

  test('removes a disconnected reader once', async () => {
    const live = openHub();
    const [first, second] = [await live.open(principal('ses_1')), await live.open(principal('ses_1'))];
    await first.cancel();
    await first.cancel();
    expect(live.count()).toBe(1);
    live.publish([roles(['a'])]);
    await live.heartbeat();
    await second.cancel();
    expect(live.count()).toBe(0);
  });

  test('refuses the 50,001st listener as unavailable, and admits it once another has left', async () => {
    const live = openHub();
    const first = await live.open(principal('ses_0', 'usr_0'));
    for (let open = 1; open < 50_000; open += 1) await live.open(principal(`ses_${open}`, `usr_${open}`));
    expect(live.count()).toBe(50_000);
    await expect(live.open(principal('ses_x', 'usr_x'))).rejects.toMatchObject({ code: 'unavailable' });
    await first.cancel();
    await live.open(principal('ses_x', 'usr_x'));
    // Another tenant's listener takes the slot of the oldest.
    await live.open(principal('ses_y', 'usr_y', 'app_2', 'wsp_2'));
    expect(live.count()).toBe(50_000);
    live.closeAll();
    expect(live.count()).toBe(0);
  });

  test('closes every stream when it is closed', async () => {
    const live = openHub();
    const streams = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => heard(await live.open(principal(`ses_${at}`, `usr_${at % 3}`)))),
    );
    live.closeAll();
    for (const stream of streams) {
      expect((await stream.told()).map(({ event }) => event)).toEqual(['session']);
      expect(stream.isClosed()).toBe(true);
    }
    expect(live.count()).toBe(0);
  });
});

describe('a slow reader', () => {
  const large = ['x'.repeat(8 * KIB)];

  test('is disconnected once 64 KiB are queued for it, so that queues stay bounded', async () => {
    const live = openHub();
    const slow = await live.open(principal('ses_1'));
    const prompt = heard(await live.open(principal('ses_2')));
    let published = 0;
    for (; live.count() === 2 && published < 1000; published += 1) {
      live.publish([roles(large)]);
      await Bun.sleep(0);
    }
    expect([live.count(), published]).toEqual([1, 9]);
    // The other stream continued.
    expect(await prompt.told()).toHaveLength(1 + 9);
    live.publish([roles(['after'])]);
    // If it reads again, it gets the queued messages and the end, reconnects, and receives a full snapshot.
    const late = heard(slow);
    const messages = await late.told();
    expect([messages.length, messages[0]!.event, late.isClosed()]).toEqual([1 + 8, 'session', true]);
    expect(late.text().length).toBeLessThan(80 * KIB);
    expect(late.text()).not.toContain('after');
  });

  test('is disconnected after enough heartbeats alone', async () => {
    const live = openHub();
    await live.open(principal('ses_1'));
    for (let beat = 0; beat < 6000; beat += 1) await live.heartbeat();
    expect(live.count()).toBe(0);
  });

  test('stays connected while it keeps up', async () => {
    const live = openHub();
    const stream = heard(await live.open(principal('ses_1')));
    for (let sent = 0; sent < 2000; sent += 1) {
      live.publish([roles(large)]);
      if (sent % 4 === 3) await Bun.sleep(0);
    }
    expect(live.count()).toBe(1);
    expect(await stream.told()).toHaveLength(2001);
  });
});

describe('over a connection', async () => {
  const instance = await createInstance();
  const { live } = instance.services;
  const { id: applicationId, clientId } = await instance.createApplication();
  const { token, userId } = await instance.signIn(clientId, 'ada@example.com');
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      server.timeout(request, 0);
      return instance.app.fetch(request);
    },
  });
  afterAll(() => server.stop(true));
  const head = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

  test('a reader that stops reading is disconnected before much is buffered', async () => {
    const opened = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: server.port!,
      socket: {
        data(stopped) {
          stopped.pause();
          opened.resolve();
        },
      },
    });
    socket.write(head);
    await opened.promise;
    expect(live.count()).toBe(1);
    const message = roles(
      Array.from({ length: 500 }, (_, at) => `role-${at}-${'x'.repeat(40)}`),
      userId,
      applicationId,
    );
    const size = JSON.stringify(message).length;
    let published = 0;
    // The kernel buffers some megabytes at both ends; anything beyond is buffered by this process.
    while (live.count() > 0 && published * size < 64 * KIB * KIB) {
      live.publish([message]);
      published += 1;
      await Bun.sleep(0);
    }
    expect(live.count()).toBe(0);
    expect(published * size).toBeLessThan(32 * KIB * KIB);
    socket.terminate();
  });

  test('disconnected readers are removed', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () =>
        Bun.connect({ hostname: '127.0.0.1', port: server.port!, socket: { data() {} } }),
      ),
    );
    for (const socket of sockets) socket.write(head);
    await eventually('all listen', () => live.count() === 20);
    for (const [at, socket] of sockets.entries()) if (at % 2) socket.terminate();
    await eventually('half of them are forgotten', () => live.count() === 10);
    for (const socket of sockets) socket.end();
    await eventually('all of them are forgotten', () => live.count() === 0);
  });
});
