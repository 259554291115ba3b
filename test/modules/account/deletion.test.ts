import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import { PERSONAL_TABLES } from '@/store/personal-data.ts';
import * as given from '../../support/given.ts';
import { allRows, storedText } from '../../support/stored.ts';
import { betaOf } from '../beta/beta.ts';
import { addSessions, as, changeEmail, deleteAccount, later, mailsTo, problemOf, setUp } from './account.ts';

describe('the deletion of an account', () => {
  test('lists deleted and retained data in advance, in the answer and in the mail', async () => {
    const { instance, ada } = await setUp();
    const { status, json } = await as(instance, ada)('POST', '/deletion');
    expect(status).toBe(200);
    const [mail] = mailsTo(instance, 'ada@example.com');
    expect(mail!.subject).toContain('delete your account');
    for (const sentence of [...json.data.deleted, ...json.data.kept]) expect(mail!.text).toContain(sentence);
    expect(json.data.kept.join(' ')).toContain('e-mail address');
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(200);
  });

  test('erases personal data, ends all credentials, and notifies every application', async () => {
    const { instance, application, other, ada, elsewhere } = await setUp();
    const { sqlite } = instance;
    await as(instance, ada)('PUT', '/profile/region', { country: 'GB' });
    await as(instance, ada)('POST', '/profile/languages', { code: 'en', level: 'NATIVE' });
    await given.person(instance, ada.userId, { fullName: 'Ada Lovelace', givenName: 'Ada' });
    for (const { id } of [application, other]) await given.member(instance, id, ada.userId, { username: 'ada-handle' });
    await betaOf(instance, application).seed('ada@example.com', 'notify_when_public');
    const { user_code, device_code } = (
      await instance.call('POST', '/api/v1/device/code', {
        body: { client_id: application.clientId, device_name: 'Laptop of Ada' },
      })
    ).json;
    await as(instance, ada)('POST', '/device/approve', { user_code });
    await instance.call('POST', '/api/v1/device/token', { body: { client_id: application.clientId, device_code } });
    await given.passkeys(instance, ada.userId, { name: 'Key of Ada' });
    const { status, json } = await deleteAccount(instance, ada, 'ada@example.com');
    expect([status, json.data.userId]).toEqual([200, ada.userId]);
    const rows = sqlite.query('SELECT * FROM users WHERE id = ?').all(ada.userId);
    expect(JSON.stringify(rows)).not.toContain('Lovelace');
    const stored = storedText(instance);
    expect(sqlite.query('SELECT count(*) AS n FROM beta_interests').get()).toEqual({ n: 0 });
    expect(sqlite.query('SELECT count(*) AS n FROM device_grants').get()).toEqual({ n: 0 });
    const roles = sqlite.query(
      'SELECT 1 FROM application_user_roles WHERE application_user_id IN (SELECT id FROM application_users WHERE user_id = ?)',
    );
    expect(roles.all(ada.userId)).toEqual([]);
    const places = sqlite.query('SELECT ip, user_agent FROM sessions WHERE ip IS NOT NULL').all();
    expect(places).toEqual([]);
    expect(sqlite.query("SELECT name FROM api_keys WHERE source = 'device'").get()).toEqual({
      name: 'Device of a deleted account',
    });
    for (const secret of ['Lovelace', 'ada-handle', 'Key of Ada']) expect(stored.includes(secret)).toBe(false);
    for (const { token } of [ada, elsewhere])
      expect((await instance.call('POST', '/api/v1/session', { token })).status).toBe(403);
    for (const { id } of [application, other])
      expect(instance.events(id).at(-1)).toEqual({
        type: 'user.deleted',
        data: { userId: ada.userId, reason: 'account_deleted' },
      });
    expect(mailsTo(instance, 'ada@example.com')[0]!.subject).toBe('Your account was deleted');
    expect(instance.auditKinds(application.id).at(-1)).toBe('account.deleted');
  });

  test('is final: no address of the person can sign in again, and no admin can restore them', async () => {
    const { instance, application, ada } = await setUp();
    await changeEmail(instance, ada, 'ada@new.example');
    // The change can no longer be undone after seven days.
    instance.clock.advance(7 * DAY);
    const again = await instance.signIn(application.clientId, 'ada@new.example');
    expect((await deleteAccount(instance, again, 'ada@new.example')).status).toBe(200);
    later(instance);
    for (const [email, refusal] of [
      ['ada@new.example', 'user_deleted'],
      ['ada@example.com', 'email_archived'],
    ] as const) {
      expect(problemOf(await instance.trySignIn(application.clientId, email))).toEqual([403, refusal]);
    }
    const restored = await instance.call('POST', `/api/applications/${application.id}/users/${ada.userId}/restore`, {
      token: instance.workspaceKey,
    });
    expect(problemOf(restored)).toEqual([409, 'invalid_state']);
  });

  test('needs a fresh session and the mailed code', async () => {
    const { instance, ada } = await setUp();
    const bare = await as(instance, ada)('DELETE', '');
    expect([...problemOf(bare), bare.json.fields[0].path]).toEqual([400, 'invalid_request', 'challengeId']);
    expect(bare.json.fields[0].message).toContain('POST /api/account/deletion');
    expect(problemOf(await as(instance, ada)('DELETE', '', { challengeId: 'chl_1', code: '123456' }))).toEqual([
      400,
      'code_invalid',
    ]);
    instance.clock.advance(10 * MINUTE);
    expect(problemOf(await as(instance, ada)('POST', '/deletion'))).toEqual([403, 'reauthentication_required']);
  });

  test('is refused for the only owner of a workspace, even if the other owner left after the code was sent', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const refused = await as(instance, owner)('POST', '/deletion');
    expect(problemOf(refused)).toEqual([409, 'invalid_state']);
    const invited = await instance.call('POST', '/api/workspace/members', {
      token: owner.token,
      body: { email: 'second@example.com', role: 'owner' },
    });
    const { json } = await as(instance, owner)('POST', '/deletion');
    const code = instance.codeFor('owner@example.com');
    const second = await instance.signIn('console', 'second@example.com');
    await instance.call('DELETE', `/api/workspace/members/${invited.json.data.id}`, { token: owner.token });
    const body = { challengeId: json.data.challengeId, code };
    expect(problemOf(await as(instance, owner)('DELETE', '', body))).toEqual([409, 'invalid_state']);
    expect(second.token).toStartWith('est_');
  });

  test('removes the person from their workspaces', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const mia = await given.consoleMember(instance, 'mia@example.com', 'admin');
    expect((await deleteAccount(instance, mia, 'mia@example.com')).status).toBe(200);
    const { json } = await instance.call('GET', '/api/workspace/members', { token: owner.token });
    expect(json.data.items.map(({ email }: { email: string }) => email)).toEqual(['owner@example.com']);
  });

  test('ends any number of sessions at once, and erases the address and device of each', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    await addSessions(instance, application, ada, 1000);
    expect((await deleteAccount(instance, ada, 'ada@example.com')).status).toBe(200);
    for (const { token } of [ada, elsewhere])
      expect((await instance.call('POST', '/api/v1/session', { token })).status).toBe(403);
    await instance.services.tasks.runOnce();
    const { sqlite } = instance;
    const places = 'SELECT id FROM sessions WHERE coalesce(ip, ip_country, user_agent) IS NOT NULL';
    expect(sqlite.query(places).all()).toEqual([]);
    expect(sqlite.query('SELECT id FROM long_works').all()).toEqual([]);
    // Two sessions were signed in, and a third of the added ones was open. The rest had ended before.
    const countRevoked = "SELECT count(*) AS n FROM events WHERE type = 'user.session_revoked'";
    expect(sqlite.query(countRevoked).get()).toEqual({ n: 1002 });
  });

  test('leaves nothing behind from changes that run at the same time', async () => {
    const { instance, ada } = await setUp();
    const { json } = await as(instance, ada)('POST', '/deletion');
    const given = { challengeId: json.data.challengeId, code: instance.codeFor('ada@example.com') };
    const [deleted, ...late] = await Promise.all([
      as(instance, ada)('DELETE', '', given),
      as(instance, ada)('PATCH', '/profile/identity', { fullName: 'Ada Lovelace' }),
      as(instance, ada)('PUT', '/profile/region', { country: 'GB' }),
      as(instance, ada)('PATCH', '/username', { username: 'ada-handle' }),
      as(instance, ada)('POST', '/profile/languages', { code: 'en', level: 'NATIVE' }),
      as(instance, ada)('POST', '/email', { email: 'ada@new.example' }),
    ]);
    expect(deleted.status).toBe(200);
    // Each change runs before the deletion and is erased by it, or finds the session ended.
    for (const { status } of late) expect([200, 401, 403]).toContain(status);
    // An event of a change before the deletion was sent as it was.
    const { events: _, ...kept } = allRows(instance.sqlite);
    const stored = JSON.stringify(kept);
    for (const gone of ['Lovelace', 'ada-handle', '"GB"', 'ada@new.example']) expect(stored).not.toContain(gone);
    expect(instance.sqlite.query('SELECT * FROM user_languages').all()).toEqual([]);
  });
});

