import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { auditsOf, databaseOf, workspaceKeyUserId } from '../beta/records.ts';
import { addPerson, invite, MEMBERS, rolesOf, setUpPeople, tokenOf } from './people.ts';

const UNKNOWN = 'wsp_01h455vb4pex5vsknk084sn02q';

/** An owner with two workspaces, and a full key of the second. */
async function setUpTwo() {
  const people = await setUpPeople();
  const { instance, owner } = people;
  instance.clock.advance(MINUTE);
  const created = await instance.call('POST', '/api/workspaces', { token: owner.token, body: { name: ' Second ' } });
  expect(created.status).toBe(200);
  const secondId: string = created.json.data.id;
  const key = await instance.call('POST', `/api/workspace/api-keys?workspaceId=${secondId}`, {
    token: owner.token,
    body: { name: 'second', access: 'full' },
  });
  return { ...people, created, secondId, secondKey: key.json.data.token as string };
}

describe('the workspace', () => {
  test('is read by key and by session', async () => {
    const { instance, member } = await setUpPeople();
    const callers = [
      [instance.workspaceKey, null],
      [member.token, 'member'],
    ] as const;
    for (const [token, role] of callers) {
      const answer = await instance.call('GET', '/api/workspace', { token });
      expect([answer.status, answer.json]).toEqual([
        200,
        { success: true, data: { id: instance.workspaceId, name: 'Workspace', role, createdAt: isoTime(START) } },
      ]);
    }
  });

  test('is renamed with a record', async () => {
    const instance = await createInstance();
    const before = auditsOf(instance).length;
    const answer = await instance.call('PATCH', '/api/workspace', {
      token: instance.workspaceKey,
      body: { name: '  Acme Ltd ' },
    });
    expect([answer.status, answer.json.data.name]).toEqual([200, 'Acme Ltd']);
    expect((await instance.call('GET', '/api/workspace', { token: instance.workspaceKey })).json.data).toEqual(
      answer.json.data,
    );
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'workspace.updated',
        workspaceId: instance.workspaceId,
        actorUserId: workspaceKeyUserId(instance),
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
    await invite(instance, 'ada@example.com', 'member');
    const [mail] = instance.sqlite.query('SELECT subject FROM mails').all() as { subject: string }[];
    expect(mail!.subject).toBe('You were invited to Acme Ltd');
  });

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'Ours', id: 'wsp_x' }, 'id'],
  ])('refuses %j and keeps its name', async (body, path) => {
    const instance = await createInstance();
    const before = await databaseOf(instance);
    const answer = await instance.call('PATCH', '/api/workspace', { token: instance.workspaceKey, body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('a key with access to only part of the workspace', () => {
  const CALLS: [method: string, path: string, body?: object][] = [
    ['PATCH', '/api/workspace', { name: 'Mine' }],
    ['POST', MEMBERS, { email: 'eve@example.com', role: 'admin' }],
    ['POST', '/api/workspace/api-keys', { name: 'mine', access: 'full' }],
    ['POST', '/api/applications', {}],
  ];

  test('reads and changes nothing of the workspace, if it is an application’s', async () => {
    const { instance, member } = await setUpPeople();
    const application = await instance.createApplication();
    const { token } = await instance.createKey(application.id);
    const before = await databaseOf(instance);
    const reads: typeof CALLS = [
      ['GET', '/api/workspace'],
      ['GET', MEMBERS],
      ['GET', '/api/workspace/api-keys'],
      ['PATCH', `${MEMBERS}/${member.memberId}`, { role: 'admin' }],
      ['DELETE', `${MEMBERS}/${member.memberId}`],
    ];
    for (const [method, path, body] of [...reads, ...CALLS])
      for (const query of ['', `?workspaceId=${instance.workspaceId}`]) {
        const answer = await instance.call(method, path + query, { token, body });
        expect([method, path, answer.status, answer.json.error]).toEqual([method, path, 403, 'forbidden']);
      }
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('does not see the workspace in the list of workspaces, if it is an application’s', async () => {
    const instance = await createInstance();
    await instance.call('PATCH', '/api/workspace', { token: instance.workspaceKey, body: { name: 'Secret venture' } });
    const { token } = await instance.createKey((await instance.createApplication()).id);
    const answer = await instance.call('GET', '/api/workspaces', { token });
    expect(answer.text).not.toContain('Secret venture');
  });

  test('cannot widen its own access, if it covers a few applications', async () => {
    const instance = await createInstance();
    const mine = await instance.createApplication();
    const other = await instance.createApplication({ name: 'Other' });
    const { json } = await instance.call('POST', '/api/workspace/api-keys', {
      token: instance.workspaceKey,
      body: { name: 'few', access: 'full', applicationIds: [mine.id] },
    });
    const { id, token } = json.data;
    expect((await instance.call('GET', `/api/applications/${mine.id}`, { token })).status).toBe(200);
    expect((await instance.call('GET', `/api/applications/${other.id}`, { token })).status).toBe(404);
    const before = await databaseOf(instance);
    for (const [method, path, body] of CALLS) {
      const answer = await instance.call(method, path, { token, body });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    const whole = instance.sqlite.query('SELECT id FROM api_keys WHERE id <> ?').get(id) as { id: string };
    const rotated = await instance.call('POST', `/api/workspace/api-keys/${whole.id}/rotate`, { token });
    expect([403, 404]).toContain(rotated.status);
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('another workspace', () => {
  test('is made by an owner, becomes theirs alone, and is empty', async () => {
    const { instance, owner, created, secondId } = await setUpTwo();
    expect(created.json.data).toEqual({
      id: secondId,
      name: 'Second',
      role: 'owner',
      createdAt: isoTime(instance.clock.now()),
    });
    const members = await instance.call('GET', `${MEMBERS}?workspaceId=${secondId}`, { token: owner.token });
    expect(members.json.data.items).toMatchObject([{ userId: owner.userId, role: 'owner' }]);
    const listed = await instance.call('GET', '/api/workspaces', { token: owner.token });
    expect(listed.json.data.items.map(({ id }: { id: string }) => id)).toEqual([instance.workspaceId, secondId]);
    const created_ = auditsOf(instance).filter(({ kind }) => kind === 'workspace.created');
    expect(created_.at(-1)).toMatchObject({ workspaceId: secondId, targetId: secondId, actorUserId: owner.userId });
  });

  test('cannot be made by an admin, a member or a key', async () => {
    const { instance, admin, member } = await setUpPeople();
    const application = await instance.createKey((await instance.createApplication()).id);
    const before = await databaseOf(instance);
    for (const token of [admin.token, member.token, instance.workspaceKey, application.token]) {
      const answer = await instance.call('POST', '/api/workspaces', { token, body: { name: 'Mine' } });
      expect(answer.status).toBe(403);
    }
    const stranger = await instance.call('POST', '/api/workspaces', { body: { name: 'Mine' } });
    expect(stranger.status).toBe(401);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('is selected by ?workspaceId; the default is the first', async () => {
    const { instance, owner, secondId } = await setUpTwo();
    const { token } = owner;
    const get = async (query: string) => (await instance.call('GET', `/api/workspace${query}`, { token })).json.data.id;
    expect(await get('')).toBe(instance.workspaceId);
    expect(await get(`?workspaceId=${instance.workspaceId}`)).toBe(instance.workspaceId);
    expect(await get(`?workspaceId=${secondId}`)).toBe(secondId);
    await instance.call('PATCH', `/api/workspace?workspaceId=${secondId}`, { token, body: { name: 'Renamed' } });
    const { json } = await instance.call('GET', '/api/workspaces', { token });
    expect(json.data.items.map(({ name }: { name: string }) => name)).toEqual(['Workspace', 'Renamed']);
    const created = await instance.call('POST', `/api/applications?workspaceId=${secondId}`, { token, body: {} });
    expect(created.json.data.workspaceId).toBe(secondId);
  });

  test('is not found if the caller is no member, like one that does not exist', async () => {
    const { instance, admin, member, secondId, secondKey } = await setUpTwo();
    const before = await databaseOf(instance);
    const attempts: [token: string, workspaceId: string][] = [
      [admin.token, secondId],
      [member.token, secondId],
      [instance.workspaceKey, secondId],
      [secondKey, instance.workspaceId],
    ];
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', '/api/workspace'],
      ['PATCH', '/api/workspace', { name: 'Mine' }],
      ['GET', MEMBERS],
      ['POST', MEMBERS, { email: 'eve@example.com', role: 'admin' }],
      ['DELETE', `${MEMBERS}/${member.memberId}`],
      ['GET', '/api/workspace/api-keys'],
      ['POST', '/api/workspace/api-keys', { name: 'mine', access: 'full' }],
      ['POST', '/api/applications', {}],
    ];
    for (const [token, workspaceId] of attempts)
      for (const [method, path, body] of calls) {
        const foreign = await instance.call(method, `${path}?workspaceId=${workspaceId}`, { token, body });
        const nothing = await instance.call(method, `${path}?workspaceId=${UNKNOWN}`, { token, body });
        expect([method, path, foreign.status, foreign.json.error]).toEqual([method, path, 404, 'not_found']);
        expect({ ...foreign.json, requestId: '' }).toEqual({ ...nothing.json, requestId: '' });
      }
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('keeps its applications separate', async () => {
    const { instance, owner, admin, secondKey } = await setUpTwo();
    const first = await instance.createApplication();
    const created = await instance.call('POST', '/api/applications', { token: secondKey, body: { name: 'Theirs' } });
    const secondApplication: string = created.json.data.id;
    const idsSeenBy = async (token: string) =>
      (await instance.call('GET', '/api/applications', { token })).json.data.items.map(({ id }: { id: string }) => id);
    expect(await idsSeenBy(secondKey)).toEqual([secondApplication]);
    expect(await idsSeenBy(instance.workspaceKey)).toEqual([first.id]);
    expect(await idsSeenBy(admin.token)).toEqual([first.id]);
    expect((await idsSeenBy(owner.token)).sort()).toEqual([first.id, secondApplication].sort());

    const before = await databaseOf(instance);
    const foreign: [token: string, id: string][] = [
      [secondKey, first.id],
      [instance.workspaceKey, secondApplication],
      [admin.token, secondApplication],
      [secondKey, instance.services.workspaces.consoleId()],
      [owner.token, instance.services.workspaces.consoleId()],
    ];
    const paths: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['GET', '/users'],
      ['GET', '/roles'],
      ['GET', '/activity/list'],
      ['GET', '/url-check'],
      ['POST', '/rotate-secret'],
      ['POST', '/signin-gate', { gate: 'closed' }],
      ['POST', '/api-keys', { name: 'mine', access: 'full' }],
      ['POST', '/lifecycle/send', { kind: 'delete' }],
    ];
    for (const [token, id] of foreign)
      for (const [method, path, body] of paths) {
        const answer = await instance.call(method, `/api/applications/${id}${path}`, { token, body });
        const nothing = await instance.call(method, `/api/applications/app_01h455vb4pex5vsknk084sn02q${path}`, {
          token,
          body,
        });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
        expect({ ...answer.json, requestId: '' }).toEqual({ ...nothing.json, requestId: '' });
      }
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('has its own members: one removed from the first stays in the second, with access to it only', async () => {
    const { instance, owner, secondId, secondKey } = await setUpTwo();
    const first = await instance.createApplication();
    const inFirst = await addPerson(instance, 'ada@example.com', 'admin');
    const inSecond = await instance.call('POST', MEMBERS, {
      token: secondKey,
      body: { email: inFirst.email, role: 'member' },
    });
    expect([inSecond.status, inSecond.json.data.role]).toEqual([200, 'member']);
    const read = (path: string) => instance.call('GET', path, { token: inFirst.token });
    expect((await read(`/api/workspace?workspaceId=${secondId}`)).status).toBe(200);

    const foreign = await instance.call('DELETE', `${MEMBERS}/${inFirst.memberId}`, { token: secondKey });
    expect([foreign.status, foreign.json.error]).toEqual([404, 'not_found']);
    await instance.call('DELETE', `${MEMBERS}/${inFirst.memberId}`, { token: owner.token });
    expect(await rolesOf(instance)).not.toHaveProperty(inFirst.email);
    expect((await read(`/api/applications/${first.id}`)).status).toBe(404);
    expect((await read('/api/workspace')).json.data.id).toBe(secondId);
    expect((await read(`/api/workspace?workspaceId=${instance.workspaceId}`)).status).toBe(404);
    expect(await tokenOf(instance, inFirst.email)).toStartWith('est_');
  });

  test('counts its own owners', async () => {
    const { instance, owner, secondId } = await setUpTwo();
    const members = await instance.call('GET', `${MEMBERS}?workspaceId=${secondId}`, { token: owner.token });
    const [seat] = members.json.data.items;
    const path = `${MEMBERS}/${seat.id}?workspaceId=${secondId}`;
    const answer = await instance.call('DELETE', path, { token: owner.token });
    expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
  });

  test('is not owned by an owner of the first', async () => {
    const { instance, owner, secondId, secondKey } = await setUpTwo();
    const ada = await addPerson(instance, 'ada@example.com', 'owner');
    await instance.call('POST', MEMBERS, { token: secondKey, body: { email: ada.email, role: 'admin' } });
    await instance.services.mail.runOnce();
    const before = await databaseOf(instance);
    const answer = await instance.call('POST', `${MEMBERS}?workspaceId=${secondId}`, {
      token: ada.token,
      body: { email: 'eve@example.com', role: 'owner' },
    });
    expect([answer.status, answer.json.error]).toEqual([403, 'forbidden']);
    expect(await databaseOf(instance)).toEqual(before);
    expect(owner.userId).not.toBe(ada.userId);
  });
});

test('a person signed in to an application manages nothing, with any roles', async () => {
  const instance: Instance = await createInstance();
  const application = await instance.createApplication();
  const { token } = await instance.signIn(application.clientId, 'owner@example.com');
  await instance.services.mail.runOnce();
  const before = await databaseOf(instance);
  for (const path of ['/api/workspace', '/api/workspaces', MEMBERS, '/api/applications']) {
    const answer = await instance.call('GET', path, { token });
    expect([path, answer.status, answer.json.error]).toEqual([path, 403, 'forbidden']);
  }
  expect(await databaseOf(instance)).toEqual(before);
});
