/** The event stream of a session over the API: its messages and their recipients. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import type { GrantKind } from '@/store/grants.ts';
import * as given from '../../support/given.ts';
import { type Instance } from '../../support/instance.ts';
import { turns } from '../../support/turns.ts';
import { follow, listen, PATH, streamRequest } from './listen.ts';
import { createWorld, envelopeOf, listening } from './world.ts';

describe('a session event stream', () => {
  test('begins with a snapshot that equals the envelope of a verification', async () => {
    const world = await createWorld();
    const stream = await listen(world.instance, world.ada.token);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('cache-control')).toContain('no-store');
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    expect(stream.headers.get('x-request-id')).toStartWith('req_');
    expect(stream.headers.get('ratelimit-limit')).toBe('600');
    const envelope = await envelopeOf(world, world.ada);
    expect(await stream.told()).toEqual([{ event: 'session', data: envelope }]);
    expect(stream.text()).toBe(`event: session\ndata: ${JSON.stringify(envelope)}\n\n`);
    expect([stream.isClosed(), world.instance.services.live.count()]).toEqual([false, 1]);
  });

  test('keeps a name with line breaks within one data line', async () => {
    const world = await createWorld();
    const name = 'Ada\nLovelace\r\ndata: x\u2028y';
    await given.person(world.instance, world.ada.userId, { fullName: name });
    const stream = await listen(world.instance, world.ada.token);
    const [snapshot] = await stream.told();
    expect(snapshot!.data.fullName).toBe(name);
    expect(
      stream
        .text()
        .trimEnd()
        .split(/\r\n|\n|\r/),
    ).toHaveLength(2);
  });

  test('sends a fresh snapshot after a reconnection, which includes changes made in between', async () => {
    const world = await createWorld();
    const first = await listening(world.instance, world.ada);
    await given.grant(world.instance, 'scopes', world.application.id, 'export');
    await first.leave();
    await world.manage('PUT', `/users/${world.ada.userId}/scopes`, { slugs: ['export'] });
    const second = await listen(world.instance, world.ada.token);
    const [snapshot] = await second.told();
    expect(snapshot!.data.scopes).toEqual(['export']);
    expect(world.instance.services.live.count()).toBe(1);
  });

  test('sends comments as heartbeats, which are not messages', async () => {
    const { instance, ada } = await createWorld();
    const stream = await listening(instance, ada);
    const before = stream.text().length;
    await instance.services.live.heartbeat();
    expect(await stream.told()).toEqual([]);
    expect(stream.text().slice(before)).toBe(': heartbeat\n\n');
    // A job sends a heartbeat every fifteen seconds.
    await instance.services.scheduler.runAll();
    await stream.told();
    expect(stream.text().slice(before)).toBe(': heartbeat\n\n: heartbeat\n\n');
  });

  test('is removed when its reader disconnects', async () => {
    const { instance, ada } = await createWorld();
    const streams = await Promise.all(Array.from({ length: 5 }, () => listening(instance, ada)));
    expect(instance.services.live.count()).toBe(5);
    for (const stream of streams) await stream.leave();
    expect(instance.services.live.count()).toBe(0);
  });

  test('is described as an event stream in the API description', async () => {
    const { instance } = await createWorld();
    const document = Bun.YAML.parse((await instance.call('GET', '/openapi.yaml')).text) as {
      paths: Record<string, { get: { operationId: string; responses: Record<string, { $ref: string }> } }>;
      components: { responses: Record<string, { content: object }> };
    };
    const { operationId, responses } = document.paths[PATH]!.get;
    expect(operationId).toBe('streamSession');
    const [name = ''] = responses['200']!.$ref.split('/').slice(-1);
    expect(Object.keys(document.components.responses[name]!.content)).toEqual(['text/event-stream']);
  });
});

/** The kinds of grants, each with the slugs a person holds at first. */
const KINDS: [kind: GrantKind, before: string[]][] = [
  ['roles', ['user']],
  ['scopes', []],
  ['memberships', []],
];

