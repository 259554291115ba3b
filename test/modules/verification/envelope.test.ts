import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';

/** The fields of the contract's table, and no others. */
const FIELDS = [
  'userId',
  'username',
  'email',
  'name',
  'fullName',
  'givenName',
  'familyName',
  'avatarUrl',
  'locale',
  'timezone',
  'region',
  'applicationId',
  'status',
  'roles',
  'scopes',
  'memberships',
  'avatarSizes',
  'avatarUpdatedAt',
  'bannerSizes',
  'bannerUpdatedAt',
  'expiresAt',
];

const AVATAR_TIME = START - 5000;

async function setUp(environment: Record<string, string> = {}) {
  const instance = await createInstance({ environment });
  const application = await instance.createApplication({ name: 'Shop', slug: 'shop' });
  const signedIn = await instance.signIn(application.clientId, 'ada@example.com');
  const verifySession = async () => {
    const { status, json } = await instance.call('POST', '/api/v1/session', { token: signedIn.token });
    expect(status).toBe(200);
    return json;
  };
  return { instance, application, ...signedIn, verifySession };
}

describe('the session envelope', () => {
  test('has every field of the contract: empty text or null if nothing is set', async () => {
    const { verifySession, userId, application } = await setUp();
    expect(await verifySession()).toEqual({
      ok: true,
      userId,
      username: null,
      email: 'ada@example.com',
      name: '',
      fullName: '',
      givenName: '',
      familyName: '',
      avatarUrl: null,
      locale: 'en',
      timezone: 'UTC',
      region: null,
      applicationId: application.id,
      status: 'active',
      roles: ['user'],
      scopes: [],
      memberships: [],
      avatarSizes: null,
      avatarUpdatedAt: null,
      bannerSizes: null,
      bannerUpdatedAt: null,
      expiresAt: new Date(START + 30 * DAY).toISOString(),
    });
  });

  test('has everything that is known of a person', async () => {
    const { instance, application, userId, verifySession } = await setUp();
    const region = {
      country: 'GB',
      uiLocale: 'en-GB',
      timeZone: 'Europe/London',
      currency: 'GBP',
      measurementSystem: 'metric',
    };
    await given.person(instance, userId, {
      name: 'Legacy Name',
      fullName: 'Augusta Ada King',
      givenName: 'Ada',
      familyName: 'Lovelace',
      locale: 'en-GB',
      timezone: 'Europe/London',
      region,
      providerAvatarUrl: 'https://provider.example/ada.png',
      avatarSizes: [128, 256, 1200],
      avatarUpdatedAt: AVATAR_TIME,
      bannerSizes: [768, 1500, 2400],
      bannerUpdatedAt: AVATAR_TIME + 1,
    });
    await given.member(instance, application.id, userId, { username: 'ada' });
    await given.holder(instance, 'roles', application.id, userId, 'zeta', 'developer');
    await given.holder(instance, 'scopes', application.id, userId, 'orders:write', 'orders:read');
    await given.holder(instance, 'memberships', application.id, userId, 'beta.testers');

    expect(await verifySession()).toEqual({
      ok: true,
      userId,
      username: 'ada',
      email: 'ada@example.com',
      name: 'Augusta Ada King',
      fullName: 'Augusta Ada King',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatarUrl: `http://localhost:8080/cdn/shop/users/${userId}/avatar-256.webp?v=${AVATAR_TIME}`,
      locale: 'en-GB',
      timezone: 'Europe/London',
      region,
      applicationId: application.id,
      status: 'active',
      roles: ['developer', 'user', 'zeta'],
      scopes: ['orders:read', 'orders:write'],
      memberships: ['beta.testers'],
      avatarSizes: [128, 256, 1200],
      avatarUpdatedAt: new Date(AVATAR_TIME).toISOString(),
      bannerSizes: [768, 1500, 2400],
      bannerUpdatedAt: new Date(AVATAR_TIME + 1).toISOString(),
      expiresAt: new Date(START + 30 * DAY).toISOString(),
    });
  });

  test.each([
    ['the full name', { fullName: 'A B', givenName: 'C', familyName: 'D', name: 'E' }, 'A B'],
    ['given and family name', { givenName: 'C', familyName: 'D', name: 'E' }, 'C D'],
    ['the given name alone', { givenName: 'C', name: 'E' }, 'C'],
    ['the family name alone', { familyName: 'D', name: 'E' }, 'D'],
    ['the legacy name', { name: 'E' }, 'E'],
  ])('gives %s as both name and fullName', async (_, columns, expected) => {
    const { instance, userId, verifySession } = await setUp();
    await given.person(instance, userId, columns);
    const { name, fullName } = await verifySession();
    expect([name, fullName]).toEqual([expected, expected]);
  });

  test('falls back to the sign-in provider’s avatar', async () => {
    const { instance, userId, verifySession } = await setUp();
    await given.person(instance, userId, { providerAvatarUrl: 'https://provider.example/ada.png' });
    expect(await verifySession()).toMatchObject({
      avatarUrl: 'https://provider.example/ada.png',
      avatarSizes: null,
      avatarUpdatedAt: null,
    });
  });

  test('uses the configured image host for avatars', async () => {
    const { instance, userId, verifySession } = await setUp({ GATEHOUSE_CDN_URL: 'https://cdn.example.com/i/' });
    await given.person(instance, userId, { avatarSizes: [128, 256, 1200], avatarUpdatedAt: AVATAR_TIME });
    expect((await verifySession()).avatarUrl).toBe(
      `https://cdn.example.com/i/shop/users/${userId}/avatar-256.webp?v=${AVATAR_TIME}`,
    );
  });

  test('shows a change at the very next call', async () => {
    const { instance, application, userId, verifySession } = await setUp();
    expect((await verifySession()).roles).toEqual(['user']);
    await given.holder(instance, 'roles', application.id, userId, 'admin');
    await given.person(instance, userId, { fullName: 'New Name' });
    expect(await verifySession()).toMatchObject({ roles: ['admin', 'user'], fullName: 'New Name' });
  });

  test('expires after the application’s session duration', async () => {
    const instance = await createInstance();
    const { clientId } = await instance.createApplication({ sessionTtlSeconds: 300 });
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    const { json } = await instance.call('POST', '/api/v1/session', { token });
    expect(json.expiresAt).toBe(new Date(START + 300_000).toISOString());
  });

  test('is the same for a backend that verifies the token', async () => {
    const { instance, application, token, verifySession } = await setUp();
    const { ok, ...envelope } = await verifySession();
    const key = await instance.createKey(application.id, { access: 'read' });
    const { status, json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
    expect([ok, status, json]).toEqual([true, 200, { success: true, data: envelope }]);
    expect(Object.keys(json.data)).toEqual(FIELDS);
  });

  test('the envelope of an API key is its synthetic principal’s, without an expiry unless it has one', async () => {
    const { instance, application } = await setUp();
    const caller = await instance.createKey(application.id, { access: 'read' });
    const expiresAt = new Date(START + DAY).toISOString();
    const plain = await instance.createKey(application.id, { name: 'worker', roles: ['developer'] });
    const dated = await instance.createKey(application.id, { expiresAt });
    const verify = async (token: string) =>
      (await instance.call('POST', '/api/v1/verify', { token: caller.token, body: { token } })).json.data;
    const envelope = await verify(plain.token);
    expect(Object.keys(envelope)).toEqual(FIELDS);
    expect(envelope).toMatchObject({
      applicationId: application.id,
      status: 'active',
      roles: ['developer'],
      scopes: [],
      memberships: [],
      expiresAt: null,
    });
    expect((await verify(dated.token)).expiresAt).toBe(expiresAt);
  });

  test('reveals nothing of the credential: no hash, no prefix, no other session', async () => {
    const { instance, token } = await setUp();
    await given.workspaceKey(instance);
    const { text } = await instance.call('POST', '/api/v1/session', { token });
    for (const part of [token, 'est_', 'eak_', 'hash', 'ses_', 'apu_', 'wsp_']) expect(text).not.toContain(part);
  });
});
