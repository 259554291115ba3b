/**
 * A tenant's own identity provider claims an address before its holder arrives. Before the first proof the claim
 * counts in that workspace only and changes nothing of the person; the first proof anywhere ends everything that
 * rests on it, everywhere.
 */
import { beforeEach, describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { flatPng } from '../modules/images/pictures.ts';
import { fragmentOf } from '../modules/provider/browser.ts';
import { sceneOf as devicesOf } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import { createScene, RETURN_TO, sceneOf } from '../modules/provider/scene.ts';
import { addTenant, link } from '../modules/provider/tenants.ts';
import type { Answer } from '../support/instance.ts';

const VICTIM = 'victim@example.com';
const CLAIM = {
  sub: 'attacker',
  email: VICTIM,
  name: 'Claimed Name',
  given_name: 'Claimed',
  picture: 'https://p.example/1',
};

type World = Awaited<ReturnType<typeof createWorld>>;

/** The first tenant's shop, and a second tenant whose own provider claims any address. */
async function createWorld(environment: Record<string, string> = {}) {
  const scene = await createScene({ environment });
  const { tenant, own } = await addTenant(scene);
  const { instance, application: shop } = scene;
  return {
    scene,
    instance,
    shop,
    tenant,
    claim: (claims: Record<string, unknown> = CLAIM) => own.signIn(claims),
    /** Signs the holder in by a code from the mailbox. */
    async proveAt(clientId: string) {
      instance.clock.advance(MINUTE);
      return instance.signIn(clientId, VICTIM);
    },
    manageShop: (method: string, path: string, body?: unknown) =>
      instance.call(method, `/api/applications/${shop.id}${path}`, { token: instance.workspaceKey, body }),
    manageOwn: (method: string, path: string, body?: unknown) =>
      instance.call(method, `/api/applications/${tenant.application.id}${path}`, { token: tenant.workspaceKey, body }),
    own,
  };
}

/** Returns the attacker's session by the provider's claim, and everything that they can add to it. */
async function occupyAccount(world: World) {
  const { instance, tenant, claim } = world;
  const { token } = fragmentOf(await claim());
  if (token === undefined) throw new Error('the claim let nobody in');
  const { json } = await instance.call('POST', '/api/v1/session', { token });
  const { passkey } = await register(instance, token);
  const devices = devicesOf(instance, tenant.application);
  const { token: device } = await devices.connect({ token });
  const waiting = await devices.begin();
  expect((await devices.decide('approve', waiting.user_code, { token })).status).toBe(200);
  await link(world.scene, token, { sub: 'second-subject', email: 'x@example.com' });
  return { token, userId: json.userId as string, passkey, device, devices, waiting };
}

const writeProfile = async ({ instance }: World, token: string, fullName: string) => {
  const call = (method: string, path: string, body: unknown) =>
    instance.call(method, `/api/account/profile/${path}`, { token, body });
  const address = { kind: 'billing', recipient: 'R', line1: '1', city: 'C', country: 'NO' };
  const answers = [
    await call('PATCH', 'identity', { fullName, givenName: fullName }),
    await call('PUT', 'region', { country: 'NO' }),
    await call('POST', 'languages', { code: 'nb', level: 'NATIVE' }),
    await call('POST', 'addresses', address),
    await call('POST', 'entities', { legalName: fullName, country: 'NO' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const put = await instance.app.fetch(
    new Request('http://localhost/api/account/self/images/avatar', {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'image/png' },
      body: new Uint8Array(flatPng(64, 64)),
    }),
  );
  expect(put.status).toBe(200);
  return ((await put.json()) as { data: { url: string } }).data.url;
};

const envelopeOf = async ({ instance }: World, token: string) =>
  (await instance.call('POST', '/api/v1/session', { token })).json;
const eventTexts = ({ instance }: World, applicationId: string) => JSON.stringify(instance.events(applicationId));

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('before the first proof', () => {
  test('the claimed account reads and writes a profile of its own workspace, where all features work', async () => {
    const { token, userId } = await occupyAccount(world);
    expect(await envelopeOf(world, token)).toMatchObject({ fullName: 'Claimed Name', email: VICTIM });
    const url = await writeProfile(world, token, 'Written Here');
    expect(await envelopeOf(world, token)).toMatchObject({
      userId,
      fullName: 'Written Here',
      email: VICTIM,
      region: { country: 'NO' },
      avatarSizes: [128, 256, 1200],
    });
    expect((await world.instance.call('GET', new URL(url).pathname, {})).status).toBe(200);
    const shown = await world.manageOwn('GET', `/users/${userId}`);
    expect(shown.json.data).toMatchObject({ email: VICTIM, emailVerifiedAt: null });
    expect(shown.json.data.profile).toMatchObject({ fullName: 'Written Here', languages: [{ code: 'nb' }] });
    const found = await world.manageOwn('GET', '/users?q=written');
    expect(found.json.data.items).toMatchObject([{ userId }]);
    expect(world.instance.events(world.tenant.application.id)).toContainEqual({
      type: 'user.profile_updated',
      data: expect.objectContaining({ userId, name: 'Written Here' }),
    });
    expect((await world.instance.call('GET', '/api/me/roles', { token })).json.data.roles).toEqual(['user']);
    const overview = await world.instance.call('GET', '/api/account', { token });
    expect(overview.json.data.memberships).toMatchObject([{ applicationId: world.tenant.application.id }]);
    // Signs the same person in again, by passkey and by the provider.
    const again = fragmentOf(await world.claim())['token']!;
    expect(await envelopeOf(world, again)).toMatchObject({ userId, fullName: 'Written Here' });
    const exported = await world.instance.call('GET', '/api/account/export', { token: again });
    expect([exported.status, exported.text.includes('Written Here')]).toEqual([200, true]);
  });

  test('an import into the workspace fills blanks of the profile there until the holder arrives', async () => {
    const { token, userId } = await occupyAccount(world);
    const row = { email: VICTIM, profile: { familyName: 'Imported', locale: 'nb', givenName: 'Other' } };
    const imported = await world.manageOwn('POST', '/users/bulk', { users: [row] });
    expect(imported.json.data.results).toMatchObject([{ outcome: 'already_member', userId }]);
    expect(await envelopeOf(world, token)).toMatchObject({ givenName: 'Claimed', familyName: 'Imported' });
    const victim = await world.proveAt(world.tenant.application.clientId);
    expect(await envelopeOf(world, victim.token)).toMatchObject({
      userId,
      givenName: 'Other',
      familyName: 'Imported',
      locale: 'nb',
    });
  });

  const KNOWN_ELSEWHERE: Record<string, (world: World) => Promise<Answer>> = {
    imported: ({ manageShop }) => manageShop('POST', '/users/bulk', { users: [{ email: VICTIM }] }),
    invited: ({ instance }) =>
      instance.call('POST', '/api/workspace/members', {
        token: instance.workspaceKey,
        body: { email: VICTIM, role: 'member' },
      }),
    'on the allowlist': ({ manageShop }) => manageShop('POST', '/beta-interests', { emails: [VICTIM] }),
  };
  for (const [how, name] of Object.entries(KNOWN_ELSEWHERE))
    test(`a person ${how} at another workspace is not claimed: a code comes first`, async () => {
      expect((await name(world)).status).toBe(200);
      expect(fragmentOf(await world.claim())).toEqual({ error: 'link_required' });
      const victim = await world.proveAt(world.tenant.application.clientId);
      // This is the holder's own act: now the provider may be connected.
      expect(fragmentOf(await link(world.own, victim.token, { aud: 'mallory', sub: 'theirs' }))).toEqual({
        linked: 'provider',
      });
      expect(fragmentOf(await world.claim({ sub: 'theirs' }))['token']).toBeDefined();
    });

  test('a request for access that a stranger made in their name blocks nobody in their own workspace', async () => {
    await world.manageShop('POST', '/signin-gate', { gate: 'private_beta' });
    const body = { kind: 'request', email: VICTIM };
    const path = `/api/applications/${world.shop.id}/public/access-interest`;
    expect((await world.instance.call('POST', path, { body })).status).toBe(200);
    expect(fragmentOf(await world.claim())['token']).toBeDefined();
  });

  test('a profile that another workspace imports later is neither shown nor filled in', async () => {
    const { token, userId } = await occupyAccount(world);
    const profile = { fullName: 'Vip Imported', locale: 'nb', username: 'vip' };
    const imported = await world.manageShop('POST', '/users/bulk', { users: [{ email: VICTIM, profile }] });
    expect(imported.json.data.results).toMatchObject([{ outcome: 'created', userId }]);
    await writeProfile(world, token, 'PWNED');
    expect((await world.manageShop('GET', `/users/${userId}`)).json.data.profile.fullName).toBe('Vip Imported');
    expect((await envelopeOf(world, token)).fullName).toBe('PWNED');
    const victim = await world.proveAt(world.shop.clientId);
    expect(await envelopeOf(world, victim.token)).toMatchObject({ userId, fullName: 'Vip Imported', username: 'vip' });
    expect(eventTexts(world, world.shop.id)).not.toContain('PWNED');
  });

  test('the client address of a claimed sign-in does not count as the holder’s in lockouts', async () => {
    await occupyAccount(world);
    const { listSignInAddresses } = await import('@/store/sessions.ts');
    expect(await listSignInAddresses(world.instance.db.reader, VICTIM)).toEqual([]);
  });
});

test('a browser signed in by a claim is not the holder’s: it is locked out with everyone else', async () => {
  const paused = await createWorld({ GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '3' });
  const { instance, shop, tenant } = paused;
  const { passkey } = await occupyAccount(paused);
  const ownPage = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' };
  const signedIn = await signInWith(instance, tenant.application.clientId, passkey, {}, ownPage);
  const cookie = signedIn.headers.getSetCookie().map((one) => one.split(';')[0]);
  expect(cookie).toEqual([expect.stringMatching(/^gatehouse-known=/)]);
  const ask = (headers: Record<string, string> = {}) =>
    instance.call('POST', '/api/v1/auth/otp/send', { body: { email: VICTIM, clientId: shop.clientId }, headers });
  for (let count = 0; count < 3; count += 1) {
    const { challengeId } = (await ask()).json.data;
    const code = instance.codeFor(VICTIM) === '000000' ? '000001' : '000000';
    await instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });
  }
  expect((await ask()).status).toBe(429);
  expect((await ask({ ...ownPage, cookie: cookie.join() })).status).toBe(429);
});

/** The holder's acts that prove the address; each returns their session afterwards. */
const PROOFS: Record<string, (world: World, claimed: string) => Promise<string>> = {
  'a code at another tenant': async ({ proveAt, shop }) => (await proveAt(shop.clientId)).token,
  'a code at the same tenant': async ({ proveAt, tenant }) => (await proveAt(tenant.application.clientId)).token,
  'the instance’s provider': async ({ scene }) =>
    fragmentOf(await scene.signIn({ sub: 'holder', email: VICTIM }))['token']!,
  'a code given in the session itself': async ({ instance }, token) => {
    const asked = await instance.call('POST', '/api/account/proof', { token, body: { purpose: 'session' } });
    const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor(VICTIM) };
    expect((await instance.call('POST', '/api/account/proof/confirm', { token, body })).status).toBe(200);
    return token;
  },
};

