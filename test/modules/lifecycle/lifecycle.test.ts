import { describe, expect, test } from 'bun:test';
import { DAY, isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { lastAudit, managing, refusal, tables, watch } from '../users/management.ts';

const OWNER = 'owner@example.com';

async function setUp() {
  const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100' } });
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const send = (body: unknown, token?: string) =>
    manage('POST', '/lifecycle/send', { body, ...(token !== undefined && { token }) });
  const confirm = (challengeId: string, code: string) =>
    manage('POST', '/lifecycle/confirm', { body: { challengeId, code } });
  /** Asks for a change and answers what confirms it. */
  const ask = async (body: unknown): Promise<{ challengeId: string; code: string }> => {
    const sent = await send(body);
    return { challengeId: sent.json.data.challengeId, code: instance.codeFor(OWNER) };
  };
  const change = async (body: unknown) => {
    const { challengeId, code } = await ask(body);
    return confirm(challengeId, code);
  };
  const times = async () => {
    const { archivedAt, deletedAt, purgeAfter } = (await manage('GET', '')).json.data;
    return { archivedAt, deletedAt, purgeAfter };
  };
  return { instance, application, manage, send, confirm, ask, change, times };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

const wrong = (code: string) => (code === '000000' ? '000001' : '000000');
const verify = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });
const mails = (instance: Instance) =>
  instance.sqlite.query('SELECT recipient, subject, text, code FROM mails ORDER BY rowid').all() as {
    recipient: string;
    subject: string;
    text: string;
    code: string | null;
  }[];

/** How an application comes into each state. */
const STATES: Record<string, (world: SetUp) => Promise<unknown>> = {
  active: async () => {},
  archived: ({ change }) => change({ kind: 'archive' }),
  deleting: ({ change }) => change({ kind: 'delete' }),
  'archived and deleting': async ({ change }) => {
    await change({ kind: 'archive' });
    await change({ kind: 'delete' });
  },
  hidden: ({ change }) => change({ kind: 'delete', skipGrace: true }),
  'past its grace': async ({ instance, change }) => {
    await change({ kind: 'delete' });
    instance.clock.advance(90 * DAY);
  },
};

const NOW = START + 100 * DAY;
const AT = isoTime(NOW);
const IN_90_DAYS = isoTime(NOW + 90 * DAY);
const KEPT = 'as it was';

type Outcome = { archivedAt: string | null; deletedAt: string | null; purgeAfter: string | null; audit: string };

const ARCHIVED: Outcome = { archivedAt: AT, deletedAt: null, purgeAfter: null, audit: 'application.archived' };
const DELETING: Outcome = { archivedAt: null, deletedAt: AT, purgeAfter: IN_90_DAYS, audit: 'application.deleted' };
const HIDDEN: Outcome = { archivedAt: null, deletedAt: AT, purgeAfter: AT, audit: 'application.hidden' };

const KINDS = {
  archive: { kind: 'archive' },
  delete: { kind: 'delete' },
  'delete without grace': { kind: 'delete', skipGrace: true },
  hide_now: { kind: 'hide_now' },
  'hide_now without grace': { kind: 'hide_now', skipGrace: true },
} as const;

/** What each request does in each state; null is a refusal. */
const TABLE: Record<keyof typeof STATES, Record<keyof typeof KINDS, Outcome | null>> = {
  active: {
    archive: ARCHIVED,
    delete: DELETING,
    'delete without grace': HIDDEN,
    hide_now: null,
    'hide_now without grace': HIDDEN,
  },
  archived: {
    archive: null,
    delete: { ...DELETING, archivedAt: KEPT },
    'delete without grace': { ...HIDDEN, archivedAt: KEPT },
    hide_now: null,
    'hide_now without grace': { ...HIDDEN, archivedAt: KEPT },
  },
  deleting: {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: { ...HIDDEN, deletedAt: KEPT },
    'hide_now without grace': { ...HIDDEN, deletedAt: KEPT },
  },
  'archived and deleting': {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: { ...HIDDEN, archivedAt: KEPT, deletedAt: KEPT },
    'hide_now without grace': { ...HIDDEN, archivedAt: KEPT, deletedAt: KEPT },
  },
  hidden: {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: null,
    'hide_now without grace': null,
  },
  'past its grace': {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: null,
    'hide_now without grace': null,
  },
};

