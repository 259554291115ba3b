/**
 * A tenant's use of a session that it was handed is limited to its own applications. Every application holds the
 * fresh session tokens of its people and can make a passkey in software.
 */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { problemOf, register, signInOptions, signInWith } from '../passkeys/passkeys.ts';
import { createScene } from '../provider/scene.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const sibling = await instance.createApplication({ name: 'Sibling' });
  const tenant = await given.tenant(instance);
  const { clientId } = application;
  // The owner of the instance is also a customer of the shop.
  const shop = await instance.signIn(clientId, 'owner@example.com');
  instance.clock.advance(MINUTE);
  const console = await instance.signIn('console', 'owner@example.com');
  return { instance, application, sibling, tenant, shop, console };
}

describe('a passkey made with an application’s session', () => {
  test('opens the applications of that workspace, neither the console nor another tenant’s', async () => {
    const { instance, application, sibling, tenant, shop } = await setUp();
    const { passkey } = await register(instance, shop.token);
    for (const { clientId } of [application, sibling])
      expect((await signInWith(instance, clientId, passkey)).status).toBe(200);
    for (const clientId of ['console', tenant.application.clientId]) {
      const answer = await signInWith(instance, clientId, passkey);
      expect(problemOf(answer)).toEqual([400, 'passkey_invalid']);
      expect(answer.json.message).toContain('other applications');
    }
  });

  test('has another user handle than one made in the console, so that neither replaces the other', async () => {
    const { instance, shop, console } = await setUp();
    const optionsOf = async (token: string) =>
      (await instance.call('POST', '/api/account/passkeys/options', { token })).json.data.options;
    const [first, second] = [await optionsOf(shop.token), await optionsOf(console.token)];
    expect(first.user.id).not.toBe(second.user.id);
    expect(Buffer.from(first.user.id, 'base64url').length).toBeLessThanOrEqual(64);
  });
});

describe('a passkey made in the console', () => {
  test('opens everything, and no application’s session sees or removes it', async () => {
    const { instance, application, tenant, shop, console } = await setUp();
    const { passkey, json } = await register(instance, console.token);
    for (const clientId of ['console', application.clientId, tenant.application.clientId])
      expect((await signInWith(instance, clientId, passkey)).status).toBe(200);
    const list = async (token: string) =>
      (await instance.call('GET', '/api/account/passkeys', { token })).json.data.items.length;
    expect([await list(shop.token), await list(console.token)]).toEqual([0, 1]);
    const path = `/api/account/passkeys/${json.data.id}`;
    expect(problemOf(await instance.call('DELETE', path, { token: shop.token }))).toEqual([404, 'not_found']);
    expect(problemOf(await instance.call('PATCH', path, { token: shop.token, body: { name: 'x' } }))).toEqual([
      404,
      'not_found',
    ]);
  });
});

test('a refusal for the last sign-in method names no application of another tenant', async () => {
  const { instance, tenant, shop } = await setUp();
  const { json } = await register(instance, shop.token);
  await instance.signIn(tenant.application.clientId, 'owner@example.com');
  await given.application(instance, tenant.application.id, { signinMethods: ['passkey'], name: 'Secret' });
  const answer = await instance.call('DELETE', `/api/account/passkeys/${json.data.id}`, { token: shop.token });
  expect([answer.status, answer.text.includes('Secret')]).toEqual([200, false]);
});

test('an application archived during the verification of a passkey stays closed', async () => {
  const { instance, application, shop } = await setUp();
  const { passkey } = await register(instance, shop.token);
  const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
  const { usePasskey } = await import('../../support/authenticator.ts');
  // A trigger archives it once the challenge is consumed, before the signature is checked.
  instance.sqlite.run(
    `CREATE TRIGGER archiving AFTER UPDATE OF consumed_at ON passkey_challenges
     BEGIN UPDATE applications SET archived_at = 1 WHERE id = '${application.id}'; END`,
  );
  const answer = await instance.call('POST', '/api/v1/auth/passkey/verify', {
    body: { challengeId, credential: usePasskey(passkey, options) },
  });
  expect(problemOf(answer)).toEqual([403, 'application_archived']);
});

describe('an identity at a provider', () => {
  const MALLORY = { sub: 'mallory', email: 'mallory@example.com' };

  test('an identity linked with an application’s session opens only that workspace', async () => {
    const scene = await createScene();
    const { instance, application, browser } = scene;
    const { token } = await instance.signIn(application.clientId, 'owner@example.com');
    const started = await browser.visit('/api/account/providers', { method: 'POST', token });
    scene.provider.claims = MALLORY;
    const landed = await scene.comeBack(scene.provider.agree(started.json.data.authorizationUrl));
    expect(landed.headers.get('location')).toEndWith('#linked=provider');
    const signedIn = await scene.signIn(MALLORY);
    expect(signedIn.headers.get('location')).toContain('#token=');
    // For the console the subject is an unknown person with another address.
    const query = await scene.begin({ clientId: 'console', returnTo: 'http://localhost:8080/console' });
    const refused = await scene.comeBack(query);
    expect(refused.headers.get('location')).toEndWith('#error=gate_closed');
  });

  test('an identity at an issuer that an application chose proves an address to nobody else', async () => {
    const scene = await createScene({
      environment: { GATEHOUSE_GOOGLE_ISSUER: '', GATEHOUSE_GOOGLE_CLIENT_ID: '', GATEHOUSE_GOOGLE_CLIENT_SECRET: '' },
    });
    const { instance, application, provider } = scene;
    const configured = await instance.call('PUT', `/api/applications/${application.id}/identity-provider`, {
      token: instance.workspaceKey,
      body: { issuer: provider.issuer, clientId: 'gatehouse', clientSecret: 'secret' },
    });
    expect(configured.status).toBe(200);
    await scene.signIn({ sub: 'evil', email: 'victim@example.com' });
    const victim = instance.sqlite.query("SELECT email_verified_at FROM users WHERE email = 'victim@example.com'");
    expect(victim.get()).toEqual({ email_verified_at: null });
    expect(instance.sqlite.query('SELECT workspace_id FROM provider_identities').get()).toEqual({
      workspace_id: instance.workspaceId,
    });
  });

  test('an issuer other than the operator’s cannot be configured with an application’s key', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const key = await instance.createKey(application.id);
    const put = (issuer: string | undefined, token: string) =>
      instance.call('PUT', `/api/applications/${application.id}/identity-provider`, {
        token,
        body: { issuer, clientId: 'id', clientSecret: 'secret' },
      });
    expect(problemOf(await put('https://evil.example', key.token))).toEqual([403, 'forbidden']);
    expect((await put(undefined, key.token)).status).toBe(200);
    expect((await put('https://id.example', instance.workspaceKey)).status).toBe(200);
  });
});
