import { describe, expect, test } from 'bun:test';
import { fragmentOf } from './browser.ts';
import { createScene } from './scene.ts';

/** Claims that a strictly conforming provider omits from its id_tokens. */
const THIN = { email: undefined, email_verified: undefined };
const CLAIMS = { sub: 'subject-1', email: 'ada@example.com', email_verified: true, given_name: 'Ada' };

describe('claims that the id_token omits', () => {
  test('are fetched from the UserInfo endpoint', async () => {
    const scene = await createScene();
    scene.provider.userinfo = CLAIMS;
    const { token } = fragmentOf(await scene.signIn(THIN));
    const { json } = await scene.instance.call('POST', '/api/v1/session', { token: token! });
    expect(json).toMatchObject({ email: 'ada@example.com', givenName: 'Ada' });
  });

  test('are not fetched if the id_token has them', async () => {
    const scene = await createScene();
    expect(fragmentOf(await scene.signIn())['token']).toStartWith('est_');
    expect(scene.provider.asked.userinfo).toBe(0);
  });

  test('are accepted only for the same subject', async () => {
    const scene = await createScene();
    for (const sub of ['subject-2', undefined, '', 1]) {
      scene.provider.userinfo = { ...CLAIMS, sub };
      expect((await scene.signIn(THIN)).status).toBe(502);
    }
    expect([scene.count('sessions'), scene.count('provider_identities')]).toEqual([0, 0]);
    const log = scene.instance.logLines.join('').replaceAll('\\"', '"');
    expect(log).toContain('userinfo: unexpected "response" body "sub" property value');
  });

  test.each([false, 'true', undefined])('do not prove an unverified address: %p', async (verified) => {
    const scene = await createScene();
    scene.provider.userinfo = { ...CLAIMS, email_verified: verified };
    const { headers } = await scene.signIn(THIN);
    expect(headers.get('location')).toEndWith('#error=email_unverified');
    expect(scene.count('users')).toBe((await createScene()).count('users'));
  });

  test('show a page and sign nobody in if they cannot be fetched', async () => {
    const scene = await createScene();
    scene.provider.instead.userinfo = () => new Response('oops', { status: 500 });
    expect((await scene.signIn(THIN)).status).toBe(502);
    expect(scene.count('sessions')).toBe(0);
  });

  test('are not fetched from a provider without that endpoint: the address is unknown', async () => {
    const scene = await createScene();
    scene.provider.metadata = { userinfo_endpoint: undefined };
    const { headers } = await scene.signIn(THIN);
    expect(headers.get('location')).toEndWith('#error=email_unverified');
  });
});