describe.each(KINDS)('an open stream receives %s', (kind, initial) => {
  async function withGrants(...slugs: string[]) {
    const world = await createWorld();
    const ids: Record<string, string> = {};
    for (const slug of slugs) ids[slug] = await given.grant(world.instance, kind, world.application.id, slug);
    return { ...world, ids };
  }

  test('as a complete set after additions and removals', async () => {
    const { instance, ada, manage } = await withGrants('one', 'two', 'three');
    const stream = await listening(instance, ada);
    const set = (slugs: string[]) => manage('PUT', `/users/${ada.userId}/${kind}`, { slugs });
    const current = async () => {
      const messages = await stream.told();
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.every(({ event }) => event === kind)).toBe(true);
      expect(messages.every(({ data }) => Object.keys(data).join() === kind)).toBe(true);
      return messages.at(-1)!.data[kind];
    };
    await set([...initial, 'two', 'one']);
    expect(await current()).toEqual([...initial, 'one', 'two'].sort());
    await set(['three', 'one']);
    expect(await current()).toEqual(['one', 'three']);
    await set([]);
    expect(await current()).toEqual([]);
  });

  test('only when they change', async () => {
    const { instance, ada, manage } = await withGrants('one');
    await manage('PUT', `/users/${ada.userId}/${kind}`, { slugs: ['one'] });
    const stream = await listening(instance, ada);
    await manage('PUT', `/users/${ada.userId}/${kind}`, { slugs: ['one'] });
    const refused = manage('PUT', `/users/${ada.userId}/${kind}`, { slugs: ['one', 'nowhere'] });
    await expect(refused).rejects.toThrow('400');
    expect(await stream.told()).toEqual([]);
  });

  test('that are deleted with force, for all holders and nobody else', async () => {
    const { instance, application, ada, ids, manage } = await withGrants('one', 'two');
    const bea = await instance.signIn(application.clientId, 'bea@example.com');
    const cleo = await instance.signIn(application.clientId, 'cleo@example.com');
    await manage('PUT', `/users/${ada.userId}/${kind}`, { slugs: ['one', 'two'] });
    await manage('PUT', `/users/${bea.userId}/${kind}`, { slugs: ['one'] });
    await manage('PUT', `/users/${cleo.userId}/${kind}`, { slugs: ['two'] });
    const [ofAda, ofBea, ofCleo] = [
      await listening(instance, ada),
      await listening(instance, bea),
      await listening(instance, cleo),
    ];
    await manage('DELETE', `/${kind}/${ids['one']}?force=true`);
    expect(await ofAda.told()).toEqual([{ event: kind, data: { [kind]: ['two'] } }]);
    expect(await ofBea.told()).toEqual([{ event: kind, data: { [kind]: [] } }]);
    expect(await ofCleo.told()).toEqual([]);
  });

  test('under a new slug, which needs force', async () => {
    const { instance, ada, ids, manage } = await withGrants('one', 'two');
    await manage('PUT', `/users/${ada.userId}/${kind}`, { slugs: ['one', 'two'] });
    const stream = await listening(instance, ada);
    await manage('PATCH', `/${kind}/${ids['one']}?force=true`, { slug: 'zero' });
    const messages = await stream.told();
    expect(messages.at(-1)).toEqual({ event: kind, data: { [kind]: ['two', 'zero'] } });
  });

  test('that an import adds', async () => {
    const { instance, ada, manage } = await withGrants('one');
    const stream = await listening(instance, ada);
    const field = { roles: 'roleSlugs', scopes: 'scopeSlugs', memberships: 'membershipSlugs' }[kind];
    const users = [{ email: 'ada@example.com', [field]: ['one'] }];
    await manage('POST', '/users/bulk', { users });
    expect(await stream.told()).toEqual([{ event: kind, data: { [kind]: ['one', ...initial] } }]);
    await manage('POST', '/users/bulk', { users });
    expect(await stream.told()).toEqual([]);
  });
});

describe('an open stream receives the profile', () => {
  test('as a whole envelope when an import sets a username', async () => {
    const world = await createWorld();
    const stream = await listening(world.instance, world.ada);
    await world.manage('POST', '/users/bulk', { users: [{ email: 'ada@example.com', profile: { username: 'ada' } }] });
    const messages = await stream.told();
    expect(messages).toEqual([{ event: 'profile', data: await envelopeOf(world, world.ada) }]);
    expect(messages[0]!.data.username).toBe('ada');
  });

  test('when an import fills empty fields, in every application of the person', async () => {
    const world = await createWorld();
    const { instance } = world;
    const other = await instance.createApplication({ name: 'Other' });
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const streams = [await listening(instance, world.ada), await listening(instance, elsewhere)] as const;
    const users = [{ email: 'ada@example.com', profile: { givenName: 'Ada', familyName: 'Lovelace' } }];
    await world.manage('POST', '/users/bulk', { users });
    expect(await streams[0].told()).toEqual([{ event: 'profile', data: await envelopeOf(world, world.ada) }]);
    const [message] = await streams[1].told();
    expect([message?.event, message?.data.fullName, message?.data.applicationId]).toEqual([
      'profile',
      'Ada Lovelace',
      other.id,
    ]);
  });
});