for (const [proof, prove] of Object.entries(PROOFS))
  describe(`after the first proof, by ${proof},`, () => {
    test('every earlier session, key, passkey, grant, identity and value is removed, and the person is notified', async () => {
      const { instance, tenant } = world;
      const before = await occupyAccount(world);
      const other = fragmentOf(await world.claim())['token']!;
      const url = await writeProfile(world, before.token, 'PWNED');
      const token = await prove(world, before.token);
      for (const dead of new Set([before.token, other].filter((one) => one !== token)))
        expect((await instance.call('POST', '/api/v1/session', { token: dead })).json.error).toBe('revoked');
      expect((await instance.call('GET', '/api/me/roles', { token: before.device })).status).toBe(401);
      expect(await before.devices.outcome(before.waiting)).toBe('access_denied');
      expect((await signInWith(instance, tenant.application.clientId, before.passkey)).status).toBe(400);
      expect((await instance.call('GET', new URL(url).pathname, {})).status).toBe(404);

      const envelope = await envelopeOf(world, token);
      expect(envelope).toMatchObject({ userId: before.userId, email: VICTIM, fullName: '', region: null });
      expect([envelope.avatarUrl, envelope.avatarSizes]).toEqual([null, null]);
      for (const list of ['passkeys', 'devices', 'profile/addresses', 'profile/entities', 'profile/languages'])
        expect((await instance.call('GET', `/api/account/${list}`, { token })).json.data.items).toEqual([]);
      const mails = instance.sqlite.query('SELECT subject FROM mails WHERE recipient = ?').all(VICTIM);
      expect(mails).toContainEqual({ subject: 'Your e-mail address was confirmed' });
      expect(instance.events(tenant.application.id)).toContainEqual({
        type: 'user.identity_changed',
        data: { userId: before.userId, changed: ['provider', 'passkey'] },
      });
    });

    test('the person is notified in the language of the page where they prove the address', async () => {
      if (!proof.startsWith('a code at')) return;
      await occupyAccount(world);
      const { clientId } = proof.endsWith('another tenant') ? world.shop : world.tenant.application;
      const { instance } = world;
      const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
        body: { email: VICTIM, clientId, locale: 'de' },
      });
      const body = { challengeId: sent.json.data.challengeId, code: instance.codeFor(VICTIM) };
      expect((await instance.call('POST', '/api/v1/auth/otp/verify', { body })).status).toBe(200);
      const mails = instance.sqlite.query('SELECT subject FROM mails WHERE recipient = ?').all(VICTIM);
      expect(mails).toContainEqual({ subject: 'Ihre E-Mail-Adresse wurde bestätigt' });
    });

    test('nothing that the person enters reaches the claiming tenant', async () => {
      const before = await occupyAccount(world);
      const token = await prove(world, before.token);
      const isThere = ['a code at the same tenant', 'a code given in the session itself'].includes(proof);
      await writeProfile(world, token, 'Vera Private');
      const shown = JSON.stringify((await world.manageOwn('GET', `/users/${before.userId}`)).json);
      expect(shown.includes('Vera Private')).toBe(isThere);
      expect(eventTexts(world, world.tenant.application.id).includes('Vera Private')).toBe(isThere);
    });

    test('the claim signs nobody in once the person has joined another tenant, and a later proof ends nothing', async () => {
      const before = await occupyAccount(world);
      const token = await prove(world, before.token);
      const isElsewhere = !['a code at the same tenant', 'a code given in the session itself'].includes(proof);
      if (isElsewhere) expect(fragmentOf(await world.claim())).toEqual({ error: 'link_required' });
      await world.proveAt(world.tenant.application.clientId);
      await world.proveAt(world.shop.clientId);
      expect((await envelopeOf(world, token)).ok).toBe(true);
    });
  });

