/** OpenID is switched off for an application: what its client may still do, and which sessions end. */
import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import * as given from '../../support/given.ts';
import { createScene, sceneOf } from './scene.ts';

async function setUp() {
  const scene = await createScene();
  const { instance, application, settingsPath } = scene;
  return {
    ...scene,
    switchOff: (token: string | undefined = instance.workspaceKey) => instance.call('DELETE', settingsPath, { token }),
    settings: async () => (await instance.call('GET', settingsPath, { token: instance.workspaceKey })).json.data,
    timesAudited: () =>
      instance.auditKinds(application.id).filter((kind) => kind === 'application.openid_ended').length,
  };
}

describe('once OpenID is switched off', () => {
  test('the client, its codes and its refresh tokens are refused at once, and the settings are as before the first change', async () => {
    const { switchOff, settings, flow, authorize, exchange, refresh, ask, configure } = await setUp();
    await configure({ clientType: 'confidential', idTokenAlg: 'EdDSA', backchannelLogoutUri: 'https://a.example/out' });
    const { person, refreshToken } = await flow();
    const code = await authorize(person);
    const { status, json } = await switchOff();
    expect([status, json.data]).toEqual([200, await settings()]);
    expect(json.data).toMatchObject({
      redirectUris: [],
      idTokenAlg: 'RS256',
      backchannelLogoutUri: null,
      updatedAt: null,
    });
    for (const answer of [await exchange(code), await refresh(refreshToken)])
      expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
    expect((await ask(person.browser)).status).toBe(404);
  });

  test('the sessions that the client got end, and the others go on', async () => {
    const { instance, application, switchOff, flow, userInfo, verdict, clientId } = await setUp();
    const { accessToken, person } = await flow();
    const own = await instance.signIn(clientId, 'ada@example.com');
    const neighbour = await sceneOf(instance, await instance.createApplication({ name: 'Wiki' }));
    const elsewhere = await neighbour.flow('ada@example.com');
    await switchOff();
    expect(await verdict(accessToken)).toBe('revoked');
    expect((await userInfo(accessToken)).status).toBe(401);
    expect([await verdict(own.token), await verdict(elsewhere.accessToken)]).toEqual(['ok', 'ok']);
    expect((await person.browser.account(application, 'GET', '/api/account/sessions')).status).toBe(200);
  });

  test('sessions in any number end, one batch after the other', async () => {
    const { instance, switchOff, signIn, authorize, exchange, verdict } = await setUp();
    const person = await signIn('ada@example.com');
    const tokens: string[] = [];
    while (tokens.length <= FIRST_BATCH) tokens.push((await exchange(await authorize(person))).json.access_token);
    await switchOff();
    await instance.services.tasks.runOnce();
    expect(new Set(await Promise.all(tokens.map(verdict)))).toEqual(new Set(['revoked']));
  });

  test('it may be switched off again, which changes and records nothing', async () => {
    const { switchOff, timesAudited } = await setUp();
    expect([(await switchOff()).status, (await switchOff()).status, timesAudited()]).toEqual([200, 200, 1]);
  });

  test('it starts afresh when it is set up again: neither earlier settings nor earlier codes come back', async () => {
    const { switchOff, settings, authorize, exchange, signIn, configure, flow, verdict } = await setUp();
    await configure({ idTokenAlg: 'EdDSA', backchannelLogoutUri: 'https://a.example/out' });
    const person = await signIn('ada@example.com');
    const code = await authorize(person);
    await switchOff();
    await configure();
    expect(await settings()).toMatchObject({ idTokenAlg: 'RS256', backchannelLogoutUri: null });
    const { status, json } = await exchange(code);
    expect([status, json.error]).toEqual([400, 'invalid_grant']);
    const { accessToken } = await flow();
    expect(await verdict(accessToken)).toBe('ok');
  });
});

describe('OpenID is switched off', () => {
  test('with full access only, and by nobody of another workspace', async () => {
    const { instance, application, switchOff, settings, timesAudited } = await setUp();
    const tenant = await given.tenant(instance);
    const { token: reading } = await instance.createKey(application.id, { access: 'read' });
    const { token: person } = await instance.signIn(application.clientId, 'ada@example.com');
    expect([
      (await switchOff('')).status,
      (await switchOff(reading)).status,
      (await switchOff(person)).status,
      (await switchOff(tenant.workspaceKey)).status,
    ]).toEqual([401, 403, 403, 404]);
    expect([(await settings()).updatedAt, timesAudited()]).toEqual([expect.any(String), 0]);
  });
});
