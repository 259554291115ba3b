import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, isoTime, MINUTE } from '@/core/clock.ts';
import { secretPrefix } from '@/core/secret.ts';
import { bumpApplicationEpoch, findConsole } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { createScene, sceneOf } from './scene.ts';
import { prove } from '../account/account.ts';
import { BAD_CURSORS, lastAudit } from '../users/management.ts';

const DEVICES = '/api/account/devices';

async function setUp() {
  const scene = await createScene();
  const { instance, ada } = scene;
  const account = (method: string, tail = '', body?: unknown, token = ada.token) =>
    instance.call(method, DEVICES + tail, { token, body });
  const names = async (token = ada.token) =>
    (await account('GET', '', undefined, token)).json.data.items.map(({ name }: { name: string }) => name);
  /** Calls an operation that acts as the key's person, and returns the status. */
  const use = async (token: string) => (await instance.call('GET', '/api/me/roles', { token })).status;
  const manage = (method: string, tail = '', body?: unknown) =>
    instance.call(method, `/api/applications/${scene.application.id}/api-keys${tail}`, {
      token: instance.workspaceKey,
      body,
    });
  return { ...scene, account, names, use, manage };
}

describe('the device list of a person', () => {
  test('identifies each device without revealing its token', async () => {
    const { application, ada, connect, account, use, instance } = await setUp();
    const { id, token } = await connect(ada, { device_name: 'Laptop' });
    const connectedAt = isoTime(instance.clock.now());
    instance.clock.advance(MINUTE);
    await use(token);
    await instance.services.flushCounters();
    const answer = await account('GET');
    expect([answer.status, answer.json.data]).toEqual([
      200,
      {
        items: [
          {
            id,
            name: 'Laptop',
            prefix: secretPrefix(token),
            application: { id: application.id, name: 'Shop' },
            ip: expect.any(String),
            ipCountry: null,
            createdAt: connectedAt,
            lastUsedAt: isoTime(instance.clock.now()),
            expiresAt: null,
          },
        ],
        nextCursor: null,
      },
    ]);
    expect(answer.text).not.toContain(token);
  });

  test('covers all applications of the workspace, newest first, with pagination', async () => {
    const { instance, ada, connect, account, signIn } = await setUp();
    const other = sceneOf(instance, await instance.createApplication({ name: 'Other' }));
    const tenant = sceneOf(instance, (await given.tenant(instance)).application);
    const ofOtherTenant = await tenant.connect(await tenant.signIn('ada@example.com'), {
      device_name: 'another tenant’s',
    });
    await connect(ada, { device_name: 'one' });
    await other.connect(await other.signIn('ada@example.com'), { device_name: 'two' });
    await connect(ada, { device_name: 'three' });
    await connect(await signIn('bea@example.com'), { device_name: 'not hers' });
    await instance.createKey((await instance.createApplication({ name: 'Third' })).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await account('GET', `?limit=1${cursor && `&cursor=${cursor}`}`);
      expect(json.data.items).toHaveLength(1);
      seen.push(json.data.items[0].name);
      cursor = json.data.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(['three', 'two', 'one']);
    // Devices of the same person in another tenant are out of reach.
    for (const [method, body] of [
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const)
      expect((await account(method, `/${ofOtherTenant.id}`, body)).json.error).toBe('not_found');

    for (const bad of BAD_CURSORS) expect((await account('GET', `?cursor=${bad}`)).json.error).toBe('invalid_cursor');
  });

  test('leaves out revoked, expired and blocked devices', async () => {
    const { instance, ada, connect, account, names, manage } = await setUp();
    const other = sceneOf(instance, await instance.createApplication({ name: 'Other' }));
    const ended = await connect(ada, { device_name: 'ended' });
    const soon = await connect(ada, { device_name: 'expiring' });
    await other.connect(await other.signIn('ada@example.com'), { device_name: 'blocked' });
    await connect(ada, { device_name: 'kept' });
    await account('DELETE', `/${ended.id}`);
    await manage('PATCH', `/${soon.id}`, { expiresAt: isoTime(instance.clock.now() + MINUTE) });
    expect(await names()).toEqual(['kept', 'blocked', 'expiring']);
    await other.setStatus(ada.userId, 'banned');
    instance.clock.advance(MINUTE);
    expect(await names()).toEqual(['kept']);
  });
});

describe('renaming a device', () => {
  test('changes nothing but its name, and writes an audit record', async () => {
    const { ada, connect, account, names, use, instance, application } = await setUp();
    const { id, token } = await connect(ada, { device_name: 'Laptop' });
    const answer = await account('PATCH', `/${id}`, { name: ' Old laptop ' });
    expect([answer.status, answer.json.data.name]).toEqual([200, 'Old laptop']);
    expect([await names(), await use(token)]).toEqual([['Old laptop'], 200]);
    expect(lastAudit(instance, 'device.renamed')).toMatchObject({
      application_id: application.id,
      user_id: ada.userId,
      actor_user_id: ada.userId,
      target_id: id,
    });
    const before = dumpTables(instance);
    await account('PATCH', `/${id}`, { name: 'Old laptop' });
    expect(dumpTables(instance)).toEqual(before);
  });

  test.each([
    {},
    { name: '' },
    { name: ' ' },
    { name: 'a\nb' },
    { name: 'x'.repeat(101) },
    { name: 'a', access: 'full' },
  ])('is refused for the body %j', async (body) => {
    const { ada, connect, account } = await setUp();
    const { id } = await connect(ada);
    const { status, json } = await account('PATCH', `/${id}`, body);
    expect([status, json.error]).toEqual([400, 'invalid_request']);
  });

  test('is refused once the device is disconnected', async () => {
    const { ada, connect, account } = await setUp();
    const { id } = await connect(ada);
    await account('DELETE', `/${id}`);
    const { status, json } = await account('PATCH', `/${id}`, { name: 'a' });
    expect([status, json.error]).toEqual([409, 'key_revoked']);
  });
});

describe('disconnecting a device', () => {
  test('ends its key at once, affects no other device or session, and changes nothing when repeated', async () => {
    const { ada, connect, account, use, instance, application } = await setUp();
    const [lost, kept] = [await connect(ada), await connect(ada)];
    const answer = await account('DELETE', `/${lost.id}`);
    expect([answer.status, answer.json.data]).toEqual([200, { id: lost.id }]);
    expect([await use(lost.token), await use(kept.token), await use(ada.token)]).toEqual([401, 200, 200]);
    expect(lastAudit(instance, 'device.revoked')).toMatchObject({
      application_id: application.id,
      user_id: ada.userId,
      actor_user_id: ada.userId,
      target_id: lost.id,
    });
    const before = dumpTables(instance);
    instance.clock.advance(MINUTE);
    expect((await account('DELETE', `/${lost.id}`)).status).toBe(200);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('works from any application of the person', async () => {
    const { instance, ada, connect, account, use } = await setUp();
    const other = sceneOf(instance, await instance.createApplication({ name: 'Other' }));
    const { id, token } = await other.connect(await other.signIn('ada@example.com'));
    expect((await account('DELETE', `/${id}`)).status).toBe(200);
    expect(await use(token)).toBe(401);
    expect((await connect(ada)).token).toStartWith('eak_');
  });
});

test('another person’s device, a backend key and an unknown id get the same 404, and nothing changes', async () => {
  const { instance, application, ada, connect, account, signIn } = await setUp();
  const bea = await signIn('bea@example.com');
  const hers = await connect(bea);
  const backend = await instance.createKey(application.id);
  await connect(ada);
  const before = dumpTables(instance);
  const answers = [];
  for (const id of [hers.id, backend.id, 'key_01h455vb4pex5vsknk084sn02q', 'nonsense'])
    for (const answer of [await account('PATCH', `/${id}`, { name: 'mine' }), await account('DELETE', `/${id}`)])
      answers.push([answer.status, { ...answer.json, requestId: '' }]);
  for (const answer of answers) expect(answer).toEqual(answers[0]!);
  expect(answers[0]![0]).toBe(404);
  expect(dumpTables(instance)).toEqual(before);
});

describe('the management of API keys', () => {
  test('lists personal keys with their source, person and roles', async () => {
    const { ada, application, connect, manage } = await setUp();
    const { id } = await connect(ada, { device_name: 'Laptop' });
    const { json } = await manage('GET');
    expect(json.data.items).toMatchObject([
      {
        id,
        name: 'Laptop',
        source: 'device',
        access: 'read',
        userId: ada.userId,
        applicationId: application.id,
        roles: ['user'],
      },
    ]);
  });

  test('revokes a personal key without banning its person', async () => {
    const { ada, connect, manage, use, instance } = await setUp();
    const [lost, kept] = [await connect(ada), await connect(ada)];
    expect((await manage('DELETE', `/${lost.id}`)).status).toBe(200);
    expect([await use(lost.token), await use(kept.token), await use(ada.token)]).toEqual([401, 200, 200]);
    expect(lastAudit(instance, 'apikey.revoked')).toMatchObject({ target_id: lost.id });
  });

  test.each(['rotate', 'rotate-with-grace'])(
    'refuses to %s a personal key: the new token would let an admin act as the person',
    async (verb) => {
      const { ada, connect, manage, use, instance } = await setUp();
      const { id, token } = await connect(ada);
      const before = dumpTables(instance);
      const { status, json, text } = await manage('POST', `/${id}/${verb}`);
      expect([status, json.error, json.message]).toEqual([409, 'invalid_state', expect.stringContaining('own key')]);
      expect(text).not.toContain('eak_');
      expect(dumpTables(instance)).toEqual(before);
      expect(await use(token)).toBe(200);
    },
  );

  test('refuses to create a key with the source "device"', async () => {
    const { manage } = await setUp();
    const { json } = await manage('POST', '', { name: 'k', access: 'read', source: 'device' });
    expect(json.error).toBe('invalid_request');
  });
});

describe('an application that goes out of service', () => {
  test.each([
    ['archived', { kind: 'archive' }, 'unarchive'],
    ['deleted', { kind: 'delete' }, 'restore'],
    ['hidden', { kind: 'delete', skipGrace: true }, 'restore'],
  ])('loses its personal keys for good when %s, without affecting other keys', async (_, change, back) => {
    const scene = await setUp();
    const { instance, application, ada, connect, use, names } = scene;
    const other = sceneOf(instance, await instance.createApplication({ name: 'Other' }));
    const elsewhere = await other.signIn('ada@example.com');
    const kept = await other.connect(elsewhere, { device_name: 'kept' });
    const lost = await connect(ada);
    const backend = await instance.createKey(application.id);
    expect((await given.lifecycle(instance, application.id, change)).status).toBe(200);
    expect([await use(lost.token), await use(kept.token)]).toEqual([401, 200]);
    expect(await names(elsewhere.token)).toEqual(['kept']);
    await instance.call('POST', `/api/applications/${application.id}/${back}`, { token: instance.workspaceKey });
    expect(await use(lost.token)).toBe(401);
    const managed = await instance.call('GET', `/api/applications/${application.id}`, { token: backend.token });
    expect(managed.status).toBe(200);
  });
});

test('a device ends as soon as its application’s epoch changes, even before its own row is updated', async () => {
  const { instance, application, ada, connect, use, names, begin, decide, outcome, signIn } = await setUp();
  const { token, id } = await connect(ada, { device_name: 'old' });
  const codes = await begin();
  await instance.db.write(SYSTEM_ACTOR, (unit) => bumpApplicationEpoch(unit, application.id));
  expect(await use(token)).toBe(401);
  const again = await signIn('ada@example.com');
  expect(await names(again.token)).toEqual([]);
  const path = `/api/account/devices/${id}`;
  const renamed = await instance.call('PATCH', path, { token: again.token, body: { name: 'new' } });
  expect([renamed.status, renamed.json.error]).toEqual([409, 'key_revoked']);
  expect((await instance.call('DELETE', path, { token: again.token })).json.data).toEqual({ id });
  expect(instance.auditKinds(application.id)).not.toContain('device.revoked');
  expect(await outcome(codes)).toBe('access_denied');
  expect((await decide('approve', codes.user_code, again)).status).toBe(409);
  expect(await use((await connect(again)).token)).toBe(200);
});

describe('a device of a member', () => {
  test.each([
    ['ban', 'unban'],
    ['delete', 'restore'],
  ])('ends for good with a %s of its person, even after the %s', async (away, back) => {
    const { instance, application, ada, connect, use } = await setUp();
    const { token } = await connect(ada);
    const act = (action: string) =>
      instance.call('POST', `/api/applications/${application.id}/users/${ada.userId}/${action}`, {
        token: instance.workspaceKey,
      });
    expect((await act(away)).status).toBe(200);
    expect((await act(back)).status).toBe(200);
    expect(await use(token)).toBe(401);
  });

  test('stops working while its person is paused, and works again afterwards', async () => {
    const { instance, application, ada, connect, use } = await setUp();
    const { token } = await connect(ada);
    const act = (action: string) =>
      instance.call('POST', `/api/applications/${application.id}/users/${ada.userId}/${action}`, {
        token: instance.workspaceKey,
      });
    await act('pause');
    expect(await use(token)).toBe(401);
    await act('resume');
    expect(await use(token)).toBe(200);
  });

  test('ends when its person leaves the workspace, even if they are invited again', async () => {
    const { instance } = await setUp();
    const console = sceneOf(instance, (await findConsole(instance.db.reader))!);
    const owner = await console.signIn('owner@example.com');
    const invite = () =>
      instance.call('POST', '/api/workspace/members', {
        token: owner.token,
        body: { email: 'mia@example.com', role: 'admin' },
      });
    const { json } = await invite();
    const { token } = await console.connect(await console.signIn('mia@example.com'));
    expect((await instance.call('GET', '/api/applications', { token })).status).toBe(200);
    await instance.call('DELETE', `/api/workspace/members/${json.data.id}`, { token: owner.token });
    await invite();
    expect((await instance.call('GET', '/api/applications', { token })).status).toBe(401);
  });
});

describe('approving a device', () => {
  test.each(['the console', 'any other application'])(
    'needs a recent sign-in in %s, since the key outlives the session',
    async (where) => {
      const scene = await setUp();
      const { instance } = scene;
      const console = sceneOf(instance, (await findConsole(instance.db.reader))!);
      const { signIn, begin, decide } = where === 'the console' ? console : scene;
      const owner = await signIn('owner@example.com');
      instance.clock.advance(10 * MINUTE);
      const codes = await begin();
      const refused = await decide('approve', codes.user_code, owner);
      expect([refused.status, refused.json.error]).toEqual([403, 'reauthentication_required']);
      expect((await decide('deny', (await begin()).user_code, owner)).status).toBe(200);
      const again = await signIn('owner@example.com');
      expect((await decide('approve', codes.user_code, again)).json.data).toEqual({ status: 'approved' });
    },
  );

  test('accepts a mailed code in the same session instead of a recent sign-in', async () => {
    const { instance, ada, begin, decide } = await setUp();
    instance.clock.advance(20 * DAY);
    const { user_code } = await begin();
    expect((await decide('approve', user_code, ada)).status).toBe(403);
    await prove(instance, ada);
    expect((await decide('approve', user_code, ada)).json.data).toEqual({ status: 'approved' });
  });
});

test('a person has at most fifty devices', async () => {
  const { ada, connect, begin, decide } = await setUp();
  for (let number = 0; number < 50; number += 1) await connect(ada);
  const refused = await decide('approve', (await begin()).user_code, ada);
  expect([refused.status, refused.json.error]).toEqual([409, 'invalid_state']);
  expect(refused.json.message).toContain('50');
});
