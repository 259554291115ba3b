import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE, SECOND } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { isSecret, mintSecret, secretPrefix } from '@/core/secret.ts';
import { findConsole } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { lastAudit, tables } from '../users/management.ts';
import { countKeys, createScene, DEVICE_GRANT_TYPE, grants, type Scene, sceneOf, TOKEN_PATH } from './scene.ts';

const wait = ({ instance }: Scene, seconds: number) => instance.clock.advance(seconds * SECOND);

describe('a poll', () => {
  test('is answered with authorization_pending before a decision', async () => {
    const { begin, poll } = await createScene();
    const { status, json, headers } = await poll(await begin());
    expect([status, json]).toEqual([
      400,
      { error: 'authorization_pending', error_description: expect.any(String), requestId: expect.any(String) },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('at the interval never gets slow_down, and never lengthens the interval', async () => {
    const scene = await createScene();
    const codes = await scene.begin();
    for (let count = 0; count < 20; count += 1) {
      expect(await scene.outcome(codes)).toBe('authorization_pending');
      wait(scene, 5);
    }
    expect(grants(scene.instance)[0]).toMatchObject({ interval_seconds: 5 });
  });

  test('before the interval gets slow_down, and lengthens the interval by five seconds for good', async () => {
    const scene = await createScene();
    const codes = await scene.begin();
    const after = (seconds: number) => (wait(scene, seconds), scene.outcome(codes));
    const [pending, slower] = ['authorization_pending', 'slow_down'];
    expect(await after(0)).toBe(pending);
    expect(await after(4.999)).toBe(slower); // the interval is now 10
    expect(await after(10)).toBe(pending);
    expect(await after(9.999)).toBe(slower); // the interval is now 15
    expect(await after(10)).toBe(slower); // the interval is now 20
    expect(await after(19.999)).toBe(slower); // the interval is now 25
    expect(await after(25)).toBe(pending);
    expect(await after(25)).toBe(pending);
    expect(grants(scene.instance)[0]).toMatchObject({ interval_seconds: 25 });
  });

  test('for one device does not slow down another', async () => {
    const scene = await createScene();
    const [first, second] = [await scene.begin(), await scene.begin()];
    await scene.outcome(first);
    expect(await scene.outcome(second)).toBe('authorization_pending');
    expect(await scene.outcome(first)).toBe('slow_down');
  });

  test('stops writing to the database once it is far too frequent', async () => {
    const scene = await createScene();
    const codes = await scene.begin();
    for (let count = 0; count < 200; count += 1) await scene.outcome(codes);
    const before = dumpTables(scene.instance);
    wait(scene, 1);
    expect(await scene.outcome(codes)).toBe('slow_down');
    expect(dumpTables(scene.instance)).toEqual(before);
  });

  test('gets expired_token after fifteen minutes, regardless of the decision', async () => {
    const scene = await createScene();
    const { ada, begin, outcome, decide } = scene;
    const [pending, approved, denied] = [await begin(), await begin(), await begin()];
    await decide('approve', approved.user_code, ada);
    await decide('deny', denied.user_code, ada);
    scene.instance.clock.advance(15 * MINUTE - 1);
    expect(await outcome(pending)).toBe('authorization_pending');
    scene.instance.clock.advance(1);
    for (const codes of [pending, approved, denied]) expect(await outcome(codes)).toBe('expired_token');
    expect(countKeys(scene.instance)).toBe(0);
  });

  test('gets access_denied every time after the person declined', async () => {
    const { ada, begin, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('deny', codes.user_code, ada);
    for (let count = 0; count < 3; count += 1) expect(await outcome(codes)).toBe('access_denied');
    expect(countKeys(instance)).toBe(0);
  });
});

describe('an approved grant', () => {
  test('issues a personal key once, in exactly three fields', async () => {
    const { ada, begin, poll, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    const { status, json, headers } = await poll(codes);
    expect([status, json]).toEqual([200, { access_token: expect.any(String), token_type: 'Bearer', scope: null }]);
    expect(isSecret('apiKey', json.access_token)).toBe(true);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(await outcome(codes)).toBe('expired_token');
    expect(countKeys(instance)).toBe(1);
  });

  test('omits the scope in the answer to a form, since it would be a string there', async () => {
    const { ada, application, begin, decide, sendForm } = await createScene();
    const codes = await begin();
    const form = {
      grant_type: DEVICE_GRANT_TYPE,
      device_code: codes.device_code,
      client_id: application.clientId,
      resource: 'ignored',
    };
    expect((await sendForm(TOKEN_PATH, form)).json.error).toBe('authorization_pending');
    await decide('approve', codes.user_code, ada);
    const { status, json } = await sendForm(TOKEN_PATH, form);
    expect([status, json]).toEqual([200, { access_token: expect.stringMatching(/^eak_/), token_type: 'Bearer' }]);
  });

  test('issues the key even to a poll before the interval', async () => {
    const { ada, begin, outcome, decide } = await createScene();
    const codes = await begin();
    await outcome(codes);
    await outcome(codes);
    await decide('approve', codes.user_code, ada);
    expect(await outcome(codes)).toBe('Bearer');
  });

  test('issues one key to fifty concurrent polls', async () => {
    const { ada, begin, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(codes)));
    expect(outcomes.filter((one) => one === 'Bearer')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'expired_token')).toHaveLength(49);
    expect(countKeys(instance)).toBe(1);
  });

  test('issues a key of the person without expiry, named after the device', async () => {
    const { ada, application, connect, instance } = await createScene();
    const { token, id } = await connect(ada, { device_name: 'Ada’s laptop' });
    expect(instance.sqlite.query('SELECT * FROM api_keys WHERE id = ?').get(id)).toMatchObject({
      name: 'Ada’s laptop',
      prefix: secretPrefix(token),
      access: 'read',
      source: 'device',
      workspace_id: instance.workspaceId,
      application_id: application.id,
      application_ids: null,
      application_user_id: grants(instance)[0]!['application_user_id'],
      per_minute: 60,
      per_day: 10_000,
      expires_at: null,
      revoked_at: null,
      created_by_user_id: ada.userId,
    });
    expect(grants(instance)[0]).toMatchObject({ status: 'redeemed', api_key_id: id });
  });

  test('writes an audit record, notifies the person by mail, and emits no event', async () => {
    const { ada, application, connect, instance } = await createScene();
    const events = instance.events(application.id);
    const { id } = await connect(ada, { device_name: 'Ada’s laptop' });
    expect(instance.auditKinds(application.id).slice(-2)).toEqual(['device.approved', 'apikey.created']);
    const record = lastAudit(instance, 'apikey.created');
    expect(record).toMatchObject({
      target_id: id,
      user_id: ada.userId,
      email: 'ada@example.com',
      actor_type: 'user',
      actor_user_id: ada.userId,
      workspace_id: instance.workspaceId,
      ok: 1,
    });
    expect(JSON.parse(record['detail'] as string)).toEqual({ name: 'Ada’s laptop', access: 'read', source: 'device' });
    const mail = instance.sqlite.query('SELECT recipient, text, code FROM mails ORDER BY rowid DESC').get();
    expect(mail).toMatchObject({ recipient: 'ada@example.com', code: null });
    expect((mail as { text: string }).text).toContain('Ada’s laptop');
    expect(instance.events(application.id)).toEqual(events);
  });

  test('names the key after the user agent when the device sent no name', async () => {
    const { ada, begin, decide, poll, instance } = await createScene();
    const codes = await begin({}, { 'user-agent': 'acme-cli/2.1 (linux)' });
    await decide('approve', codes.user_code, ada);
    await poll(codes);
    expect(instance.sqlite.query("SELECT name FROM api_keys WHERE source = 'device'").get()).toEqual({
      name: 'acme-cli',
    });
  });

  test.each(['banned', 'paused', 'deleted', 'inactivated', 'left'] as const)(
    'issues no key after the person became %s, even after their return',
    async (status) => {
      const { ada, begin, outcome, decide, setStatus, instance } = await createScene();
      const codes = await begin();
      await decide('approve', codes.user_code, ada);
      await setStatus(ada.userId, status);
      expect(await outcome(codes)).toBe('access_denied');
      await setStatus(ada.userId, 'active');
      expect(await outcome(codes)).toBe('access_denied');
      expect(countKeys(instance)).toBe(0);
    },
  );

  test('issues no key when the gate has closed to the person', async () => {
    const { ada, application, begin, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    await given.application(instance, application.id, { signinGate: 'private_beta' });
    expect(await outcome(codes)).toBe('access_denied');
    expect(countKeys(instance)).toBe(0);
  });

  test('still issues the key after the person has signed out', async () => {
    const { ada, begin, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(await outcome(codes)).toBe('Bearer');
  });

  test.each([
    ['archived', { kind: 'archive' }, 'unarchive'],
    ['deleted', { kind: 'delete' }, 'restore'],
    ['hidden', { kind: 'delete', skipGrace: true }, 'restore'],
  ])('ends for good once its application is %s, and so does a pending grant', async (_, change, back) => {
    const scene = await createScene();
    const { ada, application, instance, begin, decide, outcome } = scene;
    const other = sceneOf(instance, await instance.createApplication({ name: 'Other' }));
    const elsewhere = await other.begin();
    const [open, approved, unasked] = [await begin(), await begin(), await begin()];
    for (const { user_code } of [approved, unasked]) await decide('approve', user_code, ada);
    expect((await given.lifecycle(instance, application.id, change)).status).toBe(200);
    for (const codes of [open, approved]) expect(await outcome(codes)).toBe('access_denied');
    const { status } = await instance.call('POST', `/api/applications/${application.id}/${back}`, {
      token: instance.workspaceKey,
    });
    expect(status).toBe(200);
    for (const codes of [open, approved, unasked]) expect(await outcome(codes)).toBe('access_denied');
    expect(await other.outcome(elsewhere)).toBe('authorization_pending');
    expect(countKeys(instance)).toBe(0);
  });

  test('stays redeemable when writing the key fails', async () => {
    const { ada, begin, poll, outcome, decide, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    const before = await tables(instance);
    for (const table of ['mails', 'audit_records', 'api_keys']) {
      const repair = given.brokenWrites(instance, `INSERT ON ${table}`);
      const { status, json } = await poll(codes);
      expect([status, json.error]).toEqual([500, 'internal']);
      repair();
      expect(await tables(instance)).toEqual(before);
    }
    expect(await outcome(codes)).toBe('Bearer');
  });
});

describe('a token request', () => {
  test('of another client learns nothing and changes nothing', async () => {
    const scene = await createScene();
    const { ada, instance, begin, poll, decide } = scene;
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const foreign = (await given.tenant(instance)).application;
    const [open, approved, denied] = [await begin(), await begin(), await begin()];
    await decide('approve', approved.user_code, ada);
    await decide('deny', denied.user_code, ada);
    const before = dumpTables(instance);
    for (const codes of [open, approved, denied])
      for (const { clientId } of [sibling, foreign, { clientId: 'console' }]) {
        const { status, json } = await poll(codes, { client_id: clientId });
        expect([status, json.error]).toEqual([400, 'invalid_grant']);
        expect(json.error_description).toBe((await poll({ device_code: 'nonsense' })).json.error_description);
      }
    expect(dumpTables(instance)).toEqual(before);
    expect((await poll(approved)).status).toBe(200);
  });

  test.each([
    ['a code that was never issued', { device_code: mintSecret('deviceCode', systemRandom) }, 'invalid_grant'],
    ['no code at all', { device_code: 'nonsense' }, 'invalid_grant'],
    ['a missing code', { device_code: undefined }, 'invalid_request'],
    ['an empty code', { device_code: '' }, 'invalid_request'],
    ['a missing client', { client_id: undefined }, 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['another grant type', { grant_type: 'authorization_code' }, 'unsupported_grant_type'],
    ['a grant type that is no text', { grant_type: 5 }, 'invalid_request'],
  ])('with %s is refused and writes nothing', async (_, fields, error) => {
    const { instance, begin, poll } = await createScene();
    const codes = await begin();
    const before = dumpTables(instance);
    const { status, json } = await poll(codes, fields);
    expect([status, json]).toEqual([
      400,
      {
        error,
        error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
        requestId: expect.any(String),
      },
    ]);
    expect(dumpTables(instance)).toEqual(before);
  });

  test.each([undefined, '', DEVICE_GRANT_TYPE])('with grant_type %j is accepted', async (grant_type) => {
    const { begin, poll } = await createScene();
    expect((await poll(await begin(), { grant_type })).json.error).toBe('authorization_pending');
  });

  test('with a repeated parameter is refused', async () => {
    const { instance, application, begin } = await createScene();
    const { device_code } = await begin();
    const form = `device_code=${device_code}&client_id=${application.clientId}`;
    for (const again of [`&device_code=${device_code}`, '&client_id=other', '&x=1&x=1']) {
      const { status, json } = await instance.call('POST', TOKEN_PATH, {
        body: form + again,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      });
      expect([status, json.error]).toEqual([400, 'invalid_request']);
    }
  });

  test('in another media type is refused with an error in OAuth format', async () => {
    const { instance } = await createScene();
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const { status, json } = await instance.call('POST', TOKEN_PATH, { body: 'x', headers });
    expect([status, Object.keys(json)]).toEqual([415, ['error', 'error_description', 'requestId']]);
  });
});

describe('a device grant of the console', () => {
  test.each([
    ['owner@example.com', 'full'],
    ['member@example.com', 'read'],
  ])('gives %s a key with access %s in their first workspace', async (email, access) => {
    const { instance } = await createScene();
    const console_ = (await findConsole(instance.db.reader))!;
    const scene = sceneOf(instance, console_);
    if (email !== 'owner@example.com')
      await instance.call('POST', '/api/workspace/members', {
        token: instance.workspaceKey,
        body: { email, role: 'member' },
      });
    const person = await scene.signIn(email);
    const { id } = await scene.connect(person, { device_name: 'gatehouse' });
    expect(instance.sqlite.query('SELECT * FROM api_keys WHERE id = ?').get(id)).toMatchObject({
      access,
      source: 'device',
      workspace_id: instance.workspaceId,
      application_id: console_.id,
      created_by_user_id: person.userId,
      created_at: Date.parse(isoTime(instance.clock.now())),
    });
  });
});
