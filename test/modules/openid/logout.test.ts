/** Back-channel logout: which ends of sessions a client is told of, and how its endpoint is kept, retried and released. */
import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import type { JSONWebKeySet } from 'jose';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR, SECOND } from '@/core/clock.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import { backchannelLogout } from '@/modules/openid/backchannel.ts';
import { MAX_ATTEMPTS } from '@/modules/webhooks/schedule.ts';
import { type GuardedFetch, guardedFetch } from '@/outbound/guarded-fetch.ts';
import type { Application } from '@/store/applications.ts';
import { type OAuthClientSettings, saveOAuthClient } from '@/store/oauth-clients.ts';
import { insertOAuthGrant } from '@/store/oauth-grants.ts';
import * as given from '../../support/given.ts';
import type { Instance } from '../../support/instance.ts';
import { startLogoutReceiver } from '../../support/logout-receiver.ts';
import { deleteAccount } from '../account/account.ts';
import { managing } from '../users/management.ts';
import {
  apiOf,
  closing,
  input,
  quarantineMails,
  setUp as setUpWebhooks,
  subscribe,
  toLoopback,
} from '../webhooks/scene.ts';

const ISSUER = 'http://localhost:8080';

/** The service as this instance's settings make it; an ephemeral instance may send to loopback. */
const logoutOf = ({ config }: Instance, allowedCidrs = new BlockList()) =>
  backchannelLogout({
    random: systemRandom,
    instanceKey: instanceKey(systemRandom.bytes(32)),
    isLoopbackAllowed: config.mode === 'ephemeral',
    allowedCidrs,
  });

async function setUri(instance: Instance, { id }: Application, uri: string | null): Promise<void> {
  const change = await logoutOf(instance).prepare(uri);
  await instance.db.write(SYSTEM_ACTOR, (unit) => change(unit, id));
}

const describeOf = (instance: Instance, { id }: Application) => logoutOf(instance).describe(instance.db.reader, id);

/** Makes an application an OpenID client. */
async function becomeClient(
  instance: Instance,
  { id, clientId }: Application,
  settings: Partial<OAuthClientSettings> = {},
): Promise<void> {
  await instance.db.write(SYSTEM_ACTOR, (unit) =>
    saveOAuthClient(unit, {
      clientId,
      applicationId: id,
      kind: 'confidential',
      redirectUris: ['https://shop.example.com/callback'],
      postLogoutRedirectUris: [],
      idTokenAlg: 'RS256',
      jwks: null,
      ...settings,
    }),
  );
}

const published =
  ({ sqlite }: Instance) =>
  (): JSONWebKeySet => ({
    keys: (sqlite.query('SELECT public_jwk FROM signing_keys').all() as { public_jwk: string }[]).map(
      ({ public_jwk }) => JSON.parse(public_jwk),
    ),
  });

/** An application with a back-channel logout URI, whose receiver validates each token. */
async function setUp({
  settings,
  ...options
}: Parameters<typeof setUpWebhooks>[0] & { settings?: Partial<OAuthClientSettings> } = {}) {
  const { instance, application, api } = await setUpWebhooks(options);
  await becomeClient(instance, application, settings);
  const receiver = closing(
    await startLogoutReceiver({
      issuer: ISSUER,
      clientId: application.clientId,
      jwks: published(instance),
      now: instance.clock.real,
    }),
  );
  await setUri(instance, application, receiver.url);
  return {
    instance,
    application,
    api,
    receiver,
    manage: managing(instance, application),
    /** Ends sessions that a change has outdated, and sends what is due. */
    async settle() {
      await instance.services.tasks.runOnce();
      await instance.services.deliveries.runOnce();
    },
    /** Lets the wait before the next attempt pass. */
    async pass(ms: number) {
      instance.clock.advance(ms);
      await instance.services.deliveries.runOnce();
    },
    endpointId: () =>
      (
        instance.sqlite.query("SELECT id FROM webhooks WHERE kind = 'logout' AND removed_at IS NULL").get() as {
          id: string;
        }
      ).id,
  };
}

type Scene = Awaited<ReturnType<typeof setUp>>;

/** Signs in without a client, as by the application's own pages. */
async function signIn({ instance, application }: Pick<Scene, 'instance' | 'application'>, email = 'ada@example.com') {
  const { token, userId } = await instance.signIn(application.clientId, email);
  const signedIn = instance.events(application.id).findLast(({ type }) => type === 'user.signed_in');
  return { token, userId, sessionId: (signedIn!.data as { sessionId: string }).sessionId };
}

