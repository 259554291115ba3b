/** The event stream of a session, over the API: what is told, to whom, and how it ends. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import type { GrantKind } from '@/store/grants.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { turns } from '../../support/turns.ts';
import { follow, listen, type Listening, PATH, streamRequest } from './listen.ts';

interface Person {
  readonly token: string;
  readonly userId: string;
}

interface World {
  readonly instance: Instance;
  readonly application: Application;
  readonly ada: Person;
  /** A management call below the application. */
  manage(method: string, path: string, body?: unknown): ReturnType<Instance['call']>;
}

async function createWorld(): Promise<World> {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  return {
    instance,
    application,
    ada,
    async manage(method, path, body) {
      const answer = await instance.call(method, `/api/applications/${application.id}${path}`, {
        token: instance.workspaceKey,
        body,
      });
      if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
      return answer;
    },
  };
}

/** An open stream whose snapshot has been read. */
async function listening(instance: Instance, { token }: Person): Promise<Listening> {
  const stream = await listen(instance, token);
  const [snapshot] = await stream.told();
  expect(snapshot?.event).toBe('session');
  return stream;
}

const envelopeOf = async ({ instance }: World, { token }: Person) => {
  const { ok, ...envelope } = (await instance.call('POST', '/api/v1/session', { token })).json;
  expect(ok).toBe(true);
  return envelope;
};

