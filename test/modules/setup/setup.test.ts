import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { HOUR } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { findUserByEmail } from '@/store/people.ts';
import { findWorkspaceMember, setWorkspaceRole } from '@/store/workspace-members.ts';
import * as given from '../../support/given.ts';
import { createSetupToken } from '@/modules/setup/service.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { dumpTables, storedText } from '../../support/stored.ts';

/** An instance without an owner. */
const createUnowned = (environment: Record<string, string> = {}) =>
  createInstance({ environment: { GATEHOUSE_OWNER_EMAIL: '', ...environment } });

const complete = (instance: Instance, body: unknown) => instance.call('POST', '/api/setup', { body });
const owners = ({ sqlite }: Instance) =>
  sqlite
    .query(
      "SELECT u.email FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE m.role = 'owner' ORDER BY m.rowid",
    )
    .all()
    .map((row) => (row as { email: string }).email);
const consoleId = (instance: Instance) => instance.services.workspaces.consoleId();

describe('a setup link', () => {
  test('makes the first owner and signs them in to the console', async () => {
    const instance = await createUnowned();
    expect([owners(instance), await instance.services.workspaces.hasOwner()]).toEqual([[], false]);
    const token = await instance.services.setup.createLink();
    const { status, json, headers } = await complete(instance, { token, email: ' Ada@Example.com ' });
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        data: {
          token: expect.stringMatching(/^est_/),
          expiresAt: new Date(START + 30 * 24 * HOUR).toISOString(),
          userId: expect.stringMatching(/^usr_/),
          applicationId: consoleId(instance),
          workspaceId: instance.workspaceId,
        },
      },
    ]);
    expect(headers.get('set-cookie')).toStartWith(`gatehouse=${json.data.token};`);
    expect(owners(instance)).toEqual(['ada@example.com']);
    const created = await instance.call('POST', '/api/applications', { token: json.data.token });
    expect(created.status).toBe(200);
  });

  test('is recorded with all its effects, and emits only the sign-in event', async () => {
    const instance = await createUnowned();
    const token = await instance.services.setup.createLink();
    const before = instance.auditKinds().length;
    const { json } = await complete(instance, { token, email: 'ada@example.com' });
    expect(instance.auditKinds().slice(before - 1)).toEqual([
      'setup.link_created',
      'workspace.owner_added',
      'signin.succeeded',
      'setup.completed',
    ]);
    expect(instance.events(consoleId(instance))).toEqual([
      {
        type: 'user.signed_in',
        data: {
          userId: json.data.userId,
          sessionId: expect.stringMatching(/^ses_/),
          method: 'setup',
          email: 'ada@example.com',
          isNewUser: true,
        },
      },
    ]);
    expect(
      instance.sqlite
        .query("SELECT actor_type, ip, user_id, ok FROM audit_records WHERE kind = 'setup.completed'")
        .get(),
    ).toEqual({ actor_type: 'anonymous', ip: '203.0.113.7', user_id: json.data.userId, ok: 1 });
  });

  test('proves control of the server, not of the mailbox', async () => {
    const instance = await createUnowned();
    await complete(instance, { token: await instance.services.setup.createLink(), email: 'ada@example.com' });
    expect(instance.sqlite.query("SELECT email_verified_at AS at FROM users WHERE kind = 'person'").get()).toEqual({
      at: null,
    });
  });

  test('works once', async () => {
    const instance = await createUnowned();
    const token = await instance.services.setup.createLink();
    await complete(instance, { token, email: 'ada@example.com' });
    const before = dumpTables(instance);
    const again = await complete(instance, { token, email: 'eve@example.com' });
    expect([again.status, again.json.error]).toEqual([404, 'not_found']);
    expect(again.json.message).toContain('setup-link');
    expect(dumpTables(instance)).toEqual(before);
  });

  test('opened fifty times concurrently makes one owner and one session', async () => {
    const instance = await createUnowned({ GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '100' });
    const token = await instance.services.setup.createLink();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => complete(instance, { token, email: `person${index}@example.com` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error === 'not_found')).toHaveLength(49);
    expect(owners(instance)).toHaveLength(1);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 1 });
    expect(instance.sqlite.query("SELECT count(*) AS n FROM users WHERE kind = 'person'").get()).toEqual({ n: 1 });
  });

  test('is valid for 24 hours, to the millisecond', async () => {
    const instance = await createUnowned();
    const token = await instance.services.setup.createLink();
    instance.clock.advance(24 * HOUR - 1);
    expect((await instance.call('GET', `/setup?token=${token}`)).status).toBe(200);
    instance.clock.advance(1);
    expect((await instance.call('GET', `/setup?token=${token}`)).status).toBe(404);
    const late = await complete(instance, { token, email: 'ada@example.com' });
    expect([late.status, late.json.error]).toEqual([404, 'not_found']);
    expect(owners(instance)).toEqual([]);
  });

  test('a link of an earlier start is valid too, and the first use invalidates the others', async () => {
    const instance = await createUnowned();
    const first = await instance.services.setup.createLink();
    const second = await instance.services.setup.createLink();
    expect((await complete(instance, { token: first, email: 'ada@example.com' })).status).toBe(200);
    expect((await complete(instance, { token: second, email: 'eve@example.com' })).status).toBe(404);
    expect(owners(instance)).toEqual(['ada@example.com']);
  });

  test('is replaced by one requested on the server', async () => {
    const instance = await createUnowned();
    const first = await instance.services.setup.createLink();
    const second = await createSetupToken(instance.db, systemRandom);
    expect((await complete(instance, { token: first, email: 'ada@example.com' })).status).toBe(404);
    expect((await complete(instance, { token: second, email: 'ada@example.com' })).status).toBe(200);
  });

  test('a start’s link is valid while it is among the last ten', async () => {
    const instance = await createUnowned();
    const links = [];
    for (let start = 0; start < 12; start += 1) {
      instance.clock.advance(1);
      links.push(await instance.services.setup.createLink());
    }
    const isOpen = await Promise.all(links.map((token) => instance.services.setup.isValid(token)));
    expect(isOpen).toEqual([false, false, ...Array(10).fill(true)]);
  });

  test.each([['no-address'], ['ada@localhost'], ['a b@example.com']])(
    'stays unused after the bad address %j, which is not echoed',
    async (email) => {
      const instance = await createUnowned();
      const token = await instance.services.setup.createLink();
      const before = dumpTables(instance);
      const { status, json, text } = await complete(instance, { token, email });
      expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', 'email']);
      expect(text).not.toContain(email);
      expect(dumpTables(instance)).toEqual(before);
      expect((await complete(instance, { token, email: 'ada@example.com' })).status).toBe(200);
    },
  );

  test.each([
    [{}, ['email', 'token']],
    [{ token: 5, email: 'ada@example.com' }, ['token']],
    [{ token: 'x', email: 'ada@example.com', role: 'owner' }, ['role']],
    [{ token: 'x', email: null }, ['email']],
  ])('stays unused after a malformed body: %j', async (body, paths) => {
    const { status, json } = await complete(await createUnowned(), body);
    expect([status, json.fields.map(({ path }: { path: string }) => path).sort()]).toEqual([400, paths]);
  });

  test('a link with a forged token is answered like a used one, on the page and the endpoint', async () => {
    const instance = await createUnowned();
    const used = await instance.services.setup.createLink();
    await complete(instance, { token: used, email: 'ada@example.com' });
    const answers = [];
    for (const token of [used, mintSecret('setup', systemRandom), 'egs_x', mintSecret('apiKey', systemRandom), 'x'])
      answers.push(await complete(instance, { token, email: 'eve@example.com' }));
    for (const { status, json } of answers)
      expect([status, { ...json, requestId: '' }]).toEqual([404, { ...answers[0]!.json, requestId: '' }]);
    for (const path of ['/setup', '/setup?token=', `/setup?token=${used}`, '/setup?token=egs_x'])
      expect((await instance.call('GET', path)).status).toBe(404);
    expect(owners(instance)).toEqual(['ada@example.com']);
  });

  test('is stored as a hash and logged nowhere', async () => {
    const instance = await createUnowned();
    const token = await instance.services.setup.createLink();
    await instance.call('GET', `/setup?token=${token}`);
    const { json } = await complete(instance, { token, email: 'ada@example.com' });
    for (const secret of [token, json.data.token]) {
      expect(storedText(instance)).not.toContain(secret.slice(12));
      expect(instance.logLines.join('')).not.toContain(secret.slice(12));
    }
    expect(instance.logLines.join('')).not.toContain('ada@example.com');
  });

  test('can be tried thirty times a minute by one client address', async () => {
    const instance = await createUnowned();
    const guess = () => complete(instance, { token: mintSecret('setup', systemRandom), email: 'ada@example.com' });
    for (let attempt = 0; attempt < 30; attempt += 1) expect((await guess()).status).toBe(404);
    const refused = await guess();
    expect([refused.status, refused.json.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '60',
    ]);
    instance.peer = '198.51.100.20';
    expect((await guess()).status).toBe(404);
  });
});