describe('the export of an account', () => {
  /** Matches columns that identify a person. */
  const PERSONAL = /(?:^|_)(?:user_id|email|recipient|session_id|ip|user_agent)$/;

  test('covers every table with data about a person', async () => {
    const { instance } = await setUp();
    const columns = instance.sqlite
      .query(
        `SELECT t.name AS tableName, c.name AS columnName FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
      )
      .all() as { tableName: string; columnName: string }[];
    const personal = new Set(
      columns
        // An application's support address is published, and is nobody's account.
        .filter(({ columnName }) => PERSONAL.test(columnName) && columnName !== 'support_email')
        .map(({ tableName }) => tableName),
    );
    const covered = [...PERSONAL_TABLES];
    const missing = [...personal].filter((table) => !covered.includes(table));
    expect(missing, 'say in src/store/personal-data.ts which of its rows are about a person').toEqual([]);
    // These tables have no such column, but rows about people.
    expect(covered.filter((table) => !personal.has(table)).sort()).toEqual(['events', 'long_works', 'rate_counters']);
  });

  test('contains the rows of the person only, and no secret', async () => {
    const { instance, application, ada } = await setUp();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    await as(instance, ada)('POST', '/proof');
    const code = instance.codeFor('ada@example.com');
    const answer = await as(instance, ada)('GET', '/export');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toContain('attachment');
    const { tables, userId, exportedAt } = answer.json.data;
    expect([userId, exportedAt]).toEqual([ada.userId, new Date(instance.clock.now()).toISOString()]);
    expect(Object.keys(tables)).toHaveLength(PERSONAL_TABLES.length);
    expect(tables.users).toMatchObject([{ id: ada.userId, email: 'ada@example.com', createdAt: expect.any(String) }]);
    expect(tables.applicationUsers).toHaveLength(2);
    expect(tables.sessions).toHaveLength(2);
    expect(tables.events.length).toBeGreaterThan(0);
    expect(tables.auditRecords.some(({ kind }: { kind: string }) => kind === 'signin.succeeded')).toBe(true);
    expect(answer.text).not.toContain(eve.userId);
    expect(answer.text).not.toContain('eve@example.com');
    // Mailed codes must not appear either, including the ones for signing in.
    for (const { code: mailed } of mailsTo(instance, 'ada@example.com'))
      if (mailed) expect(answer.text).not.toContain(mailed);
    expect(answer.text).not.toContain(code);
    expect(answer.text).not.toMatch(/hash|digest|sealed/i);
  });

  test('hides the address and identity of admins who changed the person', async () => {
    const { instance, application, ada } = await setUp();
    instance.peer = '198.51.100.99';
    const owner = await instance.signIn('console', 'owner@example.com');
    const key = { token: owner.token };
    await instance.call('PUT', `/api/applications/${application.id}/users/${ada.userId}/roles`, {
      ...key,
      body: { slugs: ['developer'] },
    });
    instance.peer = '203.0.113.7';
    const { text, json } = await as(instance, ada)('GET', '/export');
    const record = json.data.tables.auditRecords.find(({ kind }: { kind: string }) => kind === 'role.assigned');
    expect(record).toMatchObject({ userId: ada.userId });
    expect(text).not.toContain('198.51.100.99');
    expect(text).not.toContain(owner.userId);
  });

  test('keeps text unchanged, even when it looks like JSON', async () => {
    const { instance, ada } = await setUp();
    await given.person(instance, ada.userId, { fullName: '[1]' });
    expect((await as(instance, ada)('GET', '/export')).json.data.tables.users[0].fullName).toBe('[1]');
  });

  test('contains background tasks by or about the person, without data about others', async () => {
    const { instance, ada } = await setUp();
    const memberId = (
      instance.sqlite.query('SELECT id FROM application_users WHERE user_id = ?').get(ada.userId) as { id: string }
    ).id;
    // A kind that no task handles keeps the rows untouched.
    const insert = instance.sqlite.prepare(
      "INSERT INTO long_works (id, kind, actor, data, cursor, done, created_at, updated_at) VALUES (?, 'k', ?, ?, 'usr_eve', 1, 1, 1)",
    );
    const actor = (userId: string) => JSON.stringify({ type: 'user', userId, ip: '198.51.100.99' });
    insert.run('wrk_own', actor(ada.userId), '{"memberIds":["apu_eve"]}');
    insert.run('wrk_about', actor('usr_eve'), JSON.stringify({ memberIds: ['apu_eve', memberId] }));
    insert.run('wrk_other', actor('usr_eve'), '{"memberIds":["apu_eve"]}');
    const { json } = await as(instance, ada)('GET', '/export');
    const row = { kind: 'k', applicationId: null, done: 1, total: null, createdAt: new Date(1).toISOString() };
    expect(json.data.tables.longWorks).toEqual([
      { ...row, id: 'wrk_about', updatedAt: row.createdAt },
      { ...row, id: 'wrk_own', updatedAt: row.createdAt, actor: JSON.parse(actor(ada.userId)) },
    ]);
  });

  test('is limited to ten requests an hour', async () => {
    const { instance, ada } = await setUp();
    for (let asked = 0; asked < 10; asked += 1) expect((await as(instance, ada)('GET', '/export')).status).toBe(200);
    expect(problemOf(await as(instance, ada)('GET', '/export'))).toEqual([429, 'rate_limited']);
  });

  test('is complete with thousands of rows, and does not block other requests', async () => {
    const { instance, application, ada } = await setUp();
    await given.auditRecords(instance, 5000, {
      kind: 'signin.succeeded',
      applicationId: application.id,
      userId: ada.userId,
    });
    const [answer, other] = await Promise.all([
      as(instance, ada)('GET', '/export'),
      instance.call('POST', '/api/v1/session', { token: ada.token }),
    ]);
    expect(other.status).toBe(200);
    expect(answer.json.data.tables.auditRecords.length).toBeGreaterThan(5000);
  });

  test('of an admin contains nothing about the people they managed', async () => {
    const { instance, application, ada } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    await instance.call('POST', `/api/applications/${application.id}/users/${ada.userId}/ban`, { token: owner.token });
    const { text } = await as(instance, owner)('GET', '/export');
    expect(text).not.toContain('ada@example.com');
    expect(text).not.toContain(ada.userId);
  });
});