const CASES = Object.entries(TABLE).flatMap(([state, row]) =>
  Object.entries(row).map(([name, outcome]) => ({
    state,
    name,
    body: KINDS[name as keyof typeof KINDS],
    outcome,
  })),
);

describe.each(CASES)('an application that is $state', ({ state, name, body, outcome }) => {
  async function inState() {
    const world = await setUp();
    const { clock } = world.instance;
    clock.advance(state === 'past its grace' ? 10 * DAY : 90 * DAY);
    await STATES[state]!(world);
    clock.advance(NOW - clock.now());
    return world;
  }

  if (outcome === null)
    test(`takes no ${name}: no code is sent and nothing changes`, async () => {
      const { instance, send } = await inState();
      const rows = await tables(instance);
      const answer = await send(body);
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
      expect(await tables(instance)).toEqual(rows);
    });
  else
    test(`is changed by a confirmed ${name} and not by the asking`, async () => {
      const { instance, application, times, ask, confirm, manage } = await inState();
      const was = await times();
      const before = watch(instance, application);
      const { challengeId, code } = await ask(body);
      expect(await times()).toEqual(was);
      const answer = await confirm(challengeId, code);
      const { audit, ...expected } = outcome;
      const kept = (field: keyof typeof was) => (expected[field] === KEPT ? was[field] : expected[field]);
      const now = { archivedAt: kept('archivedAt'), deletedAt: kept('deletedAt'), purgeAfter: kept('purgeAfter') };
      expect([answer.status, answer.json.data]).toEqual([
        200,
        expect.objectContaining({ id: application.id, ...now, updatedAt: AT }),
      ]);
      expect((await manage('GET', '')).json.data).toEqual(answer.json.data);
      expect(before.kinds()).toEqual(['application.lifecycle_requested', audit]);
      expect(before.events()).toEqual([]);
    });
});

describe('the way back', () => {
  const WAYS: Record<string, Record<keyof typeof STATES, 'application.unarchived' | 'application.restored' | null>> = {
    unarchive: {
      active: null,
      archived: 'application.unarchived',
      deleting: null,
      'archived and deleting': null,
      hidden: null,
      'past its grace': null,
    },
    restore: {
      active: null,
      archived: null,
      deleting: 'application.restored',
      'archived and deleting': 'application.restored',
      hidden: 'application.restored',
      'past its grace': 'application.restored',
    },
  };
  const cases = Object.entries(WAYS).flatMap(([action, row]) =>
    Object.entries(row).map(([state, audit]) => ({ action, state, audit })),
  );

  test.each(cases)('$action of one that is $state', async ({ action, state, audit }) => {
    const world = await setUp();
    const { instance, application, manage, times } = world;
    await STATES[state]!(world);
    const was = await times();
    const rows = await tables(instance);
    const before = watch(instance, application);
    const answer = await manage('POST', `/${action}`);
    if (audit === null) {
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
      expect(await tables(instance)).toEqual(rows);
      return;
    }
    const archivedAt = action === 'unarchive' ? null : was.archivedAt;
    expect([answer.status, answer.json.data]).toEqual([
      200,
      expect.objectContaining({ archivedAt, deletedAt: null, purgeAfter: null }),
    ]);
    expect(before.kinds()).toEqual([audit]);
    expect(before.events()).toEqual([]);
    expect(lastAudit(instance, audit)).toMatchObject({
      target_id: application.id,
      actor_type: 'key',
      request_id: answer.headers.get('x-request-id'),
    });
    const again = await manage('POST', `/${action}`);
    expect([again.status, again.json.error]).toEqual([409, 'invalid_state']);
  });

  test('takes an optional body: none, an empty one and {}, but no unknown field', async () => {
    for (const body of [undefined, '', '{}']) {
      const { change, manage } = await setUp();
      await change({ kind: 'archive' });
      expect((await manage('POST', '/unarchive', { body })).status).toBe(200);
    }
    const { change, manage } = await setUp();
    await change({ kind: 'delete' });
    expect((await manage('POST', '/restore', { body: { force: true } })).status).toBe(400);
  });

  test('is open to the application’s own full key', async () => {
    const { instance, application, change, manage } = await setUp();
    const { token } = await instance.createKey(application.id);
    await change({ kind: 'delete' });
    expect((await manage('POST', '/restore', { token })).status).toBe(200);
  });
});

