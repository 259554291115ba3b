/** Revocation (RFC 7009): what it ends and reports, and what it leaves alone. */
import { describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { createScene, newSecret, REVOCATION } from './scene.ts';

describe('a session', () => {
  test('ends as by its holder’s sign-out, with the same reason, event and record', async () => {
    const { instance, application, ada, revoke } = await createScene();
    const bob = await instance.signIn(application.clientId, 'bob@example.com');
    const { status, json } = await revoke(ada.token);
    expect([status, json]).toEqual([200, {}]);
    await instance.call('DELETE', '/api/v1/session', { token: bob.token });
    const columns = 'revoked_reason AS reason, revoked_at AS at';
    const [first, second] = instance.sqlite.query(`SELECT ${columns} FROM sessions ORDER BY id`).all();
    expect(first).toEqual(second);
    const ends = instance.events(application.id).filter(({ type }) => type !== 'user.signed_in');
    expect(ends).toEqual(
      [ada, bob].map(({ userId }) => ({
        type: 'user.signed_out',
        data: { userId, sessionId: expect.stringMatching(/^ses_/) },
      })),
    );
    const records = instance.sqlite
      .query(
        "SELECT actor_type AS type, actor_user_id AS actor, user_id AS user FROM audit_records WHERE kind = 'session.signed_out' ORDER BY rowid",
      )
      .all();
    expect(records).toEqual([ada, bob].map(({ userId }) => ({ type: 'user', actor: userId, user: userId })));
    const after = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect([after.status, after.json.error]).toEqual([401, 'revoked']);
  });

  test('a session ended by a backend’s key is recorded with the key as the actor', async () => {
    const { instance, application, ada } = await createScene();
    const key = await instance.createKey(application.id);
    const { status } = await instance.call('POST', REVOCATION, { token: key.token, body: { token: ada.token } });
    expect(status).toBe(200);
    const record = instance.sqlite
      .query("SELECT actor_type AS type, actor_api_key_id AS id FROM audit_records WHERE kind = 'session.signed_out'")
      .get();
    expect(record).toEqual({ type: 'key', id: key.id });
  });

  test('ends once for any number of concurrent requests', async () => {
    const { instance, application, ada, revoke } = await createScene();
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(ada.token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'session.signed_out')).toHaveLength(1);
  });
});

test('a personal key ends at once, as if its person disconnected the device', async () => {
  const { instance, application, ada, devices, introspect, revoke } = await createScene();
  const { token, id } = await devices.connect(ada);
  expect((await revoke(token)).status).toBe(200);
  expect((await introspect(token)).json).toEqual({ active: false });
  expect((await instance.call('GET', '/api/me/roles', { token })).status).toBe(401);
  expect((await introspect(ada.token)).json.active).toBe(true);
  const { json } = await instance.call('GET', '/api/account/devices', { token: ada.token });
  expect(json.data.items).toEqual([]);
  const records = instance.sqlite
    .query("SELECT actor_user_id AS actor, target_id AS target FROM audit_records WHERE kind = 'device.revoked'")
    .all();
  expect(records).toEqual([{ actor: ada.userId, target: id }]);
  expect((await revoke(token)).status).toBe(200);
  expect(instance.auditKinds(application.id).filter((kind) => kind === 'device.revoked')).toHaveLength(1);
});

describe('refused or empty revocations', () => {
  test('an invalid or ended token is a success without a change', async () => {
    const { instance, ada, application, revoke } = await createScene();
    const revoked = await given.revokedKey(instance, application.id);
    await revoke(ada.token);
    const tokens = ['', 'nonsense', mintSecret('session', systemRandom), mintSecret('apiKey', systemRandom)];
    const before = dumpTables(instance);
    for (const token of [...tokens, ada.token, revoked.token]) {
      const { status, json } = await revoke(token);
      expect([status, json]).toEqual([200, {}]);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('another client’s token is refused if it is active, and a success if it has ended', async () => {
    const { instance, ada, devices, introspect, revoke } = await createScene();
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const { application, workspaceKey } = await given.tenant(instance);
    const device = await devices.connect(ada);
    const others = [
      { clientId: sibling.clientId, secret: await newSecret(instance, sibling) },
      { clientId: application.clientId, secret: await newSecret(instance, application, workspaceKey) },
    ];
    const before = dumpTables(instance);
    for (const other of others)
      for (const token of [ada.token, device.token, instance.workspaceKey]) {
        const { status, json } = await revoke(token, other);
        expect([status, json.error]).toEqual([400, 'invalid_grant']);
      }
    const { status, json } = await instance.call('POST', REVOCATION, {
      token: workspaceKey,
      body: { token: ada.token },
    });
    expect([status, json.error]).toEqual([400, 'invalid_grant']);
    await instance.services.flushAll();
    expect(dumpTables(instance)['sessions']).toEqual(before['sessions']!);
    expect((await introspect(ada.token)).json.active).toBe(true);
    expect((await introspect(device.token)).json.active).toBe(true);
    await revoke(ada.token);
    for (const other of others) expect((await revoke(ada.token, other)).status).toBe(200);
  });

  test('a backend’s key is refused, since no grant issued it', async () => {
    const { instance, application, introspect, revoke } = await createScene();
    const key = await instance.createKey(application.id);
    const { status, json } = await revoke(key.token);
    expect([status, json.error]).toEqual([400, 'unsupported_token_type']);
    expect((await introspect(key.token)).json.active).toBe(true);
  });
});
