/**
 * Trust in providers: it belongs to a client at an issuer, not to the issuer, and an application's client counts in
 * its workspace only.
 */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { insertIdentity } from '@/store/provider-identities.ts';
import { fragmentOf } from '../modules/provider/browser.ts';
import { createScene, personOf, RETURN_TO, type Scene, sceneOf, startProvider } from '../modules/provider/scene.ts';
import { addTenant, link, NO_INSTANCE_CLIENT, putClient, withClient } from '../modules/provider/tenants.ts';
import * as given from '../support/given.ts';
import type { Answer } from '../support/instance.ts';

const ADA = 'ada@example.com';
const OWNER = 'owner@example.com';
const CONSOLE = 'http://localhost:8080/console';

const identities = ({ instance }: Scene) =>
  instance.sqlite
    .query('SELECT user_id, workspace_id, client_id, subject FROM provider_identities ORDER BY rowid')
    .all();
const signedIn = (landed: Answer) => 'token' in fragmentOf(landed);
const errorOf = (landed: Answer) => fragmentOf(landed)['error'];

/** Signs in to the console through the operator's own client. */
async function enterConsole(scene: Scene, claims: Record<string, unknown>): Promise<Answer> {
  scene.provider.claims = claims;
  return scene.comeBack(await scene.begin({ clientId: 'console', returnTo: CONSOLE }));
}

describe('a client of an application at the operator’s issuer', () => {
  test('cannot be set by an application key, and signs nobody in to the console', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    await instance.signIn('console', OWNER);
    const { token } = await instance.createKey(application.id);
    const set = await putClient(instance, application.id, token, {
      issuer: scene.provider.issuer,
      clientId: 'mallory',
    });
    expect([set.status, set.json.error]).toEqual([403, 'forbidden']);
    // A workspace key does not change that.
    const own = await withClient(scene, 'mallory', application, instance.workspaceKey);
    const landed = await own.signIn({ sub: 'mallory', email: OWNER });
    expect(errorOf(landed)).toBe('link_required');
    const entered = await enterConsole(own, { sub: 'mallory', email: 'mallory@example.com' });
    expect(fragmentOf(entered)).toEqual({ error: 'gate_closed' });
    expect(entered.headers.getSetCookie()).toEqual([]);
  });

  test('takes over nobody whom another tenant knows', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const { userId } = await instance.signIn(application.clientId, ADA);
    const { own } = await addTenant(scene);
    expect(errorOf(await own.signIn({ sub: 'mallory', email: ADA }))).toBe('link_required');
    expect(identities(scene)).toEqual([]);
    // The forger's subject leads only to the forger's account afterwards.
    const forger = await personOf(scene, await scene.signIn({ sub: 'mallory', email: 'mallory@example.com' }));
    expect(forger.userId).not.toBe(userId);
  });

  test('neither proves a person nor finds one who came through another client', async () => {
    const scene = await createScene();
    const { tenant, own } = await addTenant(scene);
    const { userId } = await personOf(own, await own.signIn({ sub: 'mallory', email: 'victim@example.com' }));
    expect(identities(scene)).toEqual([
      { user_id: userId, workspace_id: tenant.workspaceId, client_id: 'mallory', subject: 'mallory' },
    ]);
    const proved = scene.instance.sqlite.query('SELECT email_verified_at FROM users WHERE id = ?').get(userId);
    expect(proved).toEqual({ email_verified_at: null });
    const forger = await personOf(scene, await scene.signIn({ sub: 'mallory', email: 'mallory@example.com' }));
    expect(forger.userId).not.toBe(userId);
  });

  test('cannot claim a subject that the operator’s client has proved', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn({ sub: 'ada' }));
    const { own } = await addTenant(scene);
    for (const claims of [{ email: undefined }, { email_verified: false }])
      expect(errorOf(await own.signIn({ sub: 'ada', ...claims }))).toBe('email_unverified');
    const other = await personOf(own, await own.signIn({ sub: 'ada', email: 'someone@example.com' }));
    expect(other.userId).not.toBe(userId);
    expect((await personOf(scene, await scene.signIn({ sub: 'ada' }))).userId).toBe(userId);
  });

  test('sets no picture of a person whom other tenants know', async () => {
    const scene = await createScene();
    const { tenant, own } = await addTenant(scene);
    const { token, userId } = await scene.instance.signIn(tenant.application.clientId, ADA);
    await scene.instance.signIn(scene.application.clientId, ADA);
    const claims = { aud: 'mallory', sub: 'ada', picture: 'https://id.example.com/defaced.png' };
    expect(fragmentOf(await link(own, token, claims))).toEqual({ linked: 'provider' });
    expect((await personOf(own, await own.signIn(claims))).userId).toBe(userId);
    const picture = scene.instance.sqlite.query('SELECT provider_avatar_url FROM users WHERE id = ?').get(userId);
    expect(picture).toEqual({ provider_avatar_url: null });
  });
});