describe('an open stream receives nothing', () => {
  test('about other people', async () => {
    const { instance, application, ada, manage } = await createWorld();
    const bea = await instance.signIn(application.clientId, 'bea@example.com');
    await given.grant(instance, 'scopes', application.id, 'export');
    const stream = await listening(instance, ada);
    await manage('PUT', `/users/${bea.userId}/roles`, { slugs: [] });
    await manage('PUT', `/users/${bea.userId}/scopes`, { slugs: ['export'] });
    await manage('POST', '/users/bulk', { users: [{ email: 'bea@example.com', profile: { username: 'bea' } }] });
    await manage('POST', `/users/${bea.userId}/ban`, {});
    await instance.signIn(application.clientId, 'cleo@example.com');
    expect([await stream.told(), stream.isClosed()]).toEqual([[], false]);
  });

  test('about the same person in other applications', async () => {
    const { instance, ada } = await createWorld();
    const other = await instance.createApplication({ name: 'Other' });
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    expect(elsewhere.userId).toBe(ada.userId);
    await given.grant(instance, 'scopes', other.id, 'export');
    const stream = await listening(instance, ada);
    const manage = (method: string, path: string, body: unknown) =>
      instance.call(method, `/api/applications/${other.id}/users/${path}`, { token: instance.workspaceKey, body });
    await manage('PUT', `${ada.userId}/roles`, { slugs: [] });
    await manage('PUT', `${ada.userId}/scopes`, { slugs: ['export'] });
    await manage('POST', `bulk`, { users: [{ email: 'ada@example.com', profile: { username: 'ada' } }] });
    await manage('POST', `${ada.userId}/delete`, {});
    expect([await stream.told(), stream.isClosed()]).toEqual([[], false]);
  });

  test('about further sign-ins of the person', async () => {
    const { instance, application, ada } = await createWorld();
    const stream = await listening(instance, ada);
    instance.clock.advance(60_000);
    await instance.signIn(application.clientId, 'ada@example.com');
    expect(await stream.told()).toEqual([]);
  });
});

describe('between its authentication and its snapshot', () => {
  // Another request may run while this one is in the pipeline.
  const STEPS = Array.from({ length: 24 }, (_, step) => step);

  test.each(STEPS)('a stream misses no change (step %d)', async (step) => {
    const { instance, application, ada } = await createWorld();
    await given.holder(instance, 'scopes', application.id, ada.userId, 'before');
    await given.grant(instance, 'scopes', application.id, 'after');
    const opening = instance.app.fetch(streamRequest(ada.token));
    for (let turn = 0; turn < step; turn += 1) await Promise.resolve();
    const change = instance.services.users.setGrants(SYSTEM_ACTOR, application, ada.userId, 'scopes', ['after']);
    const stream = follow(await opening);
    await change;
    const messages = await stream.told();
    expect(messages.at(-1)!.data.scopes).toEqual(['after']);
  });

  test.each(STEPS)('the end of a session leaves no stream open (step %d)', async (step) => {
    const { instance, application, ada } = await createWorld();
    const opening = instance.app.fetch(streamRequest(ada.token));
    for (let turn = 0; turn < step; turn += 1) await Promise.resolve();
    const change = instance.services.users.act(SYSTEM_ACTOR, application, ada.userId, 'ban');
    await Promise.all([opening, change]);
    // The streams of a changed session are checked after the commit.
    await turns();
    expect(instance.services.live.count()).toBe(0);
  });
});

describe('a HEAD request for a session stream', () => {
  const head = async ({ app }: Instance, token: string) => {
    const response = await app.fetch(streamRequest(token, 'HEAD'));
    expect(await response.text()).toBe('');
    return response;
  };

  test('is answered as GET would be, without a body', async () => {
    const { instance, ada } = await createWorld();
    const { status, headers } = await head(instance, ada.token);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await head(instance, 'nonsense')).status).toBe(401);
  });

  test('opens no stream, even when repeated', async () => {
    const { instance, ada } = await createWorld();
    for (let ask = 0; ask < 21; ask += 1) expect((await head(instance, ada.token)).status).toBe(200);
    expect(instance.services.live.count()).toBe(0);
    await listening(instance, ada);
  });
});
