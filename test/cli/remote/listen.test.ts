/** Following a server: forwarded events, live activity, and reconnects. */
import { afterEach, describe, expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { newId } from '@/core/id.ts';
import { emit } from '@/events/emit.ts';
import type { Instance } from '../../support/instance.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { oneServer, type Person, type Ran } from './scene.ts';

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function setUp() {
  const { instance, person } = await oneServer();
  const shop = await instance.createApplication({ slug: 'shop' });
  const receiver = await startReceiver(() => instance.clock.now());
  receivers.push(receiver);
  const emitEvent = () =>
    instance.db.write(SYSTEM_ACTOR, (unit) =>
      emit(unit, { type: 'user.banned', applicationId: shop.id, data: { userId: newId('user', 0), reason: 'spam' } }),
    );
  return { instance, person, shop, receiver, emitEvent };
}

/** A command that runs until it is interrupted. */
function running(instance: Instance, person: Person, args: readonly string[], cut = { isCut: false }) {
  const interrupted = new AbortController();
  let text = '';
  let wake = Promise.withResolvers<void>();
  const take = (part: string) => {
    text += part;
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const open = new Set<AbortController>();
  const ended: Promise<Ran> = person.manage(args, {
    interruption: interrupted.signal,
    out: async (part) => take(part),
    err: take,
    wait: () => new Promise((resolve) => void setImmediate(resolve)),
    async fetch(url, init) {
      if (new URL(url).hostname === '127.0.0.1') return fetch(url, init);
      if (cut.isCut) throw new TypeError('nobody listens there');
      const response = await instance.app.fetch(
        new Request(`http://localhost${new URL(url).pathname}${new URL(url).search}`, init),
      );
      if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      // The body ends when the caller aborts or the connection is cut, as a socket's would.
      const line = new AbortController();
      open.add(line);
      const signal = init.signal ? AbortSignal.any([init.signal, line.signal]) : line.signal;
      const body = response.body.pipeThrough(new TransformStream(), { signal });
      return new Response(body, response);
    },
  });
  return {
    until: async (pattern: RegExp) => {
      while (!pattern.test(text)) await wake.promise;
      return text;
    },
    text: () => text,
    cutLine: () => open.forEach((line) => line.abort()),
    async end() {
      interrupted.abort(new Error('interrupted'));
      return { ...(await ended), text };
    },
  };
}

describe('webhooks listen', () => {
  test('forwards each event with the body, headers and signature of a delivery, and leaves nothing behind', async () => {
    const { instance, person, shop, receiver, emitEvent } = await setUp();
    const listening = running(instance, person, ['webhooks', 'listen', '--forward', receiver.url]);
    const [, secret] = /Signing secret: (whsec_\w+)\n[^]*Ready\.\n/.exec(await listening.until(/Ready\.\n/))!;
    receiver.trust(secret!);
    await emitEvent();
    await listening.until(/user\.banned +evt_\w+ {2}200 in \d+ ms\n/);
    const [forwarded] = receiver.received;
    const row = instance.sqlite
      .query('SELECT id, created_at AS at FROM events WHERE application_id = ?')
      .get(shop.id) as { id: string; at: number };
    expect(forwarded!.eventId).toBe(row.id);
    expect(forwarded!.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Gatehouse' });
    expect(Object.keys(forwarded!.event)).toEqual(['id', 'type', 'createdAt', 'applicationId', 'data']);
    expect(forwarded!.headers).not.toHaveProperty('authorization');
    const { exitCode, text } = await listening.end();
    expect([exitCode, text]).toEqual([0, expect.stringContaining('Stopped; nothing remains at the server.\n')]);
    expect(instance.services.eventStreams.count()).toBe(0);
    const { json } = await instance.call('GET', `/api/applications/${shop.id}/webhooks`, {
      token: instance.workspaceKey,
    });
    expect(json.data.items).toEqual([]);
  });

  test('resumes after a disconnect with the missed events', async () => {
    const { instance, person, receiver, emitEvent } = await setUp();
    const cut = { isCut: false };
    const secretFile = join(person.home, 'secret');
    const args = ['webhooks', 'listen', '--forward', receiver.url, '--secret-file', secretFile, '--json'];
    const listening = running(instance, person, args, cut);
    await listening.until(/Ready\.\n/);
    expect(statSync(secretFile).mode & 0o777).toBe(0o600);
    receiver.trust(readFileSync(secretFile, 'utf8').trim());
    await emitEvent();
    await listening.until(/"status":200/);
    cut.isCut = true;
    listening.cutLine();
    await listening.until(/is lost; trying again/);
    await emitEvent();
    await emitEvent();
    cut.isCut = false;
    await listening.until(/Reconnected[^]*("status":200[^]*){2}/);
    await listening.end();
    expect(receiver.received).toHaveLength(3);
  });

  test('shows the receiver’s answers, and omits unwanted types', async () => {
    const { instance, person, shop, receiver, emitEvent } = await setUp();
    receiver.answerWith(() => ({ status: 500 }));
    const listening = running(instance, person, [
      'webhooks',
      'listen',
      '--forward',
      receiver.url,
      '--events',
      'user.banned',
    ]);
    const [, secret] = /Signing secret: (\S+)/.exec(await listening.until(/Ready\.\n/))!;
    receiver.trust(secret!);
    await instance.signIn(shop.clientId, 'ada@example.com');
    await emitEvent();
    await listening.until(/user\.banned +evt_\w+ {2}500 in/);
    receiver.answerWith(() => 'drop');
    await emitEvent();
    await listening.until(/user\.banned +evt_\w+ {2}[a-zA-Z ]\S+ .*in \d+ ms/);
    expect((await listening.end()).text).not.toContain('user.signed_in');
  });

  test.each([
    [['--forward', 'nonsense'], 2, '--forward is no address'],
    [['--events', 'user.unknown'], 2, 'There is no event "user.unknown". There are: user.signed_in,'],
  ])('the command with %j is refused', async (flags, exitCode, problem) => {
    const { person } = await setUp();
    const ran = await person.manage(['webhooks', 'listen', ...flags]);
    expect([ran.exitCode, ran.err]).toEqual([exitCode, expect.stringContaining(problem)]);
  });

  test('refuses a secret file that contains something else', async () => {
    const { person } = await setUp();
    const file = join(person.home, 'secret');
    writeFileSync(file, 'hunter2');
    const ran = await person.manage(['webhooks', 'listen', '--secret-file', file]);
    expect([ran.exitCode, ran.err.includes('hunter2')]).toEqual([1, false]);
  });

  test('ends with advice when its key is revoked', async () => {
    const { instance, person, shop } = await setUp();
    const key = await instance.createKey(shop.id, { access: 'full' });
    const listening = running(
      instance,
      { ...person, manage: (args, at) => person.manage(args, { ...at, env: { GATEHOUSE_KEY: key.token } }) },
      ['webhooks', 'listen'],
    );
    await listening.until(/Ready\.\n/);
    await instance.call('DELETE', `/api/applications/${shop.id}/api-keys/${key.id}`, { token: instance.workspaceKey });
    instance.services.eventStreams.heartbeat();
    expect(await listening.until(/gatehouse: /)).toContain(
      'The key of GATEHOUSE_KEY is not accepted any more. Log in again',
    );
    expect((await listening.end()).exitCode).toBe(1);
  });
});

describe('activity tail', () => {
  test('shows recent activity and then new activity, each once', async () => {
    const { instance, person, shop } = await setUp();
    const tail = running(instance, person, ['activity', 'tail', '--app', 'shop', '--family', 'role', '--json']);
    const roles = `/api/applications/${shop.id}/roles`;
    await instance.call('POST', roles, { token: instance.workspaceKey, body: { slug: 'editor' } });
    const told = () =>
      tail
        .text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).kind);
    await tail.until(/role\.created/);
    await instance.call('POST', `/api/applications/${shop.id}/scopes`, {
      token: instance.workspaceKey,
      body: { slug: 'read' },
    });
    await instance.call('POST', roles, { token: instance.workspaceKey, body: { slug: 'author' } });
    await tail.until(/(role\.created[^]*){2}/);
    expect(told()).toEqual(['role.created', 'role.created']);
    expect((await tail.end()).exitCode).toBe(0);
  });

  test('resumes after a disconnect: each record once, none omitted', async () => {
    const { instance, person, shop } = await setUp();
    const cut = { isCut: false };
    const tail = running(instance, person, ['activity', 'tail', '--app', 'shop', '--family', 'role', '--json'], cut);
    const create = (slug: string) =>
      instance.call('POST', `/api/applications/${shop.id}/roles`, { token: instance.workspaceKey, body: { slug } });
    await create('r0');
    await tail.until(/"r0"/);
    cut.isCut = true;
    tail.cutLine();
    await tail.until(/is lost; trying again/);
    for (let made = 1; made < 15; made += 1) await create(`r${made}`);
    cut.isCut = false;
    await tail.until(/Reconnected; missed records follow\.\n[^]*"r14"/);
    await create('r15');
    const { text } = await tail.until(/"r15"/).then(() => tail.end());
    const slugs = [...text.matchAll(/"slug":"(r\d+)"/g)].map(([, slug]) => slug);
    expect(slugs).toEqual(Array.from({ length: 16 }, (_, made) => `r${made}`));
  });
});
