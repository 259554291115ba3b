/**
 * Accounts created in another person's name before they arrive: the creator loses all access once the person proves
 * that the mailbox is theirs.
 */
import { describe, expect, test } from 'bun:test';
import { HOUR } from '@/core/clock.ts';
import { fragmentOf } from '../modules/provider/browser.ts';
import { sceneOf as devicesOf } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import { createScene, personOf } from '../modules/provider/scene.ts';
import * as given from '../support/given.ts';
import type { Instance } from '../support/instance.ts';

const VICTIM = 'victim@example.com';
const TAKEN_FOR_VICTIM = { sub: 'mallory', email: VICTIM };

/** A shop whose own provider verifies no addresses, and an attacker who has used that. */
async function squatAccount() {
  const scene = await createScene({
    environment: { GATEHOUSE_GOOGLE_ISSUER: '', GATEHOUSE_GOOGLE_CLIENT_ID: '', GATEHOUSE_GOOGLE_CLIENT_SECRET: '' },
  });
  const { instance, application, provider } = scene;
  const set = await instance.call('PUT', `/api/applications/${application.id}/identity-provider`, {
    token: instance.workspaceKey,
    body: { issuer: provider.issuer, clientId: 'gatehouse', clientSecret: 'secret' },
  });
  expect(set.status).toBe(200);
  const landed = await scene.signIn(TAKEN_FOR_VICTIM);
  const { userId } = await personOf(scene, landed);
  return { scene, instance, application, userId, token: fragmentOf(landed)['token']! };
}

const isAlive = async (instance: Instance, token: string) =>
  (await instance.call('POST', '/api/v1/session', { token })).status === 200;

describe('an account squatted through a provider that verifies nothing', () => {
  test('belongs to the victim alone once they sign in by code: session, passkey, device and identity are gone', async () => {
    const { instance, application, userId, token } = await squatAccount();
    const { passkey } = await register(instance, token);
    const { token: device } = await devicesOf(instance, application).connect({ token });
    expect((await instance.call('GET', '/api/me/roles', { token: device })).status).toBe(200);

    const victim = await instance.signIn(application.clientId, VICTIM);
    expect(victim.userId).toBe(userId);
    expect(await isAlive(instance, token)).toBe(false);
    expect((await instance.call('GET', '/api/me/roles', { token: device })).status).toBe(401);
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(400);
    expect(await isAlive(instance, victim.token)).toBe(true);
    const held = async (path: string) =>
      (await instance.call('GET', `/api/account/${path}`, { token: victim.token })).json.data.items;
    for (const path of ['passkeys', 'providers', 'devices']) expect(await held(path)).toEqual([]);
    // The removal emits an event, is recorded, and is mailed to the mailbox's holder.
    expect(instance.events(application.id)).toContainEqual({
      type: 'user.identity_changed',
      data: { userId, changed: ['provider', 'passkey'] },
    });
    expect(instance.auditKinds(application.id)).toEqual(
      expect.arrayContaining(['provider.unlinked', 'passkey.removed', 'signin.succeeded']),
    );
    const mail = instance.sqlite.query('SELECT recipient, subject FROM mails ORDER BY rowid DESC LIMIT 1').get();
    expect(mail).toEqual({ recipient: VICTIM, subject: 'Your e-mail address was confirmed' });
  });

  test('gives no key to a device that was approved just before', async () => {
    const { instance, application, token } = await squatAccount();
    const devices = devicesOf(instance, application);
    const codes = await devices.begin();
    expect((await devices.decide('approve', codes.user_code, { token })).status).toBe(200);
    await instance.signIn(application.clientId, VICTIM);
    expect(await devices.outcome(codes)).toBe('access_denied');
  });

  test('does not follow the victim to another tenant: neither session nor identity is valid there', async () => {
    const { scene, instance, token } = await squatAccount();
    const tenant = await given.tenant(instance);
    const victim = await instance.signIn(tenant.application.clientId, VICTIM);
    const there = await instance.call('GET', `/api/me/roles?applicationId=${tenant.application.id}`, { token });
    expect(there.status).not.toBe(200);
    const found = await instance.call('POST', '/api/v1/verify', { token: tenant.workspaceKey, body: { token } });
    expect(found.json).toEqual({ success: false, errorMessage: 'invalid_token' });
    const sessions = await instance.call('GET', '/api/account/sessions', { token });
    expect(sessions.text).not.toContain(tenant.application.id);
    expect(await isAlive(instance, token)).toBe(false);
    expect(await isAlive(instance, victim.token)).toBe(true);
    // A second subject of that provider is refused, since other tenants know the person now.
    expect(fragmentOf(await scene.signIn({ sub: 'second', email: VICTIM }))).toEqual({ error: 'link_required' });
  });

  test('is not joined with an account that the same provider vouches for later', async () => {
    const { scene } = await squatAccount();
    expect(fragmentOf(await scene.signIn({ sub: 'victim', email: VICTIM }))).toEqual({ error: 'email_unverified' });
  });
});