test('a move to another address leaves the claiming tenant with nothing', async () => {
  const { instance } = world;
  await occupyAccount(world);
  const { token } = await world.proveAt(world.shop.clientId);
  const proof = await instance.call('POST', '/api/account/proof', {
    token,
    body: { purpose: 'email_change', target: 'vera.new@example.com' },
  });
  const given = { challengeId: proof.json.data.challengeId, code: instance.codeFor(VICTIM) };
  await instance.call('POST', '/api/account/proof/confirm', { token, body: given });
  const asked = await instance.call('POST', '/api/account/email', { token, body: { email: 'vera.new@example.com' } });
  const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor('vera.new@example.com') };
  expect((await instance.call('POST', '/api/account/email/confirm', { token, body })).status).toBe(200);
  const landed = fragmentOf(await world.claim());
  expect(landed['token']).toBeUndefined();
  expect(JSON.stringify((await world.manageOwn('GET', '/users')).json)).not.toContain('vera.new');
});

test('a sign-in that the gate refuses proves the address nevertheless', async () => {
  const { token } = await occupyAccount(world);
  await world.manageShop('POST', '/signin-gate', { gate: 'private_beta' });
  const refused = await world.instance.trySignIn(world.shop.clientId, VICTIM);
  expect([refused.status, refused.json.error]).toEqual([403, 'waitlist']);
  expect((await envelopeOf(world, token)).error).toBe('revoked');
});