/** Signs in as a client's code exchange does: the session has a grant. */
async function signInByClient(scene: Pick<Scene, 'instance' | 'application'>, email?: string) {
  const { instance, application } = scene;
  const session = await signIn(scene, email);
  const { sessionId } = session;
  const { memberId } = instance.sqlite
    .query('SELECT application_user_id AS "memberId" FROM sessions WHERE id = ?')
    .get(sessionId) as { memberId: string };
  await instance.db.write(SYSTEM_ACTOR, (unit) =>
    insertOAuthGrant(unit, {
      sessionId,
      clientId: application.clientId,
      applicationUserId: memberId,
      pageSessionId: 'ses_page',
      scope: 'openid',
      expiresAt: unit.now + DAY,
    }),
  );
  return session;
}

const ended = ({ receiver }: Pick<Scene, 'receiver'>) => receiver.received.map(({ sub, sid }) => ({ sub, sid }));

describe('a logout token is sent', () => {
  test('when the session signs out, as a form with nothing but the token', async () => {
    const scene = await setUp();
    const { token, userId: sub, sessionId: sid } = await signInByClient(scene);
    expect((await scene.instance.call('DELETE', '/api/v1/session', { token })).status).toBe(200);
    await scene.settle();
    expect(ended(scene)).toEqual([{ sub, sid }]);
    const [{ headers, alg, lifetime }] = scene.receiver.received as [(typeof scene.receiver.received)[0]];
    expect({ alg, lifetime }).toEqual({ alg: 'RS256', lifetime: 120 });
    expect(Object.keys(headers).filter((name) => name.startsWith('svc-') || name === 'authorization')).toEqual([]);
  });

  test.each([
    [
      'an operator revokes the session',
      ({ manage }: Scene, { userId, sessionId }: Session) => manage('DELETE', `/users/${userId}/sessions/${sessionId}`),
    ],
    [
      'an operator revokes all sessions of the person',
      ({ manage }: Scene, { userId }: Session) => manage('DELETE', `/users/${userId}/sessions`),
    ],
    [
      'the person is banned',
      ({ manage }: Scene, { userId }: Session) => manage('POST', `/users/${userId}/ban`, { body: {} }),
    ],
    [
      'the person ends it on the account page',
      async ({ instance, application }: Scene, { sessionId }: Session) => {
        const { token } = await signIn({ instance, application });
        return instance.call('DELETE', `/api/account/sessions/${sessionId}`, { token });
      },
    ],
    [
      'the person signs out everywhere else',
      async ({ instance, application }: Scene) => {
        const { token } = await signIn({ instance, application });
        return instance.call('DELETE', '/api/account/sessions', { token });
      },
    ],
    [
      'the person deletes the account',
      ({ instance }: Scene, person: Session) => deleteAccount(instance, person, 'ada@example.com'),
    ],
  ])('when %s', async (_, end) => {
    const scene = await setUp();
    const session = await signInByClient(scene);
    expect((await end(scene, session)).status).toBe(200);
    await scene.settle();
    expect(ended(scene)).toEqual([{ sub: session.userId, sid: session.sessionId }]);
  });

  test('for each session of the person, and for nobody else', async () => {
    const scene = await setUp();
    const [first, second] = [await signInByClient(scene), await signInByClient(scene)];
    await signInByClient(scene, 'bob@example.com');
    await scene.manage('POST', `/users/${first.userId}/ban`, { body: {} });
    await scene.settle();
    const sids = scene.receiver.received.map(({ sid }) => sid);
    expect(sids.toSorted()).toEqual([first.sessionId, second.sessionId].toSorted());
  });

  test('signed with the algorithm that the client has chosen', async () => {
    const scene = await setUp({ settings: { idTokenAlg: 'EdDSA' } });
    const { token } = await signInByClient(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect(scene.receiver.received.map(({ alg }) => alg)).toEqual(['EdDSA']);
  });

  test('by a sibling of the instance, with the same keys', async () => {
    const scene = await setUp();
    const sibling = await scene.instance.sibling({ outbound: toLoopback() });
    const { token, sessionId } = await signInByClient(scene);
    await sibling.call('DELETE', '/api/v1/session', { token });
    await sibling.services.deliveries.runOnce();
    expect(scene.receiver.received.map(({ sid }) => sid)).toEqual([sessionId]);
  });
});

type Session = Awaited<ReturnType<typeof signIn>>;

describe('no logout token is sent', () => {
  test('for a session that no client got', async () => {
    const scene = await setUp();
    const { token } = await signIn(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect(scene.receiver.received).toEqual([]);
    expect(scene.instance.sqlite.query('SELECT count(*) AS n FROM deliveries').get()).toEqual({ n: 0 });
  });

  test('for a session that expires', async () => {
    const scene = await setUp();
    await signInByClient(scene);
    scene.instance.clock.advance(400 * DAY);
    await scene.instance.services.scheduler.runAll();
    await scene.settle();
    const types = scene.instance.events(scene.application.id).map(({ type }) => type);
    expect(types).toContain('user.session_expired');
    expect(scene.receiver.received).toEqual([]);
  });

  test('to another application', async () => {
    const scene = await setUp();
    const other = await scene.instance.createApplication({ name: 'Other' });
    await becomeClient(scene.instance, other);
    const { token } = await signInByClient({ instance: scene.instance, application: other });
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect(scene.receiver.received).toEqual([]);
  });

  test('once the URI is removed, which deletes what waits', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 500 }));
    const { token } = await signInByClient(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    await setUri(scene.instance, scene.application, null);
    await scene.instance.services.tasks.runOnce();
    await scene.pass(HOUR);
    expect(scene.receiver.received).toHaveLength(1);
    expect(await describeOf(scene.instance, scene.application)).toBeNull();
    expect(scene.instance.sqlite.query('SELECT count(*) AS n FROM webhooks').get()).toEqual({ n: 0 });
    // Removing it again changes nothing.
    await setUri(scene.instance, scene.application, null);
  });

  test('to an address that this server may not reach', async () => {
    const sent: string[] = [];
    const recording: GuardedFetch = guardedFetch({
      allowed: new BlockList(),
      isLoopbackAllowed: false,
      resolve: async (name) => {
        sent.push(name);
        return ['10.0.0.7'];
      },
    });
    const scene = await setUp({ outbound: recording });
    await setUri(scene.instance, scene.application, 'https://intranet.example.com/logout');
    const { token } = await signInByClient(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    const attempts = scene.instance.sqlite
      .query('SELECT error_class AS "errorClass", status_code AS "statusCode" FROM delivery_attempts')
      .all();
    expect(attempts).toEqual([{ errorClass: 'refused', statusCode: null }]);
    expect(sent).toEqual(['intranet.example.com']);
  });
});