describe('before the victim arrives', () => {
  test('a provider that does not vouch for the address creates no account', async () => {
    const scene = await createScene();
    const before = scene.count('users');
    for (const email_verified of [false, undefined, 'true', 1])
      expect(fragmentOf(await scene.signIn({ ...TAKEN_FOR_VICTIM, email_verified }))).toEqual({
        error: 'email_unverified',
      });
    expect(scene.count('users')).toBe(before);
  });

  test('a pending change of address gives access to nobody', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const mallory = await instance.signIn(application.clientId, 'mallory@example.com');
    const proof = await instance.call('POST', '/api/account/proof', {
      token: mallory.token,
      body: { purpose: 'email_change', target: VICTIM },
    });
    await instance.call('POST', '/api/account/proof/confirm', {
      token: mallory.token,
      body: { challengeId: proof.json.data.challengeId, code: instance.codeFor('mallory@example.com') },
    });
    const asked = await instance.call('POST', '/api/account/email', { token: mallory.token, body: { email: VICTIM } });
    expect(asked.status).toBe(200);
    const code = instance.codeFor(VICTIM);
    const victim = await instance.signIn(application.clientId, VICTIM);
    // The code does not help either: the address is the victim's by now.
    const confirmed = await instance.call('POST', '/api/account/email/confirm', {
      token: mallory.token,
      body: { challengeId: asked.json.data.challengeId, code },
    });
    expect(confirmed.status).toBe(409);
    expect(victim.userId).not.toBe(mallory.userId);
    const { json } = await instance.call('POST', '/api/v1/session', { token: victim.token });
    expect(json.email).toBe(VICTIM);
  });

  test('an import with any data creates no sign-in method', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    await instance.call('POST', `/api/applications/${application.id}/users/bulk`, {
      token: instance.workspaceKey,
      body: { users: [{ email: VICTIM, profile: { username: 'victim', givenName: 'Vic' } }] },
    });
    for (const table of ['passkeys', 'provider_identities', 'sessions']) expect(scene.count(table)).toBe(0);
    const { userId } = await instance.signIn(application.clientId, VICTIM);
    expect((await personOf(scene, await scene.signIn({ sub: 'victim', email: VICTIM }))).userId).toBe(userId);
  });

  test('an owner made by a setup link keeps the console’s passkeys, since nobody else can have made them', async () => {
    const scene = await createScene();
    const { instance } = scene;
    const owner = await instance.signIn('console', 'owner@example.com');
    await given.person(instance, owner.userId, { emailVerifiedAt: null });
    const { passkey } = await register(instance, owner.token);
    instance.clock.advance(HOUR);
    await instance.signIn(scene.application.clientId, 'owner@example.com');
    expect(await isAlive(instance, owner.token)).toBe(true);
    expect((await signInWith(instance, 'console', passkey)).status).toBe(200);
  });
});
