import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { ENGINE } from '../../support/engine.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { auditsOf, databaseOf, mailsOf, workspaceKeyUserId } from '../beta/records.ts';
import {
  addPerson,
  enterConsole,
  invite,
  MEMBERS,
  membersOf,
  type Person,
  rolesOf,
  setUpPeople,
  tokenOf,
} from './people.ts';

const patch = (instance: Instance, token: string, { memberId }: Person, role: string) =>
  instance.call('PATCH', `${MEMBERS}/${memberId}`, { token, body: { role } });
const remove = (instance: Instance, token: string, { memberId }: Person) =>
  instance.call('DELETE', `${MEMBERS}/${memberId}`, { token });

describe('an invitation', () => {
  test('makes a member and mails them where to sign in, and they can', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://id.example.com' } });
    const before = auditsOf(instance).length;
    const answer = await invite(instance, '  Ada@Example.com ', 'admin');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^wsm_/),
        userId: expect.stringMatching(/^usr_/),
        email: 'ada@example.com',
        role: 'admin',
        createdAt: isoTime(START),
      },
    });
    const mails = mailsOf(instance);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ['ada@example.com', 'You were invited to Workspace'],
    ]);
    expect(mails[0]!.text).toContain('now an admin');
    expect(mails[0]!.text).toContain('https://id.example.com/console');
    expect(mails[0]!.text).not.toMatch(/eak_|est_|token/);
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'workspace.member_invited',
        workspaceId: instance.workspaceId,
        actorUserId: workspaceKeyUserId(instance),
        targetId: answer.json.data.id,
        requestId: answer.headers.get('x-request-id'),
        email: 'ada@example.com',
        detail: { role: 'admin' },
      },
    ]);
    const token = await tokenOf(instance, 'ada@example.com');
    expect((await instance.call('GET', '/api/workspace', { token })).json.data.id).toBe(instance.workspaceId);
  });

  test('links to a page that signs in to the console', async () => {
    const { app } = await createInstance();
    const page = await app.fetch(new Request('http://localhost/sign-in'));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('&quot;clientId&quot;:&quot;console&quot;'.replaceAll('&quot;', '"'));
  });

  test('repeated changes nothing and sends no mail', async () => {
    const instance = await createInstance();
    const first = await invite(instance, 'ada@example.com', 'member');
    await instance.services.mail.runOnce();
    const before = await databaseOf(instance);
    const answers = await Promise.all(
      ['ada@example.com', 'ADA@example.com'].map((email) => invite(instance, email, 'member')),
    );
    for (const { status, json } of answers) expect([status, json.data]).toEqual([200, first.json.data]);
    await instance.services.mail.runOnce();
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('an invitation with another role is a conflict and keeps the role', async () => {
    const instance = await createInstance();
    await invite(instance, 'ada@example.com', 'member');
    await instance.services.mail.runOnce();
    const before = await databaseOf(instance);
    const answer = await invite(instance, 'ada@example.com', 'admin');
    expect([answer.status, answer.json.error]).toEqual([409, 'conflict']);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('repeated twenty times concurrently makes one member and one mail', async () => {
    const instance = await createInstance();
    const answers = await Promise.all(Array.from({ length: 20 }, () => invite(instance, 'ada@example.com', 'admin')));
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.data.id}`)).size).toBe(1);
    expect(await rolesOf(instance)).toEqual({ 'owner@example.com': 'owner', 'ada@example.com': 'admin' });
    expect(mailsOf(instance)).toHaveLength(1);
  });

  test('an invitation of a person with an account makes that person the member', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const { json } = await invite(instance, 'ada@example.com', 'member');
    expect(json.data.userId).toBe(userId);
    expect(instance.sqlite.query("SELECT count(*) AS n FROM users WHERE email = 'ada@example.com'").get()).toEqual({
      n: 1,
    });
  });

  test.each([
    [{ role: 'admin' }, 'email'],
    [{ email: 'ada@example.com' }, 'role'],
    [{ email: 'no-address', role: 'admin' }, 'email'],
    [{ email: 'ada@example.com', role: 'god' }, 'role'],
    [{ email: 'ada@example.com', role: 'admin', workspaceId: 'wsp_x' }, 'workspaceId'],
  ])('refuses %j and invites nobody', async (body, path) => {
    const instance = await createInstance();
    const before = await databaseOf(instance);
    const answer = await instance.call('POST', MEMBERS, { token: instance.workspaceKey, body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(answer.text).not.toContain('no-address');
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('the list of members', () => {
  test('is in the order of joining, and pages', async () => {
    const instance = await createInstance();
    for (const name of ['a', 'b', 'c', 'd']) {
      instance.clock.advance(MINUTE);
      await invite(instance, `${name}@example.com`, 'member');
    }
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { json: { data: { items: { email: string }[]; nextCursor: string | null } } } = await instance.call(
        'GET',
        `${MEMBERS}?limit=2${cursor && `&cursor=${cursor}`}`,
        { token: instance.workspaceKey },
      );
      seen.push(...page.json.data.items.map(({ email }) => email));
      cursor = page.json.data.nextCursor;
    }
    expect(seen).toEqual(['owner', 'a', 'b', 'c', 'd'].map((name) => `${name}@example.com`));
    const bad = await instance.call('GET', `${MEMBERS}?cursor=nonsense`, { token: instance.workspaceKey });
    expect([bad.status, bad.json.error]).toEqual([400, 'invalid_cursor']);
  });

  test('shows people and never the principals of keys', async () => {
    const instance = await createInstance();
    expect(await membersOf(instance)).toMatchObject([{ email: 'owner@example.com', role: 'owner' }]);
  });
});

describe('a role', () => {
  test('lets a member only read, and admins and owners make changes', async () => {
    const { instance, owner, admin, member } = await setUpPeople();
    const application = await instance.createApplication();
    const id = `/api/applications/${application.id}`;
    const before = await databaseOf(instance);
    for (const path of ['/api/workspace', MEMBERS, '/api/applications', id, `${id}/roles`, `${id}/users`])
      expect([path, (await instance.call('GET', path, { token: member.token })).status]).toEqual([path, 200]);
    const changes: [method: string, path: string, body?: object][] = [
      ['PATCH', '/api/workspace', { name: 'Mine' }],
      ['POST', MEMBERS, { email: 'eve@example.com', role: 'member' }],
      ['PATCH', `${MEMBERS}/${member.memberId}`, { role: 'admin' }],
      ['DELETE', `${MEMBERS}/${admin.memberId}`],
      ['POST', '/api/workspace/api-keys', { name: 'mine', access: 'full' }],
      ['GET', '/api/workspace/api-keys'],
      ['POST', '/api/applications', {}],
      ['PATCH', id, { name: 'Mine' }],
      ['POST', `${id}/rotate-secret`],
      ['POST', `${id}/signin-gate`, { gate: 'closed' }],
      ['POST', `${id}/lifecycle/send`, { kind: 'delete' }],
      ['GET', `${id}/api-keys`],
      ['POST', `${id}/recheck-urls`],
    ];
    for (const [method, path, body] of changes) {
      const answer = await instance.call(method, path, { token: member.token, body });
      expect([method, path, answer.status, answer.json.error]).toEqual([method, path, 403, 'admin_scope_required']);
    }
    expect(await databaseOf(instance)).toEqual(before);
    for (const { token, email } of [admin, owner]) {
      const renamed = await instance.call('PATCH', id, { token, body: { name: email } });
      expect([email, renamed.status, renamed.json.data.name]).toEqual([email, 200, email]);
    }
  });

  test('takes effect within the open session', async () => {
    const { instance, owner, member } = await setUpPeople();
    const rename = () => instance.call('PATCH', '/api/workspace', { token: member.token, body: { name: 'Ours' } });
    expect((await rename()).status).toBe(403);
    const before = auditsOf(instance).length;
    const changed = await patch(instance, owner.token, member, 'admin');
    expect([changed.status, changed.json.data]).toEqual([
      200,
      expect.objectContaining({ id: member.memberId, email: member.email, role: 'admin' }),
    ]);
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'workspace.member_changed',
        workspaceId: instance.workspaceId,
        actorUserId: owner.userId,
        targetId: member.memberId,
        detail: { from: 'member', to: 'admin' },
      },
    ]);
    expect((await rename()).status).toBe(200);
    await patch(instance, owner.token, member, 'member');
    expect((await rename()).status).toBe(403);
  });
});

describe('owners', () => {
  test('are made, changed and removed only by owners: neither by an admin nor by a full key', async () => {
    const { instance, owner, admin, member } = await setUpPeople();
    const second = await addPerson(instance, 'second@example.com', 'owner');
    const before = await databaseOf(instance);
    for (const token of [admin.token, instance.workspaceKey]) {
      const attempts = [
        await invite(instance, 'eve@example.com', 'owner', token),
        await patch(instance, token, admin, 'owner'),
        await patch(instance, token, member, 'owner'),
        await patch(instance, token, second, 'admin'),
        await patch(instance, token, owner, 'member'),
        await remove(instance, token, second),
        await remove(instance, token, owner),
      ];
      for (const { status, json } of attempts) expect([status, json.error]).toEqual([403, 'forbidden']);
    }
    expect(await databaseOf(instance)).toEqual(before);

    expect((await patch(instance, owner.token, second, 'admin')).status).toBe(200);
    expect((await patch(instance, owner.token, second, 'owner')).status).toBe(200);
    expect((await patch(instance, second.token, owner, 'member')).status).toBe(200);
    expect((await remove(instance, second.token, owner)).status).toBe(200);
    expect(await rolesOf(instance)).toEqual({
      'admin@example.com': 'admin',
      'member@example.com': 'member',
      'second@example.com': 'owner',
    });
  });

  test('are the only members whom an admin cannot change or remove', async () => {
    const { instance, admin, member } = await setUpPeople();
    expect((await patch(instance, admin.token, member, 'admin')).status).toBe(200);
    expect((await remove(instance, admin.token, member)).status).toBe(200);
    expect((await remove(instance, admin.token, admin)).status).toBe(200);
    expect(await rolesOf(instance)).toEqual({ 'owner@example.com': 'owner' });
  });

  test('always include one: the last can neither be removed nor demoted, even by themselves', async () => {
    const { instance, owner } = await setUpPeople();
    const before = await databaseOf(instance);
    for (const answer of [
      await remove(instance, owner.token, owner),
      await patch(instance, owner.token, owner, 'admin'),
      await patch(instance, owner.token, owner, 'member'),
    ])
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
    expect(await databaseOf(instance)).toEqual(before);
    expect((await patch(instance, owner.token, owner, 'owner')).status).toBe(200);
  });

  test('are not made by a caller who loses the role while the request waits', async () => {
    const { instance, owner, member } = await setUpPeople();
    const second = await addPerson(instance, 'second@example.com', 'owner');
    const [demoted, ...attempts] = await Promise.all([
      patch(instance, owner.token, second, 'admin'),
      invite(instance, 'eve@example.com', 'owner', second.token),
      patch(instance, second.token, member, 'owner'),
    ]);
    expect(demoted.status).toBe(200);
    // PostgreSQL has no queue: an attempt may come before the demotion.
    const made = ENGINE === 'sqlite' ? [] : attempts.filter(({ status }) => status === 200);
    for (const { status, json } of attempts.filter((one) => !made.includes(one)))
      expect([status, json.error]).toEqual([403, 'forbidden']);
    expect(Object.values(await rolesOf(instance)).filter((role) => role === 'owner')).toHaveLength(1 + made.length);
  });

  test('remain when two of them remove or demote each other concurrently', async () => {
    for (const act of [
      remove,
      (...[instance, token, person]: Parameters<typeof remove>) => patch(instance, token, person, 'member'),
    ]) {
      const { instance, owner } = await setUpPeople();
      const second = await addPerson(instance, 'second@example.com', 'owner');
      const answers = await Promise.all([
        act(instance, owner.token, second),
        act(instance, second.token, owner),
        act(instance, owner.token, owner),
        act(instance, second.token, second),
      ]);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      expect(answers.every(({ status }) => status < 500)).toBe(true);
      expect(Object.values(await rolesOf(instance)).filter((role) => role === 'owner')).toHaveLength(1);
    }
  });
});

describe('a removed member', () => {
  test('is signed out of the console at once, with an event and a record', async () => {
    const { instance, owner, admin } = await setUpPeople();
    const again = await tokenOf(instance, admin.email);
    const consoleId = instance.services.workspaces.consoleId();
    const audits = auditsOf(instance).length;
    const events = instance.events(consoleId).length;
    const answer = await remove(instance, owner.token, admin);
    expect([answer.status, answer.json]).toEqual([200, { success: true, data: { id: admin.memberId, keys: [] } }]);
    expect(auditsOf(instance, audits)).toMatchObject([
      {
        kind: 'workspace.member_removed',
        workspaceId: instance.workspaceId,
        actorUserId: owner.userId,
        targetId: admin.memberId,
      },
    ]);
    expect(instance.events(consoleId).slice(events)).toEqual([
      ...Array.from({ length: 2 }, () => ({
        type: 'user.session_revoked',
        data: { userId: admin.userId, sessionId: expect.any(String), reason: 'removed_from_workspace' },
      })),
      { type: 'user.banned', data: { userId: admin.userId } },
    ]);
    const before = await databaseOf(instance);
    for (const token of [admin.token, again]) {
      const read = await instance.call('GET', '/api/workspace', { token });
      expect(read.status).toBe(403);
      const change = await invite(instance, 'eve@example.com', 'admin', token);
      expect(change.status).toBe(403);
      expect((await instance.call('POST', '/api/v1/session', { token })).json.ok).toBe(false);
    }
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('cannot return until invited again, even with a code sent before', async () => {
    const { instance, owner, member } = await setUpPeople();
    instance.clock.advance(MINUTE);
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: member.email } });
    const code = instance.codeFor(member.email);
    await remove(instance, owner.token, member);
    const early = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code },
    });
    expect([early.status, early.json.success]).toEqual([403, false]);
    expect(await enterConsole(instance, member.email)).toBeString();
    const invited = await invite(instance, member.email, 'admin', owner.token);
    expect([invited.status, invited.json.data.role]).toEqual([200, 'admin']);
    expect(invited.json.data.id).not.toBe(member.memberId);
    expect(invited.json.data.userId).toBe(member.userId);
    const token = await tokenOf(instance, member.email);
    expect((await instance.call('PATCH', '/api/workspace', { token, body: { name: 'Ours' } })).status).toBe(200);
    expect((await instance.call('GET', '/api/workspace', { token: member.token })).status).toBe(401);
  });

  test('keeps their account in the applications they use', async () => {
    const { instance, owner, member } = await setUpPeople();
    const application = await instance.createApplication();
    instance.clock.advance(MINUTE);
    const { token } = await instance.signIn(application.clientId, member.email);
    await remove(instance, owner.token, member);
    expect((await instance.call('POST', '/api/v1/session', { token })).json.ok).toBe(true);
  });

  test('changes nothing with a request that began before and ended after the removal', async () => {
    const { instance, owner } = await setUpPeople();
    const second = await addPerson(instance, 'second@example.com', 'owner');
    const accomplice = await addPerson(instance, 'accomplice@example.com', 'member');
    const isRead = Promise.withResolvers<void>();
    const isRemoved = Promise.withResolvers<void>();
    const body = new ReadableStream(
      {
        async pull(controller) {
          isRead.resolve();
          await isRemoved.promise;
          controller.enqueue(Buffer.from('{"role":"owner"}'));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const begun = instance.app.fetch(
      new Request(`http://localhost${MEMBERS}/${accomplice.memberId}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${second.token}`, 'content-type': 'application/json' },
        body,
      }),
    );
    await isRead.promise;
    expect((await remove(instance, owner.token, second)).status).toBe(200);
    const before = await databaseOf(instance);
    isRemoved.resolve();
    expect([401, 403]).toContain((await begun).status);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('is not found a second time', async () => {
    const { instance, owner, member } = await setUpPeople();
    await remove(instance, owner.token, member);
    for (const answer of [
      await remove(instance, owner.token, member),
      await patch(instance, owner.token, member, 'admin'),
      await remove(instance, owner.token, { ...member, memberId: 'wsm_01h455vb4pex5vsknk084sn02q' }),
    ])
      expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
  });
});
