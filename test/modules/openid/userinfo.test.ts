/** UserInfo: the claims of a session's granted scope, live. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import type { Answer } from '../../support/instance.ts';
import { sendForm } from '../oauth/scene.ts';
import { claimsIn, createScene, USERINFO } from './scene.ts';

const refusalOf = ({ status, json, headers }: Answer) => [status, json.error, headers.get('www-authenticate')];
const REFUSED = [401, 'invalid_token', 'Bearer error="invalid_token"'];

describe('UserInfo', () => {
  test('has the claims of the granted scope, as they are now', async () => {
    const { instance, application, flow, userInfo } = await createScene();
    const { person, accessToken, idToken } = await flow();
    const first = await userInfo(accessToken);
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({ sub: person.userId, email: 'ada@example.com', email_verified: true });
    expect(first.json.sub).toBe(claimsIn(idToken)['sub']);
    await given.person(instance, person.userId, { givenName: 'Ada', familyName: 'Lovelace' });
    await given.holder(instance, 'roles', application.id, person.userId, 'editor');
    const { json } = await userInfo(accessToken);
    expect(json).toMatchObject({
      given_name: 'Ada',
      family_name: 'Lovelace',
      roles: expect.arrayContaining(['editor']),
    });
  });

  test('has no more than was granted', async () => {
    const { flow, userInfo } = await createScene();
    const { person, accessToken } = await flow('ada@example.com', { scope: 'openid' });
    expect((await userInfo(accessToken)).json).toEqual({ sub: person.userId });
  });

  test('is answered to a POST with the token in the header or in the form', async () => {
    const { instance, flow } = await createScene();
    const { person, accessToken } = await flow();
    const inHeader = await instance.call('POST', USERINFO, { token: accessToken });
    const inForm = await sendForm(instance, USERINFO, { access_token: accessToken });
    expect([inHeader.json.sub, inForm.json.sub]).toEqual([person.userId, person.userId]);
    const twice = await sendForm(
      instance,
      USERINFO,
      { access_token: accessToken },
      { authorization: `Bearer ${accessToken}` },
    );
    expect([twice.status, twice.json.error]).toEqual([400, 'invalid_request']);
  });

  test('takes no token from the address', async () => {
    const { instance, flow } = await createScene();
    const { accessToken } = await flow();
    expect((await instance.call('GET', `${USERINFO}?access_token=${accessToken}`)).status).toBe(401);
  });

  test('is refused with the one code of bearer tokens, whatever is wrong with the token', async () => {
    const { instance, application, flow, userInfo } = await createScene();
    const [signedOut, banned, expired] = [await flow('a@example.com'), await flow('b@example.com'), await flow()];
    await instance.call('DELETE', '/api/v1/session', { token: signedOut.accessToken });
    await instance.services.users.act(SYSTEM_ACTOR, application, banned.person.userId, 'ban');
    for (const token of [signedOut.accessToken, banned.accessToken, 'nonsense', mintSecret('session', systemRandom)]) {
      expect(refusalOf(await userInfo(token))).toEqual(REFUSED);
      expect(refusalOf(await sendForm(instance, USERINFO, { access_token: token }))).toEqual(REFUSED);
    }
    instance.clock.advance(31 * DAY);
    expect(refusalOf(await userInfo(expired.accessToken))).toEqual(REFUSED);
    expect(refusalOf(await instance.call('GET', USERINFO))).toEqual([401, 'invalid_token', 'Bearer']);
    expect((await instance.call('POST', USERINFO)).status).toBe(401);
  });

  test('takes no key, no ID token and no refresh token', async () => {
    const { instance, flow, userInfo } = await createScene();
    const { idToken, refreshToken } = await flow();
    for (const token of [instance.workspaceKey, idToken, refreshToken])
      expect(refusalOf(await userInfo(token))).toEqual(REFUSED);
  });

  test('is refused to a session that no client was granted, and to one without the scope openid', async () => {
    const { instance, clientId, flow, userInfo } = await createScene();
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    const { accessToken } = await flow('ada@example.com', { scope: 'email' });
    for (const one of [token, accessToken]) {
      const { status, json } = await userInfo(one);
      expect([status, json.error]).toEqual([403, 'insufficient_scope']);
    }
  });

  test('is limited by session, and failures by client address', async () => {
    const { instance, flow, userInfo } = await createScene({
      environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '2', GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '2' },
    });
    const { accessToken } = await flow();
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await userInfo(accessToken)).status);
    const posted = await sendForm(instance, USERINFO, { access_token: accessToken });
    expect([...statuses, posted.status]).toEqual([200, 200, 429, 429]);
    const failures = [];
    for (const _ of [1, 2, 3]) failures.push((await sendForm(instance, USERINFO, { access_token: 'x' })).status);
    expect(failures).toEqual([401, 401, 429]);
  });

  test('may be read by pages of any origin', async () => {
    const { instance, flow } = await createScene();
    const { accessToken } = await flow();
    const headers = { origin: 'https://app.example.com' };
    const answer = await instance.call('GET', USERINFO, { token: accessToken, headers });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});
