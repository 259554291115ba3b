/** Back-channel logout: which ends of sessions a client is told of, and how its endpoint is kept, retried and released. */
import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import type { JSONWebKeySet } from 'jose';
import { DAY, HOUR, SECOND } from '@/core/clock.ts';
import { MAX_ATTEMPTS } from '@/modules/webhooks/schedule.ts';
import { type GuardedFetch, guardedFetch } from '@/outbound/guarded-fetch.ts';
import * as given from '../../support/given.ts';
import type { Answer, Instance, InstanceOptions } from '../../support/instance.ts';
import { startLogoutReceiver } from '../../support/logout-receiver.ts';
import { deleteAccount } from '../account/account.ts';
import { basic, REVOCATION, sendForm } from '../oauth/scene.ts';
import { managing } from '../users/management.ts';
import { apiOf, closing, input, subscribe, toLoopback } from '../webhooks/scene.ts';
import { claimsIn } from './authorization-scene.ts';
import { createScene, sceneOf } from './scene.ts';

const ISSUER = 'http://localhost:8080';

const published = (instance: Instance) => async (): Promise<JSONWebKeySet> =>
  (await instance.call('GET', '/.well-known/jwks.json')).json;

/** An application with a back-channel logout URI, whose receiver validates each token by the published keys. */
async function setUp(options: InstanceOptions = {}) {
  const scene = await createScene({ mode: 'ephemeral', outbound: toLoopback(), ...options });
  const { instance, application, clientId, configure, flow, settingsPath } = scene;
  const jwks = published(instance);
  const receiver = closing(await startLogoutReceiver({ issuer: ISSUER, clientId, jwks, now: instance.clock.real }));
  const setUri = (uri: string | null) => configure({ backchannelLogoutUri: uri });
  await setUri(receiver.url);

  /** Signs in by the client: its code was exchanged for a session. */
  async function signIn(email = 'ada@example.com') {
    const { accessToken, idToken, person, ...tokens } = await flow(email);
    const sessionId = String(claimsIn(idToken)['sid']);
    return { ...tokens, token: accessToken, userId: person.userId, sessionId, idToken, person };
  }

  /** Ends sessions that a change has outdated, and sends what is due. */
  async function settle(): Promise<void> {
    await instance.services.tasks.runOnce();
    await instance.services.deliveries.runOnce();
  }

  return {
    ...scene,
    receiver,
    api: apiOf(instance, application.id),
    manage: managing(instance, application),
    setUri,
    signIn,
    settle,
    /** Signs in as the application's own pages do, and returns the token. */
    signInWithoutClient: async () => (await instance.signIn(clientId, 'ada@example.com')).token,
    signOut: (token: string) => instance.call('DELETE', '/api/v1/session', { token }),
    async signInAndOut() {
      const session = await signIn();
      await instance.call('DELETE', '/api/v1/session', { token: session.token });
      await settle();
      return session;
    },
    /** Lets the wait before the next attempt pass. */
    async pass(ms: number) {
      instance.clock.advance(ms);
      await instance.services.deliveries.runOnce();
    },
    async backchannel() {
      const { json } = await instance.call('GET', settingsPath, { token: instance.workspaceKey });
      return { uri: json.data.backchannelLogoutUri, status: json.data.backchannelStatus };
    },
    endpointId() {
      const row = instance.sqlite.query("SELECT id FROM webhooks WHERE kind = 'logout' AND removed_at IS NULL").get();
      return (row as { id: string }).id;
    },
  };
}

type Scene = Awaited<ReturnType<typeof setUp>>;
type Session = Awaited<ReturnType<Scene['signIn']>>;

const told = ({ receiver }: Pick<Scene, 'receiver'>) => receiver.received.map(({ sid }) => sid);
const count = ({ sqlite }: Instance, from: string) =>
  (sqlite.query(`SELECT count(*) AS n FROM ${from}`).get() as { n: number }).n;