describe('a failed delivery', () => {
  test('is retried with a token of its own, until it succeeds', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 503 }));
    const { token, sessionId } = await signInByClient(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    await scene.pass(20 * SECOND);
    scene.receiver.answerWith(() => ({ status: 204 }));
    await scene.pass(HOUR);
    await scene.pass(DAY);
    const { received } = scene.receiver;
    expect(received.map(({ sid }) => sid)).toEqual([sessionId, sessionId, sessionId]);
    expect(new Set(received.map(({ jti }) => jti)).size).toBe(3);
  });

  test('is not followed by a redirect', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 307, headers: { location: scene.receiver.url } }));
    const { token } = await signInByClient(scene);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect(scene.receiver.received).toHaveLength(1);
  });

  test('puts the endpoint into quarantine after the last attempt; the same URI set again releases what it holds', async () => {
    const scene = await setUp();
    const { instance, application, receiver } = scene;
    receiver.answerWith(() => ({ status: 500 }));
    const lost = await signInByClient(scene);
    await instance.call('DELETE', '/api/v1/session', { token: lost.token });
    await scene.settle();
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) await scene.pass(4 * DAY);
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);
    expect(await describeOf(instance, application)).toEqual({ uri: receiver.url, status: 'quarantined' });
    expect(quarantineMails(scene)).toEqual(['owner@example.com']);

    const held = await signInByClient(scene);
    await instance.call('DELETE', '/api/v1/session', { token: held.token });
    await scene.settle();
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);

    receiver.answerWith(() => ({ status: 200 }));
    await setUri(instance, application, receiver.url);
    expect(await describeOf(instance, application)).toEqual({ uri: receiver.url, status: 'active' });
    await scene.settle();
    expect(receiver.received.slice(MAX_ATTEMPTS).map(({ sid }) => sid)).toEqual([held.sessionId]);
  });

  test('is dropped after a month of quarantine, without a mail', async () => {
    const scene = await setUp();
    const { instance, receiver } = scene;
    receiver.answerWith(() => ({ status: 410 }));
    for (let held = 0; held < 2; held += 1) {
      const { token } = await signInByClient(scene);
      await instance.call('DELETE', '/api/v1/session', { token });
      await scene.settle();
    }
    const waiting = () =>
      (instance.sqlite.query("SELECT count(*) AS n FROM deliveries WHERE status = 'pending'").get() as { n: number }).n;
    expect(waiting()).toBe(1);
    for (let days = 0; days < 40; days += 5) {
      instance.clock.advance(5 * DAY);
      await instance.services.scheduler.runAll();
      await instance.services.tasks.runOnce();
    }
    expect(waiting()).toBe(0);
    const { n } = instance.sqlite.query("SELECT count(*) AS n FROM mails WHERE text LIKE '%/webhooks/%'").get() as {
      n: number;
    };
    expect(n).toBe(0);
  });
});

