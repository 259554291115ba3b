/** How the event stream of a session ends, and when it is refused. */
import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { PATH } from './listen.ts';
import { createWorld, listening, type World } from './world.ts';

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

describe('a session stream ends with `revoked`', () => {
  test.each(ENDINGS)('when %s', async (_, reason, cause, refusal) => {
    const world = await createWorld();
    const { instance, ada, application } = world;
    const sessionId = (instance.events(application.id)[0]!.data as { sessionId: string }).sessionId;
    // Two tabs of one session are both notified.
    const streams = [await listening(instance, ada), await listening(instance, ada)];
    await cause(world, sessionId);
    for (const stream of streams) {
      const messages = await stream.told();
      expect(messages).toEqual([{ event: 'revoked', data: { reason } }]);
      expect(stream.isClosed()).toBe(true);
    }
    expect(instance.services.live.count()).toBe(0);
    // A reconnection is refused before a stream begins.
    const { status, json } = await instance.call('GET', PATH, { token: ada.token });
    expect([status, json.ok, json.error]).toEqual([refusal[0], false, refusal[1]]);
  });

  test('at once when the application is archived, with any number of other sessions', async () => {
    const world = await createWorld();
    const { instance, application, ada } = world;
    // These sessions come first in the background task, which is stopped here.
    await instance.services.tasks.stop();
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

  test('when a member is removed from the workspace, in the console', async () => {
    const { instance } = await createWorld();
    const byOwner = (await instance.signIn('console', 'owner@example.com')).token;
    const mia = await given.consoleMember(instance, 'mia@example.com', 'member');
    const stream = await listening(instance, mia);
    await instance.call('DELETE', `/api/workspace/members/${mia.memberId}`, { token: byOwner });
    expect(await stream.told()).toEqual([{ event: 'revoked', data: { reason: 'removed_from_workspace' } }]);
    expect(stream.isClosed()).toBe(true);
  });

  test('for its own session only, not for others of the person', async () => {
    const { instance, application, ada } = await createWorld();
    instance.clock.advance(60_000);
    const elsewhere = await instance.signIn(application.clientId, 'ada@example.com');
    const [here, there] = [await listening(instance, ada), await listening(instance, elsewhere)];
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(await here.told()).toEqual([{ event: 'revoked', data: { reason: 'signed_out' } }]);
    expect(await there.told()).toEqual([]);
    expect([here.isClosed(), there.isClosed(), instance.services.live.count()]).toEqual([true, false, 1]);
  });

  test('for all sessions of a banned person', async () => {
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

  test('only after the commit: a change that was rolled back ends no stream', async () => {
    const { instance, ada } = await createWorld();
    const stream = await listening(instance, ada);
    given.brokenWrites(instance, 'INSERT ON audit_records');
    const { status } = await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(status).toBe(500);
    expect([await stream.told(), stream.isClosed()]).toEqual([[], false]);
  });
});

describe('a session stream is refused, as the session endpoint would,', () => {
  test('to callers without a valid session', async () => {
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
      [`${instance.workspaceKey}x`, 401, 'invalid_token'],
      [bea.token, 401, 'revoked'],
      [cleo.token, 403, 'membership_blocked'],
    ];
    for (const [token, status, error] of cases) {
      const answer = await instance.call('GET', PATH, { token });
      expect([answer.status, answer.json.ok, answer.json.error]).toEqual([status, false, error]);
      expect(answer.headers.get('content-type')).toStartWith('application/json');
    }
    // Only a bearer token is accepted, not a query parameter or a session cookie.
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

  test('beyond twenty per session, until one of them is closed', async () => {
    const { instance, application, ada } = await createWorld();
    const streams = [];
    for (let open = 0; open < 20; open += 1) streams.push(await listening(instance, ada));
    const refused = await instance.call('GET', PATH, { token: ada.token });
    expect([refused.status, refused.json.ok, refused.json.error]).toEqual([429, false, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // The limit applies to the session, not to the person.
    instance.clock.advance(60_000);
    const elsewhere = await instance.signIn(application.clientId, 'ada@example.com');
    await listening(instance, elsewhere);
    expect(instance.services.live.count()).toBe(21);
    await streams[7]!.leave();
    await listening(instance, ada);
    expect((await instance.call('GET', PATH, { token: ada.token })).status).toBe(429);
  });

  test('for other methods', async () => {
    const { instance, ada } = await createWorld();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await instance.call(method, PATH, { token: ada.token });
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
    expect(instance.services.live.count()).toBe(0);
  });
});