describe('a logout token is sent', () => {
  test('when the session signs out, as a form with nothing but the token', async () => {
    const scene = await setUp();
    const { userId: sub, sessionId: sid } = await scene.signInAndOut();
    expect(scene.receiver.received).toMatchObject([{ sub, sid, alg: 'RS256', lifetime: 120 }]);
    const headers = Object.keys(scene.receiver.received[0]!.headers);
    expect(headers.filter((name) => name.startsWith('svc-') || name === 'authorization')).toEqual([]);
  });

  test.each<[string, (scene: Scene, session: Session) => Promise<Answer>]>([
    [
      'an operator revokes the session',
      ({ manage }, { userId, sessionId }) => manage('DELETE', `/users/${userId}/sessions/${sessionId}`),
    ],
    [
      'an operator revokes all sessions of the person',
      ({ manage }, { userId }) => manage('DELETE', `/users/${userId}/sessions`),
    ],
    ['the person is banned', ({ manage }, { userId }) => manage('POST', `/users/${userId}/ban`, { body: {} })],
    ['the person is paused', ({ manage }, { userId }) => manage('POST', `/users/${userId}/pause`, { body: {} })],
    [
      'the person ends it on the account page',
      ({ application }, { person, sessionId }) =>
        person.browser.account(application, 'DELETE', `/api/account/sessions/${sessionId}`),
    ],
    [
      'the person signs out everywhere else',
      ({ application }, { person }) => person.browser.account(application, 'DELETE', '/api/account/sessions'),
    ],
    ['the person signs out of the hosted pages', ({ application }, { person }) => person.browser.signOut(application)],
    [
      'the person deletes the account',
      async ({ instance, signInWithoutClient }, { userId }) =>
        deleteAccount(instance, { token: await signInWithoutClient(), userId }, 'ada@example.com'),
    ],
    [
      'the client ends it by its ID token',
      (_, { person, idToken }) => person.browser.visit(`/oauth/end-session?id_token_hint=${idToken}`),
    ],
    [
      'the client revokes its token',
      ({ instance, shown }, { token }) => sendForm(instance, REVOCATION, { token }, basic(shown)),
    ],
  ])('when %s', async (_, end) => {
    const scene = await setUp();
    const session = await scene.signIn();
    expect((await end(scene, session)).status).toBe(200);
    await scene.settle();
    expect(scene.receiver.received).toMatchObject([{ sub: session.userId, sid: session.sessionId }]);
  });

  test('when a refresh token is used twice', async () => {
    const scene = await setUp();
    const { refreshToken, sessionId } = await scene.signIn();
    await scene.refresh(refreshToken);
    expect((await scene.refresh(refreshToken)).status).toBe(400);
    await scene.settle();
    expect(told(scene)).toEqual([sessionId]);
  });

  test('under the same session id after a refresh', async () => {
    const scene = await setUp();
    const { refreshToken, sessionId } = await scene.signIn();
    const { json } = await scene.refresh(refreshToken);
    await scene.signOut(json.access_token);
    await scene.settle();
    expect(told(scene)).toEqual([sessionId]);
  });

  test('for each session of the person, and for nobody else', async () => {
    const scene = await setUp();
    const [first, second] = [await scene.signIn(), await scene.signIn()];
    await scene.signIn('bob@example.com');
    await scene.manage('POST', `/users/${first.userId}/ban`, { body: {} });
    await scene.settle();
    expect(told(scene).toSorted()).toEqual([first.sessionId, second.sessionId].toSorted());
  });

  test('signed with the algorithm that the client has chosen', async () => {
    const scene = await setUp();
    await scene.configure({ idTokenAlg: 'EdDSA' });
    await scene.signInAndOut();
    expect(scene.receiver.received.map(({ alg }) => alg)).toEqual(['EdDSA']);
  });

  test('when OpenID is switched off, signed as the client had chosen', async () => {
    const scene = await setUp();
    const { instance, settingsPath, receiver, configure } = scene;
    await configure({ idTokenAlg: 'EdDSA' });
    const { sessionId: sid } = await scene.signIn();
    await instance.call('DELETE', settingsPath, { token: instance.workspaceKey });
    await scene.settle();
    expect(receiver.received).toMatchObject([{ sid, alg: 'EdDSA' }]);
  });

  test('by a sibling of the instance, with the same keys', async () => {
    const scene = await setUp();
    const sibling = await scene.instance.sibling({ outbound: toLoopback() });
    const { token, sessionId } = await scene.signIn();
    await sibling.call('DELETE', '/api/v1/session', { token });
    await sibling.services.deliveries.runOnce();
    expect(told(scene)).toEqual([sessionId]);
  });
});

