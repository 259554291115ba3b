/** The code that confirms a lifecycle change: its recipients and its scope. */
import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { START } from '../../support/instance.ts';
import { lastAudit, managing, refusal, tables, watch } from '../users/management.ts';
import { mails, OWNER, setUp, verify, wrong } from './scene.ts';

describe('the lifecycle code', () => {
  test('is mailed to every owner when a key requests it, the same code to each, and to no one else', async () => {
    const { instance, application, send } = await setUp();
    const owner = await instance.signIn('console', OWNER);
    const invite = (email: string, role: string) =>
      instance.call('POST', '/api/workspace/members', { token: owner.token, body: { email, role } });
    await invite('second@example.com', 'owner');
    await invite('admin@example.com', 'admin');
    await invite('member@example.com', 'member');
    const { token } = await instance.createKey(application.id);
    for (const key of [instance.workspaceKey, token]) {
      const sent = mails(instance).length;
      expect((await send({ kind: 'archive' }, key)).status).toBe(200);
      const codes = mails(instance).slice(sent);
      expect(codes.map(({ recipient }) => recipient)).toEqual([OWNER, 'second@example.com']);
      expect(codes[0]!.code).toMatch(/^\d{6}$/);
      expect(codes[1]!.code).toBe(codes[0]!.code);
      expect(codes[0]!.subject).toContain('Shop');
    }
  });

  test('is mailed only to the acting member, in any role', async () => {
    const { instance, send, confirm, times } = await setUp();
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    const sent = mails(instance).length;
    const answer = await send({ kind: 'archive' }, admin.token);
    expect(
      mails(instance)
        .slice(sent)
        .map(({ recipient }) => recipient),
    ).toEqual(['admin@example.com']);
    expect(lastAudit(instance, 'application.lifecycle_requested')).toMatchObject({
      actor_type: 'user',
      actor_user_id: admin.userId,
    });
    expect((await confirm(answer.json.data.challengeId, instance.codeFor('admin@example.com'))).status).toBe(200);
    expect((await times()).archivedAt).not.toBeNull();
  });

  test('is mailed with the effect: the application is hidden after 90 days and never removed', async () => {
    const { instance, send } = await setUp();
    await send({ kind: 'delete' });
    const { text } = mails(instance).at(-1)!;
    expect(text).toContain('Shop stays in the list of applications for 90 days, then it is hidden.');
    expect(text).toContain('It can be restored at any time.');
  });

  test('appears in the mail only', async () => {
    const { instance, send } = await setUp();
    const sent = await send({ kind: 'delete' });
    expect([sent.status, sent.json.data]).toEqual([
      200,
      { challengeId: expect.stringMatching(/^chl_/), expiresAt: isoTime(START + 10 * MINUTE) },
    ]);
    const code = instance.codeFor(OWNER);
    const { mails: _, ...rest } = await tables(instance);
    for (const text of [sent.text, JSON.stringify([...sent.headers]), JSON.stringify(rest), instance.logLines.join('')])
      expect(text).not.toContain(code);
  });

  test('is accepted with spaces and hyphens', async () => {
    const { ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    expect((await confirm(challengeId, ` ${code.slice(0, 3)}-${code.slice(3)} `)).status).toBe(200);
  });

  test('is locked after five wrong attempts', async () => {
    const { ask, confirm, times } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    const was = await times();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const answer = await confirm(challengeId, wrong(code));
      expect([answer.status, answer.json.error]).toEqual([400, 'code_invalid']);
    }
    for (const attempt of [code, wrong(code)]) {
      const answer = await confirm(challengeId, attempt);
      expect([answer.status, answer.json.error]).toEqual([400, 'code_exhausted']);
    }
    expect(await times()).toEqual(was);
  });

  test('is accepted after four wrong attempts', async () => {
    const { ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    for (let attempt = 0; attempt < 4; attempt += 1) await confirm(challengeId, wrong(code));
    expect((await confirm(challengeId, code)).status).toBe(200);
  });

  test('expires after ten minutes', async () => {
    for (const [age, status, error] of [
      [10 * MINUTE - 1, 200, undefined],
      [10 * MINUTE, 400, 'code_expired'],
    ] as const) {
      const { instance, ask, confirm } = await setUp();
      const { challengeId, code } = await ask({ kind: 'archive' });
      instance.clock.advance(age);
      const answer = await confirm(challengeId, code);
      expect([answer.status, answer.json.error]).toEqual([status, error]);
    }
  });

  test('works once, even when the change would be possible again', async () => {
    const { instance, ask, confirm, manage } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    await confirm(challengeId, code);
    await manage('POST', '/unarchive');
    const rows = await tables(instance);
    const answer = await confirm(challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([409, 'code_consumed']);
    expect(await tables(instance)).toEqual(rows);
  });

  test('of one application is refused for another, and is not used up there', async () => {
    const { instance, ask, confirm } = await setUp();
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    const { challengeId, code } = await ask({ kind: 'delete' });
    const rows = await tables(instance);
    const foreign = await other('POST', '/lifecycle/confirm', { body: { challengeId, code } });
    const unknown = await other('POST', '/lifecycle/confirm', { body: { challengeId: 'chl_nothing', code } });
    expect([foreign.status, foreign.json.error]).toEqual([400, 'code_invalid']);
    expect(refusal(foreign)).toEqual(refusal(unknown));
    expect(await tables(instance)).toEqual(rows);
    expect((await confirm(challengeId, code)).status).toBe(200);
  });

  test('of one request does not confirm another', async () => {
    const { ask, confirm, times } = await setUp();
    const archive = await ask({ kind: 'archive' });
    let remove = await ask({ kind: 'delete' });
    while (remove.code === archive.code) remove = await ask({ kind: 'delete' });
    expect((await confirm(remove.challengeId, archive.code)).json.error).toBe('code_invalid');
    expect((await times()).deletedAt).toBeNull();
    expect((await confirm(archive.challengeId, archive.code)).status).toBe(200);
  });

  test('is not interchangeable with a sign-in code', async () => {
    const { instance, application, ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    const signIn = await instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });
    expect([signIn.status, signIn.json.error]).toEqual([400, 'code_invalid']);
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: OWNER, clientId: application.clientId },
    });
    const answer = await confirm(sent.json.data.challengeId, instance.codeFor(OWNER));
    expect([answer.status, answer.json.error]).toEqual([400, 'code_invalid']);
  });

  test('takes effect once in a hundred concurrent confirmations', async () => {
    const { instance, application, ask, confirm } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const before = watch(instance, application);
    const { challengeId, code } = await ask({ kind: 'archive' });
    const answers = await Promise.all(Array.from({ length: 100 }, () => confirm(challengeId, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status, json }) => status === 409 && json.error === 'code_consumed')).toHaveLength(99);
    expect(before.kinds()).toEqual(['application.lifecycle_requested', 'application.archived']);
    expect(before.events()).toEqual([
      { type: 'user.session_revoked', data: { userId, sessionId: expect.any(String), reason: 'application.archived' } },
    ]);
  });

  test('expires once another code has been used', async () => {
    const { ask, confirm } = await setUp();
    const first = await ask({ kind: 'archive' });
    const second = await ask({ kind: 'delete' });
    expect((await confirm(first.challengeId, first.code)).status).toBe(200);
    const answer = await confirm(second.challengeId, second.code);
    expect([answer.status, answer.json.error]).toEqual([400, 'code_expired']);
  });

  test('is refused when the current state does not allow the change any more', async () => {
    const { instance, application, ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    await given.application(instance, application.id, { archivedAt: instance.clock.now() });
    instance.clock.advance(MINUTE);
    const { applications, audit_records: audit } = await tables(instance);
    const answer = await confirm(challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
    expect(await tables(instance)).toMatchObject({ applications, audit_records: audit });
  });

  test.each([
    ['send', {}, 'kind'],
    ['send', { kind: 'purge' }, 'kind'],
    ['send', { kind: 'delete', skipGrace: 'yes' }, 'skipGrace'],
    ['send', { kind: 'archive', reason: 'x' }, 'reason'],
    ['confirm', { code: '123456' }, 'challengeId'],
    ['confirm', { challengeId: 'chl_x' }, 'code'],
    ['confirm', { challengeId: 'chl_x', code: '12345' }, 'code'],
    ['confirm', { challengeId: 'chl_x', code: '123456', kind: 'archive' }, 'kind'],
  ])('a bad %s body %j is refused with the field', async (step, body, path) => {
    const { instance, manage } = await setUp();
    const rows = await tables(instance);
    const answer = await manage('POST', `/lifecycle/${step}`, { body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });
});

describe.each([
  [{ kind: 'archive' }, 'unarchive', 'application.archived'],
  [{ kind: 'delete' }, 'restore', 'application.deleted'],
  [{ kind: 'delete', skipGrace: true }, 'restore', 'application.hidden'],
])('an application after %j', (body, back, reason) => {
  test('has ended its open sessions with an event each, and no others', async () => {
    const { instance, application, change } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    const bob = await instance.signIn(application.clientId, 'bob@example.com');
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const owner = await instance.signIn('console', OWNER);
    const before = watch(instance, application);
    await change(body);
    const emitted = before.events();
    expect(emitted).toHaveLength(2);
    for (const { userId } of [ada, bob])
      expect(emitted).toContainEqual({
        type: 'user.session_revoked',
        data: { userId, sessionId: expect.stringMatching(/^ses_/), reason },
      });
    for (const { token } of [ada, bob]) {
      const answer = await verify(instance, token);
      expect([answer.status, answer.json.error]).toEqual([401, 'revoked']);
    }
    for (const { token } of [elsewhere, owner]) expect((await verify(instance, token)).status).toBe(200);
  });

  test('refuses sign-ins, and codes sent before stay invalid after a restore', async () => {
    const { instance, application, change, manage } = await setUp();
    const { clientId } = application;
    const email = 'ada@example.com';
    const send = () => instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
    const sent = await send();
    const code = instance.codeFor(email);
    const attempt = () =>
      instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId: sent.json.data.challengeId, code } });
    await change(body);
    expect((await attempt()).status).toBeGreaterThanOrEqual(400);
    instance.clock.advance(MINUTE);
    const later = await send();
    expect([later.status, later.json.error]).toEqual([403, 'application_archived']);
    await manage('POST', `/${back}`);
    const stale = await attempt();
    expect([stale.status, stale.json.error]).toEqual([400, 'code_expired']);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 0 });
    expect((await instance.signIn(clientId, email)).token).toMatch(/^est_/);
  });

  test('revives no session when it is restored', async () => {
    const { instance, application, change, manage } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    await change(body);
    await manage('POST', `/${back}`);
    expect((await verify(instance, token)).json.error).toBe('revoked');
  });

  test('keeps its users, memberships, roles and keys', async () => {
    const { instance, application, change } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    await instance.createKey(application.id);
    const kept = ['users', 'application_users', 'application_user_roles', 'roles', 'api_keys'];
    const pick = (all: Record<string, unknown[]>) => kept.map((name) => all[name]);
    const rows = pick(await tables(instance));
    await change(body);
    expect(pick(await tables(instance))).toEqual(rows);
  });
});