describe('one subject under two clients', () => {
  test('is two people, each found through their own client', async () => {
    const scene = await createScene();
    const { own } = await addTenant(scene);
    const first = await personOf(scene, await scene.signIn({ sub: 'same', email: ADA }));
    const second = await personOf(own, await own.signIn({ sub: 'same', email: 'bea@example.com' }));
    expect(second.userId).not.toBe(first.userId);
    expect((await personOf(scene, await scene.signIn({ sub: 'same' }))).userId).toBe(first.userId);
    expect((await personOf(own, await own.signIn({ sub: 'same', email: 'bea@example.com' }))).userId).toBe(
      second.userId,
    );
  });

  test('is one person at Google, whose subjects no client can choose', async () => {
    const google = 'https://accounts.google.com';
    const { reachOf } = (await createScene({ environment: { GATEHOUSE_GOOGLE_ISSUER: google } })).instance.services
      .provider.clients;
    expect(reachOf({ issuer: google, clientId: 'gatehouse' })).toBe('everywhere');
    expect(reachOf({ issuer: google, clientId: 'any' })).toBe('everywhere');
    expect(reachOf({ issuer: `${google}.evil.example`, clientId: 'gatehouse' })).toBe('workspace');
  });
});

describe('an identity connected from the account', () => {
  test('an identity through one client does not block people who use another client', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const own = await withClient(scene, 'shop', application, instance.workspaceKey);
    const mallory = await instance.signIn(application.clientId, 'mallory@example.com');
    // The attacker is in the same workspace and uses the victim's own subject at the operator's issuer.
    expect(fragmentOf(await link(own, mallory.token, { aud: 'shop', sub: 'ada' }))).toEqual({ linked: 'provider' });
    const club = await instance.createApplication({ name: 'Club', returnUrls: [RETURN_TO] });
    const other = sceneOf(instance, club, scene.provider);
    const ada = await personOf(other, await other.signIn({ sub: 'ada', email: ADA }));
    expect(ada.userId).not.toBe(mallory.userId);
    // The victim can still connect their own identity.
    const { token } = await instance.signIn(club.clientId, ADA);
    expect(fragmentOf(await link(other, token, { sub: 'ada' }))).toEqual({ linked: 'provider' });
  });

  test('is disconnected alone: the identity of another client stays', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const { token, userId } = await instance.signIn(application.clientId, 'countess@example.com');
    await link(scene, token, { sub: 'ada' });
    const own = await withClient(scene, 'shop', application, instance.workspaceKey);
    await link(own, token, { aud: 'shop', sub: 'ada' });
    const { items } = (await instance.call('GET', '/api/account/providers', { token })).json.data;
    expect(items).toHaveLength(2);
    const removed = await instance.call('DELETE', `/api/account/providers/${items[1].id}`, { token });
    expect(removed.status).toBe(200);
    expect((await personOf(own, await own.signIn({ sub: 'ada', email: 'x@example.com' }))).userId).not.toBe(userId);
    await instance.call('DELETE', `/api/applications/${application.id}/identity-provider`, {
      token: instance.workspaceKey,
    });
    expect((await personOf(scene, await scene.signIn({ sub: 'ada' }))).userId).toBe(userId);
  });

  test('an identity of a client that the application no longer uses is no sign-in method there', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const own = await withClient(scene, 'old', application, instance.workspaceKey);
    const { token } = await instance.signIn(application.clientId, ADA);
    await link(own, token, { aud: 'old', sub: 'ada' });
    await withClient(scene, 'new', application, instance.workspaceKey);
    await link(own, token, { aud: 'new', sub: 'ada' });
    await given.application(instance, application.id, { signinMethods: ['provider'] });
    const { items } = (await instance.call('GET', '/api/account/providers', { token })).json.data;
    const last = await instance.call('DELETE', `/api/account/providers/${items[1].id}`, { token });
    expect([last.status, last.json.error]).toEqual([409, 'invalid_state']);
  });
});