describe('the code', () => {
  test('goes to every owner for a key, the same to each, and to nobody else', async () => {
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

  test('goes to the acting member alone, owner or not', async () => {
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

  test('is told in the mail and nowhere else', async () => {
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

  test('may be typed with spaces and hyphens', async () => {
    const { ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    expect((await confirm(challengeId, ` ${code.slice(0, 3)}-${code.slice(3)} `)).status).toBe(200);
  });

  test('is dead after five wrong tries, even when it is right then', async () => {
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

  test('works after four wrong tries', async () => {
    const { ask, confirm } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    for (let attempt = 0; attempt < 4; attempt += 1) await confirm(challengeId, wrong(code));
    expect((await confirm(challengeId, code)).status).toBe(200);
  });

  test('is good for ten minutes', async () => {
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

  test('works once: a retry changes nothing, even where the change could happen again', async () => {
    const { instance, ask, confirm, manage } = await setUp();
    const { challengeId, code } = await ask({ kind: 'archive' });
    await confirm(challengeId, code);
    await manage('POST', '/unarchive');
    const rows = await tables(instance);
    const answer = await confirm(challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([409, 'code_consumed']);
    expect(await tables(instance)).toEqual(rows);
  });

  test('of one application does not serve for another, and is not used up there', async () => {
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
    const remove = await ask({ kind: 'delete' });
    if (archive.code === remove.code) return;
    expect((await confirm(remove.challengeId, archive.code)).json.error).toBe('code_invalid');
    expect((await times()).deletedAt).toBeNull();
    expect((await confirm(archive.challengeId, archive.code)).status).toBe(200);
  });

  test('of a sign-in does not confirm, and one that confirms does not sign in', async () => {
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

  test('confirmed a hundred times at once acts once', async () => {
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

  test('does not carry out what the state no longer allows', async () => {
    const { instance, ask, confirm } = await setUp();
    const first = await ask({ kind: 'archive' });
    const second = await ask({ kind: 'archive' });
    await confirm(first.challengeId, first.code);
    instance.clock.advance(MINUTE);
    const { applications, audit_records: audit } = await tables(instance);
    const answer = await confirm(second.challengeId, second.code);
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
  ])('a bad %s body %j is refused, naming the field', async (step, body, path) => {
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
])('after %j', (body, back, reason) => {
  test('every open session has ended with its event; other applications and the console go on', async () => {
    const { instance, application, change } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    const bob = await instance.signIn(application.clientId, 'bob@example.com');
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const owner = await instance.signIn('console', OWNER);
    const before = watch(instance, application);
    await change(body);
    const told = before.events();
    expect(told).toHaveLength(2);
    for (const { userId } of [ada, bob])
      expect(told).toContainEqual({
        type: 'user.session_revoked',
        data: { userId, sessionId: expect.stringMatching(/^ses_/), reason },
      });
    for (const { token } of [ada, bob]) {
      const answer = await verify(instance, token);
      expect([answer.status, answer.json.error]).toEqual([401, 'revoked']);
    }
    for (const { token } of [elsewhere, owner]) expect((await verify(instance, token)).status).toBe(200);
  });

  test('nobody signs in, not even with a code sent before, and that code stays dead when it is undone', async () => {
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

  test('no session comes back when it is undone', async () => {
    const { instance, application, change, manage } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    await change(body);
    await manage('POST', `/${back}`);
    expect((await verify(instance, token)).json.error).toBe('revoked');
  });

  test('what the application holds is all still there', async () => {
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

describe('the list of applications', () => {
  const listed = async (instance: Instance, query = '') =>
    (await instance.call('GET', `/api/applications${query}`, { token: instance.workspaceKey })).json.data.items.map(
      ({ id }: { id: string }) => id,
    );

  test('keeps archived and deleted ones, and hides hidden ones unless asked for them', async () => {
    const { instance, application, change, manage } = await setUp();
    await change({ kind: 'archive' });
    expect(await listed(instance)).toEqual([application.id]);
    await change({ kind: 'delete' });
    expect(await listed(instance)).toEqual([application.id]);
    await change({ kind: 'hide_now' });
    expect(await listed(instance)).toEqual([]);
    expect(await listed(instance, '?include=hidden')).toEqual([application.id]);
    const answer = await manage('GET', '');
    expect([answer.status, answer.json.data.id]).toEqual([200, application.id]);
    await manage('POST', '/restore');
    expect(await listed(instance)).toEqual([application.id]);
  });

  test('hides a deleted one when its ninety days are over, and not before', async () => {
    const { instance, application, change, manage, times } = await setUp();
    await change({ kind: 'delete' });
    expect(await times()).toMatchObject({ deletedAt: isoTime(START), purgeAfter: isoTime(START + 90 * DAY) });
    instance.clock.advance(90 * DAY - 1);
    expect(await listed(instance)).toEqual([application.id]);
    instance.clock.advance(1);
    await instance.services.scheduler.runAll();
    expect(await listed(instance)).toEqual([]);
    expect(await listed(instance, '?include=hidden')).toEqual([application.id]);
    expect((await manage('GET', '')).status).toBe(200);
  });

  test('takes no other inclusion', async () => {
    const { instance } = await setUp();
    const answer = await instance.call('GET', '/api/applications?include=all', { token: instance.workspaceKey });
    expect([answer.status, answer.json.fields[0].path]).toEqual([400, 'include']);
  });
});

describe('the audit record of a change', () => {
  test('tells who confirmed it in which request', async () => {
    const { instance, application, ask, manage } = await setUp();
    const owner = await instance.signIn('console', OWNER);
    const { challengeId, code } = await ask({ kind: 'archive' });
    const answer = await manage('POST', '/lifecycle/confirm', { token: owner.token, body: { challengeId, code } });
    expect(answer.status).toBe(200);
    expect(lastAudit(instance, 'application.archived')).toMatchObject({
      ok: 1,
      application_id: application.id,
      workspace_id: instance.workspaceId,
      target_id: application.id,
      actor_type: 'user',
      actor_user_id: owner.userId,
      actor_api_key_id: null,
      request_id: answer.headers.get('x-request-id'),
      ip: instance.peer,
      created_at: START,
    });
  });

  test.each(['audit_records', 'events'])(
    'and the change are one: when the row in %s cannot be written, nothing happens and the code is not used up',
    async (table) => {
      const { instance, application, ask, confirm, times } = await setUp();
      const { token } = await instance.signIn(application.clientId, 'ada@example.com');
      const { challengeId, code } = await ask({ kind: 'archive' });
      const mend = given.brokenWrites(instance, `INSERT ON ${table}`);
      const rows = await tables(instance);
      const failed = await confirm(challengeId, code);
      expect([failed.status, failed.json.error]).toEqual([500, 'internal']);
      expect(await tables(instance)).toEqual(rows);
      expect((await verify(instance, token)).status).toBe(200);
      mend();
      expect((await confirm(challengeId, code)).status).toBe(200);
      expect((await times()).archivedAt).toBe(isoTime(START));
    },
  );
});