describe('recovery', () => {
  test('lets an existing owner back in as the same person', async () => {
    const instance = await createInstance();
    const before = await instance.signIn('console', 'owner@example.com');
    const members = () => instance.sqlite.query('SELECT * FROM workspace_members').all();
    const membersBefore = members();
    const { json } = await complete(instance, {
      token: await instance.services.setup.createLink(),
      email: 'owner@example.com',
    });
    expect(json.data.userId).toBe(before.userId);
    expect(members()).toEqual(membersBefore);
    expect(instance.auditKinds().slice(-2)).toEqual(['signin.succeeded', 'setup.completed']);
    expect((await instance.call('POST', '/api/v1/session', { token: before.token })).status).toBe(200);
  });

  test('restores an owner who was demoted, and one who left', async () => {
    const instance = await createInstance();
    const { id: userId } = (await findUserByEmail(instance.db.reader, 'owner@example.com'))!;
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      const seat = await findWorkspaceMember(unit, instance.workspaceId, userId);
      await setWorkspaceRole(unit, seat!, 'member');
    });
    await given.member(instance, consoleId(instance), userId, { status: 'left' });
    const { status } = await complete(instance, {
      token: await instance.services.setup.createLink(),
      email: 'owner@example.com',
    });
    expect([status, owners(instance)]).toEqual([200, ['owner@example.com']]);
    expect(instance.events(consoleId(instance)).map(({ type }) => type)).toEqual([
      'user.reactivated',
      'user.signed_in',
    ]);
  });

  test('admits an owner who was removed from the console', async () => {
    const instance = await createInstance();
    const { id: userId } = (await findUserByEmail(instance.db.reader, 'owner@example.com'))!;
    await given.member(instance, consoleId(instance), userId, { status: 'banned' });
    const token = await instance.services.setup.createLink();
    expect((await complete(instance, { token, email: 'owner@example.com' })).status).toBe(200);
    expect(owners(instance)).toEqual(['owner@example.com']);
  });

  test('cannot make an owner of an API key', async () => {
    const instance = await createInstance();
    const key = await instance.createKey((await instance.createApplication()).id);
    const token = await instance.services.setup.createLink();
    const { status } = await complete(instance, { token, email: `${key.id}@api-key.invalid` });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(owners(instance)).toEqual(['owner@example.com']);
  });
});

test('the configured owner is made once, alongside any second one', async () => {
  const instance = await createInstance();
  expect(owners(await instance.restart())).toEqual(['owner@example.com']);
  expect(instance.auditKinds().filter((kind) => kind === 'workspace.owner_added')).toHaveLength(1);
});