describe('after the operator has changed the client id of the instance', () => {
  async function changed() {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn({ sub: 'ada' }));
    const { instance, provider } = scene;
    const restarted = await instance.restart({ GATEHOUSE_GOOGLE_CLIENT_ID: 'second' });
    const next = sceneOf(restarted, scene.application, provider);
    const after = { ...next, signIn: (claims = {}) => next.signIn({ aud: 'second', ...claims }) };
    return { scene: after, userId };
  }

  test('people are found again by their proved address', async () => {
    const { scene, userId } = await changed();
    expect((await personOf(scene, await scene.signIn({ sub: 'other-subject' }))).userId).toBe(userId);
    expect(identities(scene)).toMatchObject([{ client_id: 'gatehouse' }, { client_id: 'second' }]);
  });

  test('a tenant that uses the former id counts in its own workspace alone', async () => {
    const { scene, userId } = await changed();
    const { tenant, own } = await addTenant(scene, 'Gatehouse');
    expect(errorOf(await own.signIn({ sub: 'ada' }))).toBe('link_required');
    const someone = await personOf(own, await own.signIn({ sub: 'ada', email: 'someone@example.com' }));
    expect(someone.userId).not.toBe(userId);
    expect(identities(scene)[1]).toMatchObject({ workspace_id: tenant.workspaceId, client_id: 'gatehouse' });
  });
});

describe('with several workspaces, each with its own client', () => {
  test('two workspaces sign in their own people at one issuer, new and known ones', async () => {
    const scene = await createScene({ environment: NO_INSTANCE_CLIENT });
    const { instance, application } = scene;
    const first = await withClient(scene, 'first', application, instance.workspaceKey);
    const known = await instance.signIn(application.clientId, 'known@example.com');
    const { tenant, own: second } = await addTenant(scene, 'Second');
    expect((await personOf(first, await first.signIn({ sub: '1', email: ADA }))).email).toBe(ADA);
    expect((await personOf(first, await first.signIn({ sub: '1', email: undefined }))).email).toBe(ADA);
    const linked = await personOf(first, await first.signIn({ sub: '2', email: 'known@example.com' }));
    expect(linked.userId).toBe(known.userId);
    expect((await personOf(second, await second.signIn({ sub: '1', email: 'bea@example.com' }))).email).toBe(
      'bea@example.com',
    );
    const records = [application, tenant.application].map(({ id }, index) =>
      instance.call('GET', `/api/applications/${id}/identity-provider`, {
        token: index === 0 ? instance.workspaceKey : tenant.workspaceKey,
      }),
    );
    for (const { json } of await Promise.all(records)) expect(json.data.speaksFor).toBe('workspace');
  });

  test('a person known to both connects a client after a code, and then signs in through it', async () => {
    const scene = await createScene({ environment: NO_INSTANCE_CLIENT });
    const { instance, application } = scene;
    const { own, tenant } = await addTenant(scene, 'Second');
    const { userId } = await instance.signIn(application.clientId, ADA);
    expect(errorOf(await own.signIn({ sub: 'ada', email: ADA }))).toBe('link_required');
    const { token } = await instance.signIn(tenant.application.clientId, ADA);
    expect(fragmentOf(await link(own, token, { aud: 'second', sub: 'ada' }))).toEqual({ linked: 'provider' });
    expect((await personOf(own, await own.signIn({ sub: 'ada' }))).userId).toBe(userId);
  });

  test('another tenant’s import or invitation locks nobody out of their own', async () => {
    const scene = await createScene();
    const { instance } = scene;
    const { own, tenant } = await addTenant(scene, 'Second');
    await instance.signIn(tenant.application.clientId, ADA);
    const imported = await instance.call('POST', `/api/applications/${scene.application.id}/users/bulk`, {
      token: instance.workspaceKey,
      body: { users: [{ email: ADA }] },
    });
    expect(imported.status).toBe(200);
    await instance.call('POST', '/api/workspace/members', {
      token: instance.workspaceKey,
      body: { email: ADA, role: 'member' },
    });
    expect(signedIn(await own.signIn({ sub: 'ada', email: ADA }))).toBe(true);
  });

  test('a provider removed during a sign-in signs nobody in', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const own = await withClient(scene, 'shop', application, instance.workspaceKey);
    own.provider.claims = { aud: 'shop' };
    const query = await own.begin();
    // Removed while the provider is asked for the token.
    own.provider.sign = ((sign) => async (claims: Record<string, unknown>) => {
      await instance.call('DELETE', `/api/applications/${application.id}/identity-provider`, {
        token: instance.workspaceKey,
      });
      return sign(claims);
    })(own.provider.sign);
    const landed = await own.comeBack(query);
    expect([landed.status, landed.headers.get('location')]).toEqual([409, null]);
    expect(scene.count('provider_identities')).toBe(0);
  });
});

