import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import type { Answer } from '../../support/instance.ts';
import { createBrowser, fragmentOf } from './browser.ts';
import { createScene, personOf, RETURN_TO, type Scene } from './scene.ts';

const ALL = '/api/account/providers';

/** Signs a person in by code, with an address unknown to the provider. */
async function setUpSignedIn(scene: Scene, email = 'countess@example.com') {
  const { token, userId } = await scene.instance.signIn(scene.application.clientId, email);
  const link = (body: unknown = { returnTo: RETURN_TO }, browser = scene.browser) =>
    browser.visit(ALL, { method: 'POST', token, body });
  const finish = async (claims: Record<string, unknown> = {}): Promise<Answer> => {
    scene.provider.claims = claims;
    return scene.comeBack(scene.provider.agree((await link()).json.data.authorizationUrl));
  };
  const list = async () => (await scene.instance.call('GET', ALL, { token })).json.data.items;
  const remove = (id: string, query = '') => scene.instance.call('DELETE', `${ALL}/${id}${query}`, { token });
  return { token, userId, link, finish, list, remove };
}

const landing = ({ status, headers }: Answer) => [status, headers.get('location')];

describe('a provider connected from the account', () => {
  test('is a sign-in method of that account with any address, and is emitted, recorded and mailed', async () => {
    const scene = await createScene();
    const { userId, finish, list } = await setUpSignedIn(scene);
    const before = scene.count('sessions');
    expect(landing(await finish({ picture: 'https://id.example.com/1.png' }))).toEqual([
      302,
      `${RETURN_TO}#linked=provider`,
    ]);
    expect(scene.count('sessions')).toBe(before);
    expect(await list()).toEqual([
      {
        id: expect.stringMatching(/^idp_/),
        issuer: scene.provider.issuer,
        name: '127.0.0.1',
        email: 'ada@example.com',
        createdAt: '2026-03-02T12:00:00.000Z',
        lastUsedAt: '2026-03-02T12:00:00.000Z',
      },
    ]);
    const { instance, application } = scene;
    const changed = { type: 'user.identity_changed', data: { userId, changed: ['provider'] } };
    expect(instance.events(application.id).at(-1)).toEqual(changed);
    expect(instance.auditKinds(application.id).at(-1)).toBe('provider.linked');
    const mail = instance.sqlite.query('SELECT recipient, subject FROM mails ORDER BY rowid DESC LIMIT 1').get();
    expect(mail).toEqual({
      recipient: 'countess@example.com',
      subject: 'A sign-in provider was connected to your account',
    });
    expect(await personOf(scene, await scene.signIn())).toEqual({ userId, email: 'countess@example.com' });
  });

  test('again succeeds without a second notice', async () => {
    const scene = await createScene();
    const { finish, list } = await setUpSignedIn(scene);
    await finish();
    const before = [scene.count('events'), scene.count('mails')];
    expect(landing(await finish())).toEqual([302, `${RETURN_TO}#linked=provider`]);
    expect([scene.count('events'), scene.count('mails')]).toEqual(before);
    expect(await list()).toHaveLength(1);
  });

  test('is refused if it belongs to another person', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn());
    const { finish, list } = await setUpSignedIn(scene);
    expect(landing(await finish({ picture: 'https://id.example.com/9.png' }))).toEqual([
      302,
      `${RETURN_TO}#error=conflict`,
    ]);
    expect(await list()).toEqual([]);
    expect((await personOf(scene, await scene.signIn())).userId).toBe(userId);
  });

  test('needs the session to be valid when the browser returns', async () => {
    const scene = await createScene();
    const { token, link } = await setUpSignedIn(scene);
    const query = scene.provider.agree((await link()).json.data.authorizationUrl);
    await scene.instance.call('DELETE', '/api/v1/session', { token });
    expect(fragmentOf(await scene.comeBack(query))).toEqual({ error: 'unauthenticated' });
    expect(scene.count('provider_identities')).toBe(0);
  });

  test('returns only in the browser that began it', async () => {
    const scene = await createScene();
    const { link, list } = await setUpSignedIn(scene);
    const started = await link();
    expect(started.headers.get('set-cookie')).toStartWith('gatehouse-flow=ebr_');
    const query = scene.provider.agree(started.json.data.authorizationUrl);
    const victim = createBrowser(scene.instance);
    expect((await scene.comeBack(query, victim)).status).toBe(400);
    expect(await list()).toEqual([]);
    expect(fragmentOf(await scene.comeBack(query))).toEqual({ linked: 'provider' });
  });

  test('ends at the account page without a return URL, and never at an unregistered one', async () => {
    const scene = await createScene();
    const { link } = await setUpSignedIn(scene);
    const query = scene.provider.agree((await link({})).json.data.authorizationUrl);
    expect(landing(await scene.comeBack(query))).toEqual([302, 'http://localhost:8080/account#linked=provider']);
    for (const returnTo of ['https://evil.example', '//evil.example', 'https://shop.example.com@evil.example'])
      expect(await link({ returnTo })).toMatchObject({
        status: 400,
        json: {
          error: 'invalid_request',
          fields: [{ path: 'returnTo', message: expect.stringContaining('return URLs') }],
        },
      });
  });

  test('needs a sign-in of the last ten minutes to connect', async () => {
    const scene = await createScene();
    const { link } = await setUpSignedIn(scene);
    scene.instance.clock.advance(10 * MINUTE);
    const { status, json, headers } = await link();
    expect([status, json.error, headers.get('set-cookie')]).toEqual([403, 'reauthentication_required', null]);
    expect(scene.count('provider_states')).toBe(0);
  });

  test('needs a provider that the application has and allows', async () => {
    const scene = await createScene();
    const { link } = await setUpSignedIn(scene);
    await given.application(scene.instance, scene.application.id, { signinMethods: ['otp'] });
    expect((await link()).json.error).toBe('forbidden');
    const bare = await createScene({
      environment: { GATEHOUSE_GOOGLE_CLIENT_ID: '', GATEHOUSE_GOOGLE_CLIENT_SECRET: '', GATEHOUSE_GOOGLE_ISSUER: '' },
    });
    expect((await (await setUpSignedIn(bare)).link()).json.error).toBe('invalid_state');
  });

  test('an unreachable provider is reported as provider_failed', async () => {
    const scene = await createScene();
    const { link } = await setUpSignedIn(scene);
    await scene.provider.stop();
    const { status, json } = await link();
    expect([status, json.error]).toEqual([502, 'provider_failed']);
  });
});

