/** Refresh tokens: each for one use, and good while the session is. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, SECOND } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import type { Answer } from '../../support/instance.ts';
import { claimsIn, createScene, sceneOf } from './scene.ts';

const errorOf = ({ status, json }: Answer) => [status, json.error];
const INVALID_GRANT = [400, 'invalid_grant'];
const MONTH = 30 * DAY;

describe('a refresh token', () => {
  test('is exchanged for a new token of the same session, and the old one is refused at once', async () => {
    const { instance, application, flow, refresh, verdict, userInfo } = await createScene();
    const before = await flow();
    expect(await verdict(before.accessToken)).toBe('ok');
    instance.clock.advance(DAY);
    const { status, json, headers } = await refresh(before.refreshToken);
    expect([status, json]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^est_/),
        token_type: 'Bearer',
        expires_in: MONTH / SECOND,
        scope: 'openid profile email roles groups offline_access',
        id_token: expect.any(String),
        refresh_token: expect.stringMatching(/^ert_/),
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json.refresh_token).not.toBe(before.refreshToken);
    expect([await verdict(before.accessToken), await verdict(json.access_token)]).toEqual(['invalid_token', 'ok']);
    expect((await userInfo(json.access_token)).json.sub).toBe(before.person.userId);
    // A refresh is no sign-in.
    expect(instance.events(application.id).filter(({ type }) => type === 'user.signed_in')).toHaveLength(2);
    const [first, second] = [claimsIn(before.idToken), claimsIn(json.id_token)];
    for (const name of ['iss', 'sub', 'aud', 'sid', 'amr']) expect(second[name]).toEqual(first[name]);
    expect(second).not.toHaveProperty('nonce');
    expect(second['at_hash']).not.toBe(first['at_hash']);
    expect(Number(first['auth_time']) - Number(second['auth_time'])).toBe(DAY / SECOND);
  });

  test('keeps a session for a year after the person proved who they are, and no longer', async () => {
    const { instance, flow, refresh, verdict } = await createScene();
    const first = await flow();
    let { refreshToken } = first;
    const proved = instance.clock.now();
    for (let month = 1; month <= 12; month += 1) {
      instance.clock.advance(MONTH - SECOND);
      const { status, json } = await refresh(refreshToken);
      expect(status).toBe(200);
      refreshToken = json.refresh_token;
      const end = instance.clock.now() + json.expires_in * SECOND;
      expect(end).toBeLessThanOrEqual(proved + 365 * DAY + SECOND);
      if (month === 12) expect(json.expires_in).toBeLessThan(MONTH / SECOND);
      if (month === 12) {
        instance.clock.advance(6 * DAY);
        expect(await verdict(json.access_token)).toBe('expired');
        expect(errorOf(await refresh(refreshToken))).toEqual(INVALID_GRANT);
      }
    }
  });

  test('ends the session when it is used again, and says so in the activity', async () => {
    const { instance, application, flow, refresh, verdict } = await createScene();
    const { refreshToken } = await flow();
    const { json } = await refresh(refreshToken);
    expect(errorOf(await refresh(refreshToken))).toEqual(INVALID_GRANT);
    expect(await verdict(json.access_token)).toBe('revoked');
    expect(errorOf(await refresh(json.refresh_token))).toEqual(INVALID_GRANT);
    await refresh(refreshToken);
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'signin.refresh_reused')).toHaveLength(1);
    expect(instance.events(application.id).at(-1)).toMatchObject({
      type: 'user.session_revoked',
      data: { reason: 'refresh_reused' },
    });
  });

  test('counts a concurrent use as a second one', async () => {
    const { flow, refresh } = await createScene();
    const { refreshToken } = await flow();
    const answers = await Promise.all([refresh(refreshToken), refresh(refreshToken)]);
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { json } of answers.filter(({ status }) => status === 200))
      expect(errorOf(await refresh(json.refresh_token))).toEqual(INVALID_GRANT);
  });

  test('is refused to another client, and stays good for its own', async () => {
    const scene = await createScene();
    const other = await sceneOf(scene.instance, await scene.instance.createApplication({ name: 'Other' }));
    const { refreshToken } = await scene.flow();
    expect(errorOf(await other.refresh(refreshToken))).toEqual(INVALID_GRANT);
    expect((await scene.refresh(refreshToken)).status).toBe(200);
  });

  test('is refused for more than was granted, and stays good for less', async () => {
    const { flow, refresh } = await createScene();
    const { refreshToken } = await flow('ada@example.com', { scope: 'openid offline_access' });
    expect(errorOf(await refresh(refreshToken, { scope: 'openid email' }))).toEqual([400, 'invalid_scope']);
    const { status, json } = await refresh(refreshToken, { scope: 'openid' });
    expect([status, json.scope]).toEqual([200, 'openid offline_access']);
  });

  test('is refused if it was never issued, or is no refresh token', async () => {
    const { flow, refresh } = await createScene();
    const { accessToken } = await flow();
    for (const text of [mintSecret('refresh', systemRandom), 'nonsense', accessToken])
      expect(errorOf(await refresh(text))).toEqual(INVALID_GRANT);
  });

  test.each(['ban', 'pause'] as const)('is refused after a %s', async (act) => {
    const { instance, application, flow, refresh } = await createScene();
    const { person, refreshToken } = await flow();
    await instance.services.users.act(SYSTEM_ACTOR, application, person.userId, act);
    expect(errorOf(await refresh(refreshToken))).toEqual(INVALID_GRANT);
  });

  test('is refused after the token’s revocation', async () => {
    const { instance, flow, refresh } = await createScene();
    const { accessToken, refreshToken } = await flow();
    expect((await instance.call('DELETE', '/api/v1/session', { token: accessToken })).status).toBe(200);
    expect(errorOf(await refresh(refreshToken))).toEqual(INVALID_GRANT);
  });

  test('is refused while the person would not be let in', async () => {
    const { instance, application, flow, refresh } = await createScene();
    const { refreshToken } = await flow();
    await given.application(instance, application.id, { signinGate: 'private_beta' });
    expect(errorOf(await refresh(refreshToken))).toEqual(INVALID_GRANT);
  });

  test('stays good when the person signs in again', async () => {
    const { flow, refresh } = await createScene();
    const first = await flow();
    await flow('ada@example.com');
    expect((await refresh(first.refreshToken)).status).toBe(200);
  });
});