describe('no logout token is sent', () => {
  test('for a session that no client got', async () => {
    const scene = await setUp();
    await scene.signOut(await scene.signInWithoutClient());
    await scene.settle();
    expect(told(scene)).toEqual([]);
    expect(count(scene.instance, 'deliveries')).toBe(0);
  });

  test('for a session that expires', async () => {
    const scene = await setUp();
    await scene.signIn();
    scene.instance.clock.advance(400 * DAY);
    await scene.instance.services.scheduler.runAll();
    await scene.settle();
    const types = scene.instance.events(scene.application.id).map(({ type }) => type);
    expect(types).toContain('user.session_expired');
    expect(told(scene)).toEqual([]);
  });

  test('of another application', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const forum = await sceneOf(instance, await instance.createApplication({ name: 'Forum' }));
    await scene.signOut((await forum.flow()).accessToken);
    await scene.settle();
    expect(told(scene)).toEqual([]);
  });

  test('once the URI is removed, which deletes what waits', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 500 }));
    await scene.signInAndOut();
    await scene.setUri(null);
    await scene.instance.services.tasks.runOnce();
    await scene.pass(HOUR);
    await scene.signInAndOut();
    expect(told(scene)).toHaveLength(1);
    expect(await scene.backchannel()).toEqual({ uri: null, status: null });
    expect([count(scene.instance, 'webhooks'), count(scene.instance, 'deliveries')]).toEqual([0, 0]);
    expect((await scene.setUri(null)).status).toBe(200);
  });

  test('to an address that this server may not reach', async () => {
    const resolved: string[] = [];
    const outbound: GuardedFetch = guardedFetch({
      allowed: new BlockList(),
      isLoopbackAllowed: false,
      async resolve(name) {
        resolved.push(name);
        return ['10.0.0.7'];
      },
    });
    const scene = await setUp({ outbound });
    await scene.setUri('https://intranet.example.com/logout');
    await scene.signInAndOut();
    const attempts = scene.instance.sqlite
      .query('SELECT error_class AS "errorClass", status_code AS "statusCode" FROM delivery_attempts')
      .all();
    expect(attempts).toEqual([{ errorClass: 'refused', statusCode: null }]);
    expect(resolved).toEqual(['intranet.example.com']);
  });
});

describe('a failed delivery', () => {
  test('is retried with a token of its own, until it succeeds', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 503 }));
    const { sessionId } = await scene.signInAndOut();
    await scene.pass(20 * SECOND);
    scene.receiver.answerWith(() => ({ status: 204 }));
    await scene.pass(HOUR);
    await scene.pass(DAY);
    expect(told(scene)).toEqual([sessionId, sessionId, sessionId]);
    expect(new Set(scene.receiver.received.map(({ jti }) => jti)).size).toBe(3);
  });

  test('goes to the address that is set meanwhile', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 503 }));
    const { sessionId } = await scene.signInAndOut();
    const { instance, clientId } = scene;
    const options = { issuer: ISSUER, clientId, jwks: published(instance), now: instance.clock.real };
    const moved = closing(await startLogoutReceiver(options));
    await scene.setUri(moved.url);
    await scene.pass(20 * SECOND);
    expect([told(scene).length, told({ receiver: moved })]).toEqual([1, [sessionId]]);
  });

  test('follows no redirect', async () => {
    const scene = await setUp();
    scene.receiver.answerWith(() => ({ status: 307, headers: { location: scene.receiver.url } }));
    await scene.signInAndOut();
    expect(told(scene)).toHaveLength(1);
  });

  test('puts the endpoint into quarantine after the last attempt; the URI set again releases what it holds', async () => {
    const scene = await setUp();
    const { receiver, settle } = scene;
    receiver.answerWith(() => ({ status: 500 }));
    await scene.signInAndOut();
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) await scene.pass(4 * DAY);
    expect(told(scene)).toHaveLength(MAX_ATTEMPTS);
    expect(await scene.backchannel()).toEqual({ uri: receiver.url, status: 'quarantined' });
    const mails = scene.instance.sqlite.query(
      "SELECT recipient, text FROM mails WHERE subject = 'Sign-outs of Shop cannot be delivered'",
    );
    expect(mails.all()).toEqual([
      { recipient: 'owner@example.com', text: expect.stringContaining('in the OpenID settings of Shop') },
    ]);

    const held = await scene.signInAndOut();
    await scene.configure();
    await settle();
    expect(told(scene)).toHaveLength(MAX_ATTEMPTS);

    receiver.answerWith(() => ({ status: 200 }));
    await scene.setUri(receiver.url);
    expect(await scene.backchannel()).toEqual({ uri: receiver.url, status: 'active' });
    await settle();
    expect(told(scene).slice(MAX_ATTEMPTS)).toEqual([held.sessionId]);
  });

  test('is dropped after a month of quarantine, without a mail', async () => {
    const scene = await setUp();
    const { instance, receiver } = scene;
    receiver.answerWith(() => ({ status: 410 }));
    for (let times = 0; times < 2; times += 1) await scene.signInAndOut();
    const waiting = () => count(instance, "deliveries WHERE status = 'pending'");
    expect(waiting()).toBe(1);
    for (let days = 0; days < 40; days += 5) {
      instance.clock.advance(5 * DAY);
      await instance.services.scheduler.runAll();
      await instance.services.tasks.runOnce();
    }
    expect(waiting()).toBe(0);
    expect(count(instance, "mails WHERE text LIKE '%/webhooks/%'")).toBe(0);
  });
});