describe('a disconnected provider', () => {
  test('is no sign-in method any more, which is emitted, recorded and mailed', async () => {
    const scene = await createScene();
    const { userId, finish, list, remove } = await setUpSignedIn(scene);
    await finish();
    const [{ id }] = await list();
    expect((await remove(id)).json.data).toEqual({ id, sessionsEnded: 0 });
    expect(await list()).toEqual([]);
    const { instance, application } = scene;
    const changed = { type: 'user.identity_changed', data: { userId, changed: ['provider'] } };
    expect(instance.events(application.id).at(-1)).toEqual(changed);
    expect(instance.auditKinds(application.id).at(-1)).toBe('provider.unlinked');
    const mail = instance.sqlite.query('SELECT subject FROM mails ORDER BY rowid DESC LIMIT 1').get();
    expect(mail).toEqual({ subject: 'A sign-in provider was disconnected from your account' });
    expect((await personOf(scene, await scene.signIn())).userId).not.toBe(userId);
    expect((await remove(id)).status).toBe(404);
  });

  test('must be the person’s own: another’s is not found', async () => {
    const scene = await createScene();
    const ada = await setUpSignedIn(scene);
    await ada.finish();
    const [{ id }] = await ada.list();
    const mallory = await setUpSignedIn(scene, 'mallory@example.com');
    const missing = await mallory.remove('idp_01h455vb4pex5vsknk084sn02q');
    const foreign = await mallory.remove(id);
    expect([foreign.status, { ...foreign.json, requestId: '' }]).toEqual([404, { ...missing.json, requestId: '' }]);
    expect(await ada.list()).toHaveLength(1);
    expect(await mallory.list()).toEqual([]);
  });

  test('needs a sign-in of the last ten minutes to disconnect', async () => {
    const scene = await createScene();
    const { finish, list, remove } = await setUpSignedIn(scene);
    await finish();
    const [{ id }] = await list();
    scene.instance.clock.advance(10 * MINUTE);
    const { status, json } = await remove(id);
    expect([status, json.error]).toEqual([403, 'reauthentication_required']);
    expect(await list()).toHaveLength(1);
  });

  test('is refused, unless forced, if it is the last sign-in method of a named application', async () => {
    const scene = await createScene();
    const { instance } = scene;
    const { userId, finish, list, remove } = await setUpSignedIn(scene);
    await finish();
    const club = await instance.createApplication({ name: 'Club' });
    await instance.signIn(club.clientId, 'countess@example.com');
    const allow = (...signinMethods: Application['signinMethods']) =>
      given.application(instance, club.id, { signinMethods });
    const [{ id }] = await list();

    await allow('provider', 'passkey');
    const refused = await remove(id);
    expect([refused.status, refused.json.error]).toEqual([409, 'invalid_state']);
    expect(refused.json.message).toContain('Club');
    expect(await list()).toHaveLength(1);

    await given.passkeys(instance, userId);
    expect((await remove(id)).status).toBe(200);

    await finish();
    const [again] = await list();
    await allow('provider');
    expect((await remove(again.id)).status).toBe(409);
    await finish({ sub: 'subject-2' });
    expect((await remove(again.id)).status).toBe(200);
    const [last] = await list();
    expect((await remove(last.id)).status).toBe(409);
    expect((await remove(last.id, '?force=true')).status).toBe(200);
    expect((await remove(last.id, '?force=maybe')).status).toBe(400);
  });
});
