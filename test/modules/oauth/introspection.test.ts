/** Introspection (RFC 7662): the claims of an active token, and that an inactive one reveals nothing. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import { START } from '../../support/instance.ts';
import { createScene, INTROSPECTION, newSecret } from './scene.ts';

const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_`));

describe('an active token', () => {
  test('an active session’s claims are the current data of its person, application and grants', async () => {
    const { instance, application, clientId, ada, introspect } = await createScene();
    const plain = {
      active: true,
      sub: ada.userId,
      client_id: clientId,
      aud: clientId,
      iss: 'http://localhost:8080',
      jti: ID('ses'),
      token_type: 'Bearer',
      iat: START / 1000,
      exp: (START + 30 * DAY) / 1000,
      email: 'ada@example.com',
      roles: ['user'],
      memberships: [],
    };
    expect((await introspect(ada.token)).json).toEqual(plain);
    await given.holder(instance, 'scopes', application.id, ada.userId, 'orders:write', 'orders:read');
    await given.holder(instance, 'memberships', application.id, ada.userId, 'berlin');
    const call = (path: string, body: object) => instance.call('PATCH', path, { token: ada.token, body });
    expect((await call('/api/account/username', { username: 'ada' })).status).toBe(200);
    await call('/api/account/profile/identity', { givenName: 'Ada', familyName: 'Lovelace' });
    expect((await introspect(ada.token)).json).toEqual({
      ...plain,
      scope: 'orders:read orders:write',
      username: 'ada',
      name: 'Ada Lovelace',
      memberships: ['berlin'],
    });
  });

  test('an active device token belongs to the person and does not expire', async () => {
    const { devices, ada, clientId, introspect } = await createScene();
    const { token, id } = await devices.connect(ada);
    const { json } = await introspect(token);
    expect(json).toMatchObject({ active: true, sub: ada.userId, client_id: clientId, jti: id });
    expect([json.email, json.exp]).toEqual(['ada@example.com', undefined]);
  });

  test('an active backend key belongs to its principal, whose placeholder address is omitted', async () => {
    const { instance, application, introspect } = await createScene();
    const expiresAt = new Date(START + HOUR).toISOString();
    const key = await instance.createKey(application.id, { expiresAt });
    const { json } = await introspect(key.token);
    expect(json).toMatchObject({ active: true, sub: key.userId, jti: key.id, exp: (START + HOUR) / 1000 });
    expect(json).not.toHaveProperty('email');
    const path = `/api/applications/${application.id}/api-keys`;
    const other = await instance.createKey(application.id);
    await instance.call('POST', `${path}/${other.id}/rotate-with-grace`, { token: instance.workspaceKey });
    expect((await introspect(other.token)).json.exp).toBe((START + DAY) / 1000);
  });

  test('is shown to keys within their reach', async () => {
    const { instance, application, ada } = await createScene();
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const ask = async (token: string) =>
      (await instance.call('POST', INTROSPECTION, { token, body: { token: ada.token } })).json;
    const within = [
      instance.workspaceKey,
      (await instance.createKey(application.id, { access: 'read' })).token,
      (await given.workspaceKey(instance, { applicationIds: [application.id] })).token,
    ];
    for (const key of within) expect(await ask(key)).toMatchObject({ active: true, sub: ada.userId });
    const outside = [
      (await instance.createKey(sibling.id)).token,
      (await given.workspaceKey(instance, { applicationIds: [sibling.id] })).token,
      (await given.tenant(instance)).workspaceKey,
    ];
    for (const key of outside) expect(await ask(key)).toEqual({ active: false });
  });
});

describe('an inactive token', () => {
  test('reveals no reason', async () => {
    const { instance, application, clientId, shown, introspect, devices, ada } = await createScene();
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const tenant = await given.tenant(instance);
    const { users } = instance.services;
    const later = async (email: string) => {
      instance.clock.advance(HOUR);
      return instance.signIn(clientId, email);
    };
    const out = await later('out@example.com');
    await instance.call('DELETE', '/api/v1/session', { token: out.token });
    const [banned, paused, deleted] = [
      await later('banned@example.com'),
      await later('paused@example.com'),
      await later('deleted@example.com'),
    ];
    await users.act(SYSTEM_ACTOR, application, banned.userId, 'ban');
    await users.act(SYSTEM_ACTOR, application, paused.userId, 'pause');
    await users.act(SYSTEM_ACTOR, application, deleted.userId, 'delete');
    const [brief] = await given.sessions(instance, { id: application.id, sessionTtlSeconds: 30 }, ada.userId, 1);
    instance.clock.advance(HOUR);
    const device = await devices.connect(await devices.signIn('ada@example.com'));
    await instance.call('DELETE', `/api/account/devices/${device.id}`, { token: ada.token });
    const tokens = {
      nothing: '',
      nonsense: 'nonsense',
      endless: 'est_'.padEnd(60_000, 'a'),
      'NUL in it': 'est_\0',
      unknown: mintSecret('session', systemRandom),
      'unknown key': mintSecret('apiKey', systemRandom),
      'signed out': out.token,
      banned: banned.token,
      paused: paused.token,
      deleted: deleted.token,
      expired: brief!.token,
      'disconnected device': device.token,
      'revoked key': (await given.revokedKey(instance, application.id)).token,
      'of a sibling': (await instance.signIn(sibling.clientId, 'bob@example.com')).token,
      'of another tenant': (await instance.signIn(tenant.application.clientId, 'eve@example.com')).token,
      'of the console': (await instance.signIn('console', 'owner@example.com')).token,
      'key of a sibling': (await instance.createKey(sibling.id)).token,
      'key of the workspace': instance.workspaceKey,
      'key of another workspace': tenant.workspaceKey,
      'client secret': shown.secret,
    };
    for (const [what, token] of Object.entries(tokens)) {
      const { status, json } = await introspect(token);
      expect([what, status, json]).toEqual([what, 200, { active: false }]);
    }
    expect((await introspect(ada.token)).json.active).toBe(true);
  });

  test('is also the answer to the client of another workspace', async () => {
    const { instance, ada, introspect } = await createScene();
    const { application, workspaceKey } = await given.tenant(instance);
    const shown = { clientId: application.clientId, secret: await newSecret(instance, application, workspaceKey) };
    expect((await introspect(ada.token, shown)).json).toEqual({ active: false });
    const eve = await instance.signIn(application.clientId, 'ada@example.com');
    expect((await introspect(eve.token, shown)).json).toMatchObject({ active: true, sub: ada.userId });
    expect((await introspect(eve.token)).json).toEqual({ active: false });
  });
});

test('introspection counts as a use of the token, like verification', async () => {
  const { instance, ada, introspect } = await createScene();
  instance.clock.advance(HOUR);
  await introspect(ada.token);
  await instance.services.flushAll();
  const [row] = instance.sqlite.query('SELECT last_seen_at AS at FROM sessions').all() as { at: number }[];
  expect(row!.at).toBe(START + HOUR);
});