test('the account and its claimed profile can be deleted with a code from its mailbox', async () => {
  const { instance } = world;
  const { token } = await occupyAccount(world);
  await writeProfile(world, token, 'PWNED');
  const asked = await instance.call('POST', '/api/account/deletion', { token });
  const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor(VICTIM) };
  expect((await instance.call('DELETE', '/api/account', { token, body })).status).toBe(200);
  const left = instance.sqlite.query('SELECT count(*) AS n FROM users WHERE full_name IS NOT NULL').get();
  expect(left).toEqual({ n: 0 });
});

test('only one of two tenants that claim an address concurrently succeeds', async () => {
  const third = await addTenant(world.scene, 'Third');
  const landed = [await world.claim(), await third.own.signIn({ sub: 'third', email: VICTIM })];
  expect(landed.map((one) => fragmentOf(one)['error'] ?? 'in')).toEqual(['in', 'link_required']);
});

describe('the holder, refused everywhere,', () => {
  for (const [how, clientIdOf] of Object.entries({
    'by a waitlist': ({ shop }: World) => shop.clientId,
    'by the console': () => 'console',
  }))
    test(`${how} has proved the address, and the claim gains access to nothing of theirs`, async () => {
      await occupyAccount(world);
      await world.manageShop('POST', '/signin-gate', { gate: 'private_beta' });
      expect((await world.instance.trySignIn(clientIdOf(world), VICTIM)).status).toBe(403);
      expect(fragmentOf(await world.claim())).toEqual({ error: 'link_required' });
    });
});