describe('a back-channel logout URI', () => {
  test('is changed in place, and belongs to one application', async () => {
    const scene = await setUp();
    const { instance, receiver } = scene;
    const id = scene.endpointId();
    expect(await scene.backchannel()).toEqual({ uri: receiver.url, status: 'active' });
    await scene.setUri(`${receiver.url}?tenant=1`);
    expect(await scene.backchannel()).toEqual({ uri: `${receiver.url}?tenant=1`, status: 'active' });
    expect(scene.endpointId()).toBe(id);

    const { application, workspaceKey } = await given.tenant(instance);
    const other = await sceneOf(instance, application, workspaceKey);
    const set = await other.configure({ backchannelLogoutUri: receiver.url });
    expect(set.json.data).toMatchObject({ backchannelLogoutUri: receiver.url, backchannelStatus: 'active' });
    expect(await scene.backchannel()).toEqual({ uri: `${receiver.url}?tenant=1`, status: 'active' });
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
    const { instance, configure } = await createScene();
    const refused = await configure({ backchannelLogoutUri: uri });
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
    expect(refused.json.fields.map(({ path }: { path: string }) => path)).toEqual(['backchannelLogoutUri']);
    expect(count(instance, 'webhooks')).toBe(0);
  });

  test('may be private where the operator allows it', async () => {
    const { configure } = await createScene({ environment: { GATEHOUSE_ALLOW_CIDRS: '10.0.0.0/8' } });
    expect((await configure({ backchannelLogoutUri: 'http://10.1.2.3/logout' })).status).toBe(200);
  });

  test('is no webhook to any operation', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    await scene.signInAndOut();
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
    expect(await scene.backchannel()).toMatchObject({ status: 'active' });
  });

  test('takes no place among the webhooks, and its attempts do not count as theirs', async () => {
    const scene = await setUp();
    const { instance, api, manage } = scene;
    const { receiver } = await subscribe(scene, ['user.signed_out']);
    await scene.signInAndOut();
    expect([receiver.received.length, told(scene).length]).toEqual([1, 1]);
    await instance.services.flushAll();
    const { webhooks } = (await manage('GET', '/stats')).json.data;
    expect(webhooks).toMatchObject({ delivered: 1, failedAttempts: 0, endpoints: [{ delivered: 1 }] });
    for (let made = 1; made < 20; made += 1) expect((await api.create(input())).status).toBe(200);
    expect((await api.create(input())).status).toBe(409);
  });

  test('in quarantine is not listed among the webhooks of the workspace', async () => {
    const scene = await setUp();
    const { instance } = scene;
    scene.receiver.answerWith(() => ({ status: 410 }));
    await scene.signInAndOut();
    expect(await scene.backchannel()).toMatchObject({ status: 'quarantined' });
    const { token } = await instance.signIn('console', 'owner@example.com');
    const { json } = await instance.call('GET', '/api/workspace/health', { token });
    expect(json.data.quarantined).toEqual([]);
  });
});