describe('a back-channel logout URI', () => {
  test('is described, and changed in place with what waits for it', async () => {
    const scene = await setUp();
    const { instance, application, receiver } = scene;
    const id = scene.endpointId();
    expect(await describeOf(instance, application)).toEqual({ uri: receiver.url, status: 'active' });
    await setUri(instance, application, `${receiver.url}?tenant=1`);
    expect(await describeOf(instance, application)).toEqual({ uri: `${receiver.url}?tenant=1`, status: 'active' });
    expect(scene.endpointId()).toBe(id);
    expect(await describeOf(instance, await instance.createApplication({ name: 'Other' }))).toBeNull();
  });

  test.each([
    'http://shop.example.com/logout',
    'https://shop.example.com/logout#top',
    'https://ada:secret@shop.example.com/logout',
    'https://127.0.0.1/logout',
    'https://10.1.2.3/logout',
    'https://shop.example.com:25/logout',
    'javascript:alert(1)',
    '/logout',
    '',
  ])('is not %p', async (uri) => {
    const { instance, application } = await setUpWebhooks({ mode: 'normal' });
    await expect(setUri(instance, application, uri)).rejects.toMatchObject({
      code: 'invalid_request',
      fields: [{ path: 'backchannelLogoutUri' }],
    });
  });

  test('may be private where the operator allows it', async () => {
    const { instance } = await setUpWebhooks({ mode: 'normal' });
    const allowed = new BlockList();
    allowed.addSubnet('10.0.0.0', 8, 'ipv4');
    expect(await logoutOf(instance, allowed).prepare('http://10.1.2.3/logout')).toBeFunction();
  });

  test('is no webhook to any operation', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const { token } = await signInByClient(scene);
    await instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    const id = scene.endpointId();
    const delivery = (instance.sqlite.query('SELECT id FROM deliveries').get() as { id: string }).id;
    const since = new Date(instance.clock.now() - HOUR).toISOString();
    const answers = [
      api.get(id),
      api.patch(id, { status: 'disabled' }),
      api.remove(id),
      api.rotateSecret(id),
      api.test(id),
      api.performance(id),
      api.countReplay(id, since),
      api.replay(id, since),
      api.release(id),
      api.deliveries(id),
      api.delivery(id, delivery),
      api.redeliver(id, delivery),
    ];
    for (const answer of answers) expect((await answer).status).toBe(404);
    expect((await api.list()).json.data.items).toEqual([]);
    expect(await describeOf(instance, application)).toMatchObject({ status: 'active' });
  });

  test('takes no place among the webhooks, and its attempts do not count as theirs', async () => {
    const scene = await setUp();
    const { instance, api, manage } = scene;
    const { receiver } = await subscribe(scene, ['user.signed_out']);
    const { token } = await signInByClient(scene);
    await instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect([receiver.received.length, scene.receiver.received.length]).toEqual([1, 1]);
    await instance.services.flushAll();
    const { webhooks } = (await manage('GET', '/stats')).json.data;
    expect(webhooks).toMatchObject({ delivered: 1, failedAttempts: 0, endpoints: [{ delivered: 1 }] });
    for (let count = 1; count < 20; count += 1) expect((await api.create(input())).status).toBe(200);
    expect((await api.create(input())).status).toBe(409);
  });

  test('in quarantine is not listed among the webhooks of the workspace', async () => {
    const scene = await setUp();
    const { instance } = scene;
    scene.receiver.answerWith(() => ({ status: 410 }));
    const { token } = await signInByClient(scene);
    await instance.call('DELETE', '/api/v1/session', { token });
    await scene.settle();
    expect(await describeOf(instance, scene.application)).toMatchObject({ status: 'quarantined' });
    const owner = await instance.signIn('console', 'owner@example.com');
    const { json } = await instance.call('GET', '/api/workspace/health', { token: owner.token });
    expect(json.data.quarantined).toEqual([]);
  });

  test('belongs to one application: two have one each', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const other = await given.tenant(instance);
    await setUri(instance, other.application, scene.receiver.url);
    await setUri(instance, scene.application, null);
    expect(await describeOf(instance, other.application)).toMatchObject({ uri: scene.receiver.url });
    expect((await apiOf(instance, other.application.id, other.workspaceKey).list()).json.data.items).toEqual([]);
  });
});