test('a workspace does not learn from which address the holder signed in to another', async () => {
  const { instance, tenant, shop } = world;
  await occupyAccount(world);
  instance.peer = '198.51.100.99';
  await world.proveAt(shop.clientId);
  await instance.services.flushAll();
  const { text } = await instance.call('GET', '/api/workspace/activity/list', { token: tenant.workspaceKey });
  expect(text).toContain('"provider.unlinked"');
  expect(text).not.toContain(instance.peer);
});

test('a member who came by the provider can be deleted, stays out, and can be restored', async () => {
  const { token, userId } = await occupyAccount(world);
  const deleted = await world.manageOwn('POST', `/users/${userId}/delete`, {});
  expect([deleted.status, deleted.json.data?.status]).toEqual([200, 'deleted']);
  expect((await envelopeOf(world, token)).ok).toBe(false);
  expect(fragmentOf(await world.claim())).toEqual({ error: 'user_deleted' });
  expect((await world.manageOwn('POST', `/users/${userId}/restore`, {})).status).toBe(200);
  expect(fragmentOf(await world.claim())['token']).toBeDefined();
});

test('a person whom another workspace has claimed can delete their account', async () => {
  const { instance, shop } = world;
  await occupyAccount(world);
  const { token } = await world.proveAt(shop.clientId);
  const confirm = (path: string, challengeId: string, method = 'POST') =>
    instance.call(method, path, { token, body: { challengeId, code: instance.codeFor(VICTIM) } });
  const proof = await instance.call('POST', '/api/account/proof', { token, body: { purpose: 'account_deletion' } });
  await confirm('/api/account/proof/confirm', proof.json.data.challengeId);
  const asked = await instance.call('POST', '/api/account/deletion', { token });
  expect((await confirm('/api/account', asked.json.data.challengeId, 'DELETE')).status).toBe(200);
  const left = instance.sqlite.query('SELECT status, reserved_profile, username FROM application_users').all();
  expect(left).toContainEqual({ status: 'deleted', reserved_profile: null, username: null });
  expect(fragmentOf(await world.claim())).toEqual({ error: 'link_required' });
});