describe('an event stream', () => {
  test('begins with a snapshot: the very envelope that verification gives', async () => {
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

  test('opened again gives a fresh snapshot, so that what happened in between is not missed', async () => {
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

  test('is kept alive by comments, which are no messages', async () => {
    const { instance, ada } = await createWorld();
    const stream = await listening(instance, ada);
    const before = stream.text().length;
    await instance.services.live.heartbeat();
    expect(await stream.told()).toEqual([]);
    expect(stream.text().slice(before)).toBe(': heartbeat\n\n');
    // It is a job's doing, every fifteen seconds.
    await instance.services.scheduler.runAll();
    await stream.told();
    expect(stream.text().slice(before)).toBe(': heartbeat\n\n: heartbeat\n\n');
  });

  test('whose reader goes away is forgotten', async () => {
    const { instance, ada } = await createWorld();
    const streams = await Promise.all(Array.from({ length: 5 }, () => listening(instance, ada)));
    expect(instance.services.live.count()).toBe(5);
    for (const stream of streams) await stream.leave();
    expect(instance.services.live.count()).toBe(0);
  });

  test('is described as one in the API description', async () => {
    const { instance } = await createWorld();
    const document = Bun.YAML.parse((await instance.call('GET', '/openapi.yaml')).text) as {
      paths: Record<string, { get: { operationId: string; responses: Record<string, { content: object }> } }>;
    };
    const { operationId, responses } = document.paths[PATH]!.get;
    expect(operationId).toBe('streamSession');
    expect(Object.keys(responses['200']!.content)).toEqual(['text/event-stream']);
  });
});

/** Another way through the person’s data for each kind of message. */
const KINDS: [kind: GrantKind, before: string[]][] = [
  ['roles', ['user']],
  ['scopes', []],
  ['memberships', []],
];

describe.each(KINDS)('an open stream is told of %s', (kind, initial) => {
  async function withGrants(...slugs: string[]) {
    const world = await createWorld();
    const ids: Record<string, string> = {};
    for (const slug of slugs) ids[slug] = await given.grant(world.instance, kind, world.application.id, slug);
    return { ...world, ids };
  }

  test('that are set: the full set, after additions as after removals', async () => {
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

  test('that are deleted with force, for everyone who holds them and nobody else', async () => {
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

  test('that go by another slug, which takes force', async () => {
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

describe('an open stream is told of the profile', () => {
  test('when an import gives a username: the whole envelope as it is now', async () => {
    const world = await createWorld();
    const stream = await listening(world.instance, world.ada);
    await world.manage('POST', '/users/bulk', { users: [{ email: 'ada@example.com', profile: { username: 'ada' } }] });
    const messages = await stream.told();
    expect(messages).toEqual([{ event: 'profile', data: await envelopeOf(world, world.ada) }]);
    expect(messages[0]!.data.username).toBe('ada');
  });

  test('when an import fills blanks, in every application the person is in', async () => {
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

type Cause = (world: World, sessionId: string) => Promise<unknown>;

const onUser =
  (action: string): Cause =>
  ({ manage, ada }) =>
    manage('POST', `/users/${ada.userId}/${action}`, { reason: 'a reason of the house' });

const lifecycle =
  (kind: string, skipGrace = false): Cause =>
  ({ instance, application }) =>
    given.lifecycle(instance, application.id, { kind, skipGrace });

const ENDINGS: [what: string, reason: string, cause: Cause, refusal: [number, string]][] = [
  [
    'the person signs out',
    'signed_out',
    ({ instance, ada }) => instance.call('DELETE', '/api/v1/session', { token: ada.token }),
    [401, 'revoked'],
  ],
  [
    'an admin ends the session',
    'revoked_by_admin',
    ({ manage, ada }, sessionId) => manage('DELETE', `/users/${ada.userId}/sessions/${sessionId}`),
    [401, 'revoked'],
  ],
  [
    'an admin ends all sessions',
    'revoked_by_admin',
    ({ manage, ada }) => manage('DELETE', `/users/${ada.userId}/sessions`),
    [401, 'revoked'],
  ],
  ['the person is banned', 'banned', onUser('ban'), [403, 'membership_blocked']],
  ['the person is paused', 'paused', onUser('pause'), [403, 'membership_blocked']],
  ['the person is deleted', 'deleted', onUser('delete'), [403, 'membership_blocked']],
  ['the application is archived', 'application.archived', lifecycle('archive'), [401, 'revoked']],
  ['the application is deleted', 'application.deleted', lifecycle('delete'), [401, 'revoked']],
  ['the application is deleted without grace', 'application.hidden', lifecycle('delete', true), [401, 'revoked']],
  [
    'the session expires',
    'expired',
    async ({ instance }) => {
      instance.clock.advance(30 * DAY);
      await instance.services.scheduler.runAll();
    },
    [401, 'expired'],
  ],
];

describe('a stream ends with `revoked`', () => {
  test.each(ENDINGS)('when %s', async (_, reason, cause, refusal) => {
    const world = await createWorld();
    const { instance, ada, application } = world;
    const sessionId = (instance.events(application.id)[0]!.data as { sessionId: string }).sessionId;
    // Two tabs of one session: both are told.
    const streams = [await listening(instance, ada), await listening(instance, ada)];
    await cause(world, sessionId);
    for (const stream of streams) {
      const messages = await stream.told();
      expect(messages).toEqual([{ event: 'revoked', data: { reason } }]);
      expect(stream.isClosed()).toBe(true);
    }
    expect(instance.services.live.count()).toBe(0);
    // Who comes back is refused before any stream.
    const { status, json } = await instance.call('GET', PATH, { token: ada.token });
    expect([status, json.ok, json.error]).toEqual([refusal[0], false, refusal[1]]);
  });

  test('at once when the application is archived, however many sessions come before its own', async () => {
    const world = await createWorld();
    const { instance, application, ada } = world;
    // Earlier than what the switch itself writes down of the trail; nobody goes on with that.
    await instance.services.longWork.stop();
    await given.sessions(instance, application, ada.userId, 150);
    instance.clock.advance(1000);
    const zoe = await instance.signIn(application.clientId, 'zoe@example.com');
    const streams = [await listening(instance, ada), await listening(instance, zoe)];
    await given.lifecycle(instance, application.id, { kind: 'archive' });
    const left = instance.sqlite.query('SELECT count(*) AS n FROM sessions WHERE revoked_at IS NULL').get() as {
      n: number;
    };
    expect(left.n).toBeGreaterThan(0);
    for (const stream of streams)
      expect([await stream.told(), stream.isClosed()]).toEqual([
        [{ event: 'revoked', data: { reason: 'application.archived' } }],
        true,
      ]);
  });

  test('when a member is taken out of the workspace, in the console', async () => {
    const { instance } = await createWorld();
    const byOwner = (await instance.signIn('console', 'owner@example.com')).token;
    const mia = await given.consoleMember(instance, 'mia@example.com', 'member');
    const stream = await listening(instance, mia);
    await instance.call('DELETE', `/api/workspace/members/${mia.memberId}`, { token: byOwner });
    expect(await stream.told()).toEqual([{ event: 'revoked', data: { reason: 'removed_from_workspace' } }]);
    expect(stream.isClosed()).toBe(true);
  });

  test('its own alone: other sessions of the same person go on', async () => {
    const { instance, application, ada } = await createWorld();
    instance.clock.advance(60_000);
    const elsewhere = await instance.signIn(application.clientId, 'ada@example.com');
    const [here, there] = [await listening(instance, ada), await listening(instance, elsewhere)];
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(await here.told()).toEqual([{ event: 'revoked', data: { reason: 'signed_out' } }]);
    expect(await there.told()).toEqual([]);
    expect([here.isClosed(), there.isClosed(), instance.services.live.count()]).toEqual([true, false, 1]);
  });

  test('for each of a person’s sessions when the person is banned', async () => {
    const { instance, application, ada, manage } = await createWorld();
    instance.clock.advance(60_000);
    const elsewhere = await instance.signIn(application.clientId, 'ada@example.com');
    const streams = [await listening(instance, ada), await listening(instance, elsewhere)];
    await manage('POST', `/users/${ada.userId}/ban`, {});
    for (const stream of streams)
      expect([await stream.told(), stream.isClosed()]).toEqual([
        [{ event: 'revoked', data: { reason: 'banned' } }],
        true,
      ]);
  });

  test('not when the service loses sight of it: a change rolled back is told to nobody', async () => {
    const { instance, ada } = await createWorld();
    const stream = await listening(instance, ada);
    given.brokenWrites(instance, 'INSERT ON audit_records');
    const { status } = await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(status).toBe(500);
    expect([await stream.told(), stream.isClosed()]).toEqual([[], false]);
  });
});

describe('a stream does not tell', () => {
  test('of other people', async () => {
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

  test('of the same person in other applications', async () => {
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

  test('of the person’s further sign-ins', async () => {
    const { instance, application, ada } = await createWorld();
    const stream = await listening(instance, ada);
    instance.clock.advance(60_000);
    await instance.signIn(application.clientId, 'ada@example.com');
    expect(await stream.told()).toEqual([]);
  });
});

describe('between its authentication and its snapshot', () => {
  // Another request may be handled while this one is on its way through the pipeline.
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
    // The streams that a change ends are looked through behind it.
    await turns();
    expect(instance.services.live.count()).toBe(0);
  });
});

describe('a stream is refused, before it begins and in the session endpoint’s words,', () => {
  test('to whoever may not have it', async () => {
    const { instance, application, ada, manage } = await createWorld();
    const bea = await instance.signIn(application.clientId, 'bea@example.com');
    const cleo = await instance.signIn(application.clientId, 'cleo@example.com');
    await instance.call('DELETE', '/api/v1/session', { token: bea.token });
    await manage('POST', `/users/${cleo.userId}/pause`, {});
    const cases: [token: string | undefined, status: number, error: string][] = [
      [undefined, 401, 'invalid_token'],
      ['', 401, 'invalid_token'],
      ['nonsense', 401, 'invalid_token'],
      [ada.token.slice(0, -1), 401, 'invalid_token'],
      [instance.workspaceKey, 401, 'invalid_token'],
      [bea.token, 401, 'revoked'],
      [cleo.token, 403, 'membership_blocked'],
    ];
    for (const [token, status, error] of cases) {
      const answer = await instance.call('GET', PATH, { token });
      expect([answer.status, answer.json.ok, answer.json.error]).toEqual([status, false, error]);
      expect(answer.headers.get('content-type')).toStartWith('application/json');
    }
    // Nothing but a bearer: neither a query nor the cookie of our own pages.
    for (const headers of [{ cookie: `gatehouse=${ada.token}` }, { authorization: `Basic ${ada.token}` }] as Record<
      string,
      string
    >[])
      expect((await instance.call('GET', PATH, { headers })).status).toBe(401);
    expect((await instance.call('GET', `${PATH}?token=${ada.token}`)).status).toBe(401);
    instance.clock.advance(30 * DAY);
    expect((await instance.call('GET', PATH, { token: ada.token })).json.error).toBe('expired');
    expect(instance.services.live.count()).toBe(0);
  });

  test('beyond twenty of one session, until one of them is left', async () => {
    const { instance, application, ada } = await createWorld();
    const streams = [];
    for (let open = 0; open < 20; open += 1) streams.push(await listening(instance, ada));
    const refused = await instance.call('GET', PATH, { token: ada.token });
    expect([refused.status, refused.json.ok, refused.json.error]).toEqual([429, false, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // The limit is the session's, not the person's.
    instance.clock.advance(60_000);
    const elsewhere = await instance.signIn(application.clientId, 'ada@example.com');
    await listening(instance, elsewhere);
    expect(instance.services.live.count()).toBe(21);
    await streams[7]!.leave();
    await listening(instance, ada);
    expect((await instance.call('GET', PATH, { token: ada.token })).status).toBe(429);
  });

  test('with another method', async () => {
    const { instance, ada } = await createWorld();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await instance.call(method, PATH, { token: ada.token });
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
    expect(instance.services.live.count()).toBe(0);
  });
});

describe('HEAD', () => {
  const head = async ({ app }: Instance, token: string) => {
    const response = await app.fetch(streamRequest(token, 'HEAD'));
    expect(await response.text()).toBe('');
    return response;
  };

  test('answers as GET would, without a body', async () => {
    const { instance, ada } = await createWorld();
    const { status, headers } = await head(instance, ada.token);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await head(instance, 'nonsense')).status).toBe(401);
  });

  test('leaves no listener behind, however often it is asked', async () => {
    const { instance, ada } = await createWorld();
    for (let ask = 0; ask < 21; ask += 1) expect((await head(instance, ada.token)).status).toBe(200);
    expect(instance.services.live.count()).toBe(0);
    await listening(instance, ada);
  });
});