describe('an identity stored before clients were recorded', () => {
  const forget = ({ instance }: Scene, clientId: string | null) =>
    instance.sqlite.run('UPDATE provider_identities SET client_id = ?', [clientId]);

  test('belongs to the instance if only the instance had a client, and records it at its next use', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn({ sub: 'ada' }));
    forget(scene, '');
    const { own } = await addTenant(scene);
    expect(errorOf(await own.signIn({ sub: 'ada', email: undefined }))).toBe('email_unverified');
    const found = await personOf(scene, await scene.signIn({ sub: 'ada', email: 'moved@example.com' }));
    expect(found.userId).toBe(userId);
    expect(identities(scene)).toMatchObject([{ client_id: 'gatehouse' }]);
  });

  test('an identity of an ambiguous client counts only with the proved address and creates no second account', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn({ sub: 'ada' }));
    forget(scene, null);
    expect(errorOf(await scene.signIn({ sub: 'ada', email: 'moved@example.com' }))).toBe('link_required');
    expect((await personOf(scene, await scene.signIn({ sub: 'ada' }))).userId).toBe(userId);
    expect(identities(scene)).toMatchObject([{ client_id: 'gatehouse', user_id: userId }]);
  });

  test('an identity forged through the attacker’s own client does not lead to the victim', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const victim = await instance.signIn(application.clientId, ADA);
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      const forged = { issuer: scene.provider.issuer, clientId: null, subject: 'mallory', email: ADA };
      await insertIdentity(unit, { userId: victim.userId, workspaceId: null, ...forged });
    });
    const landed = await scene.signIn({ sub: 'mallory', email: 'mallory@example.com' });
    expect(errorOf(landed)).toBe('link_required');
    // A code and a connection of their own resolve it.
    const { token, userId } = await instance.signIn(application.clientId, 'mallory@example.com');
    await link(scene, token, { sub: 'mallory' });
    expect((await personOf(scene, await scene.signIn({ sub: 'mallory' }))).userId).toBe(userId);
  });
});

test('an invited or imported person without proof and sign-in method is linked at once', async () => {
  const scene = await createScene();
  const { instance } = scene;
  const { json } = await instance.call('POST', '/api/workspace/members', {
    token: instance.workspaceKey,
    body: { email: ADA, role: 'admin' },
  });
  const entered = await enterConsole(scene, { sub: 'ada', email: ADA });
  expect((await personOf(scene, entered)).userId).toBe(json.data.userId);
  expect(signedIn(await scene.signIn({ sub: 'ada' }))).toBe(true);
});

test('two providers of one workspace do not open each other’s accounts', async () => {
  const scene = await createScene({ environment: NO_INSTANCE_CLIENT });
  const { instance, application } = scene;
  const lax = await withClient(scene, 'lax', application, instance.workspaceKey);
  const squatter = await personOf(lax, await lax.signIn({ sub: 'squatter', email: ADA }));
  const club = await instance.createApplication({ name: 'Club', returnUrls: [RETURN_TO] });
  const provider = await startProvider(() => instance.clock.now());
  const strict = await withClient({ ...scene, provider }, 'strict', club, instance.workspaceKey);
  expect(errorOf(await strict.signIn({ sub: 'ada', email: ADA }))).toBe('email_unverified');
  expect(squatter.email).toBe(ADA);
});