test('the instance’s provider keeps an identity that it proved in place of an earlier claim', async () => {
  const { instance, tenant, scene } = world;
  await world.claim();
  instance.sqlite.run('UPDATE provider_identities SET client_id = NULL');
  await world.manageOwn('DELETE', '/identity-provider');
  const shared = sceneOf(instance, tenant.application, scene.provider);
  const { token } = fragmentOf(await shared.signIn({ sub: CLAIM.sub, email: VICTIM }));
  const kept = await instance.call('GET', '/api/account/providers', { token });
  expect(kept.json.data.items).toMatchObject([{ email: VICTIM }]);
});

describe('a person who has proved the address only at the tenant', () => {
  test('is signed in by its provider, which changes nothing of theirs, until they join another tenant', async () => {
    const { instance, tenant, shop, claim, proveAt } = world;
    const { userId } = await proveAt(tenant.application.clientId);
    const claimed = fragmentOf(await claim())['token']!;
    expect(await envelopeOf(world, claimed)).toMatchObject({ userId, fullName: '', avatarUrl: null });
    const there = await proveAt(shop.clientId);
    expect((await envelopeOf(world, claimed)).error).toBe('revoked');
    expect(fragmentOf(await claim())).toEqual({ error: 'link_required' });
    const mails = instance.sqlite.query('SELECT subject FROM mails WHERE recipient = ?').all(VICTIM);
    expect(mails).toContainEqual({ subject: 'A sign-in provider was disconnected from your account' });
    await writeProfile(world, there.token, 'Vera Private');
    expect((await envelopeOf(world, there.token)).fullName).toBe('Vera Private');
  });

  test('needs a code to add a sign-in method in a session that rests on the provider’s claim', async () => {
    const { instance, tenant, shop, claim, own, proveAt } = world;
    await proveAt(tenant.application.clientId);
    const token = fragmentOf(await claim())['token']!;
    const devices = devicesOf(instance, tenant.application);
    const { user_code } = await devices.begin();
    const refusals = [
      await instance.call('POST', '/api/account/providers', { token, body: { returnTo: RETURN_TO } }),
      await instance.call('POST', '/api/account/passkeys/options', { token }),
      await devices.decide('approve', user_code, { token }),
    ];
    for (const { status, json } of refusals) expect([status, json.error]).toEqual([403, 'reauthentication_required']);
    // A code makes it the holder's own act.
    const asked = await instance.call('POST', '/api/account/proof', { token, body: { purpose: 'session' } });
    const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor(VICTIM) };
    expect((await instance.call('POST', '/api/account/proof/confirm', { token, body })).status).toBe(200);
    expect(fragmentOf(await link(own, token, { aud: 'mallory', sub: 'attacker' }))).toEqual({ linked: 'provider' });
    await proveAt(shop.clientId);
    expect(fragmentOf(await claim())['token']).toBeDefined();
  });

  test('keeps a provider that they connected themselves, in every workspace', async () => {
    const { tenant, shop, own, claim, proveAt } = world;
    const { token } = await proveAt(tenant.application.clientId);
    expect(fragmentOf(await link(own, token, { aud: 'mallory', sub: 'theirs' }))).toEqual({ linked: 'provider' });
    const signedIn = fragmentOf(await claim({ sub: 'theirs' }))['token']!;
    await proveAt(shop.clientId);
    expect((await envelopeOf(world, signedIn)).ok).toBe(true);
    expect(fragmentOf(await claim({ sub: 'theirs' }))['token']).toBeDefined();
  });
});
