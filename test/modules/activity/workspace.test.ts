/** The activity of a whole workspace, single records, and the filters by person, address and time. */
import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '@/core/clock.ts';
import type { AuditEntry } from '@/core/audit.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { managing, pages } from '../users/management.ts';

interface Entry {
  readonly id: string;
  readonly applicationId: string | null;
  readonly kind: string;
  readonly ok: boolean;
  readonly userId: string | null;
  readonly email: string | null;
  readonly createdAt: string;
}

async function setUp() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const tenant = await given.tenant(instance);
  instance.clock.advance(MINUTE);
  const list = async (query: Record<string, string> = {}, token = instance.workspaceKey): Promise<Entry[]> => {
    const path = `/api/workspace/activity/list?${new URLSearchParams({ limit: '200', ...query })}`;
    const { status, json } = await instance.call('GET', path, { token });
    expect(status).toBe(200);
    return json.data.items;
  };
  const record = async (entry: AuditEntry): Promise<void> => {
    await given.auditRecords(instance, 1, entry);
    instance.clock.advance(1000);
  };
  return { instance, shop, other, tenant, list, record, manage: managing(instance, shop) };
}

const inOrder = (entries: readonly Entry[]) => {
  const keys = entries.map(({ createdAt, id }) => `${createdAt} ${id}`);
  expect(keys).toEqual([...keys].sort().reverse());
};

describe('the activity of a workspace', () => {
  test('covers the workspace and all its applications, newest first, and no other workspace', async () => {
    const { instance, shop, other, tenant, list, record } = await setUp();
    await record({ kind: 'user.banned', applicationId: shop.id, userId: 'usr_1' });
    await record({ kind: 'user.paused', applicationId: other.id, userId: 'usr_2' });
    await record({ kind: 'workspace.updated', workspaceId: instance.workspaceId });
    await record({ kind: 'user.banned', applicationId: tenant.application.id, userId: 'usr_3' });
    await record({ kind: 'workspace.updated', workspaceId: tenant.workspaceId });
    await record({ kind: 'account.exported', userId: 'usr_1' });
    await instance.signIn('console', 'owner@example.com');
    const entries = await list();
    expect(entries.slice(0, 3).map(({ kind, applicationId }) => [kind, applicationId])).toEqual([
      ['workspace.updated', null],
      ['user.paused', other.id],
      ['user.banned', shop.id],
    ]);
    inOrder(entries);
    const rows = instance.sqlite
      .query('SELECT id FROM audit_records WHERE workspace_id = ? ORDER BY created_at DESC, id DESC')
      .all(instance.workspaceId) as { id: string }[];
    expect(entries.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    const theirs = await list({}, tenant.workspaceKey);
    expect(theirs.some(({ id }) => entries.some((own) => own.id === id))).toBe(false);
  });

  test.each([
    ['status=error', ({ ok }: Entry) => !ok],
    ['status=ok', ({ ok }: Entry) => ok],
    ['family=user', ({ kind }: Entry) => kind.startsWith('user.')],
    ['family=u', ({ kind }: Entry) => kind.startsWith('u')],
    ['family=user.b', ({ kind }: Entry) => kind === 'user.banned'],
    ['status=error&family=user', ({ ok, kind }: Entry) => !ok && kind.startsWith('user.')],
    ['userId=usr_1', ({ userId }: Entry) => userId === 'usr_1'],
    ['userId=usr_1&status=error', ({ userId, ok }: Entry) => userId === 'usr_1' && !ok],
    ['userId=usr_1&q=DA@', ({ userId, email }: Entry) => userId === 'usr_1' && email === 'ada@example.com'],
    ['email=%20Ada@Example.com', ({ email }: Entry) => email === 'ada@example.com'],
    ['email=ada@example.com&status=error', ({ email, ok }: Entry) => email === 'ada@example.com' && !ok],
    ['q=nada', ({ email }: Entry) => email === 'nada@example.com'],
    ['country=DE', () => false],
    [
      `from=${isoTime(START + MINUTE + 5000)}`,
      ({ createdAt }: Entry) => Date.parse(createdAt) >= START + MINUTE + 5000,
    ],
    [`to=${isoTime(START + MINUTE + 5000)}`, ({ createdAt }: Entry) => Date.parse(createdAt) < START + MINUTE + 5000],
    [
      `from=2026-03-02T13:01:02%2B01:00&to=${isoTime(START + MINUTE + 6000)}&status=ok`,
      ({ createdAt, ok }: Entry) =>
        ok && Date.parse(createdAt) >= START + MINUTE + 2000 && Date.parse(createdAt) < START + MINUTE + 6000,
    ],
  ])(
    'filters by %s with exact matches on every page, as the activity of an application does',
    async (query, matches) => {
      const { instance, shop, other, record, list } = await setUp();
      for (const application of [shop, other])
        for (const kind of ['user.banned', 'signin.refused', 'role.created'] as const)
          for (const [userId, email] of [
            ['usr_1', 'ada@example.com'],
            ['usr_2', 'nada@example.com'],
            [null, 'ada@example.com'],
          ] as const)
            await record({
              kind,
              ok: kind !== 'signin.refused' && userId !== 'usr_2',
              applicationId: application.id,
              userId,
              email,
            });
      const all = await list();
      const base = { workspace: '/api/workspace', shop: `/api/applications/${shop.id}` };
      for (const [name, path] of Object.entries(base)) {
        const get = (_: string, rest: string) => instance.call('GET', path + rest, { token: instance.workspaceKey });
        const found = (await pages<Entry>(get as never, `/activity/list?limit=2&${query}`)).flat();
        const expected = all.filter(
          (entry) => matches(entry) && (name === 'workspace' || entry.applicationId === shop.id),
        );
        expect([name, found]).toEqual([name, expected]);
      }
    },
  );

  test.each([
    ['from=yesterday', 'from'],
    ['to=2026-13-40T00:00:00Z', 'to'],
    ['userId=', 'userId'],
    ['email=', 'email'],
    ['status=maybe', 'status'],
  ])('refuses %s and names the parameter', async (query, path) => {
    const { instance } = await setUp();
    const { status, json } = await instance.call('GET', `/api/workspace/activity/list?${query}`, {
      token: instance.workspaceKey,
    });
    expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', path]);
  });

  test('is available to members and to keys of the whole workspace', async () => {
    const { instance, shop } = await setUp();
    const mia = await given.consoleMember(instance, 'mia@example.com', 'member');
    const ask = (token: string) => instance.call('GET', '/api/workspace/activity/list', { token });
    expect((await ask(mia.token)).status).toBe(200);
    expect((await ask((await instance.createKey(shop.id)).token)).status).toBe(403);
  });
});

describe('a single activity record', () => {
  test('equals its entry in the list', async () => {
    const { shop, list, record, manage } = await setUp();
    await record({ kind: 'user.banned', applicationId: shop.id, userId: 'usr_1', detail: { reason: 'spam' } });
    const [entry] = await list();
    const { status, json } = await manage('GET', `/activity/${entry!.id}`);
    expect([status, json.data]).toEqual([200, entry]);
    expect(json.data.detail).toEqual({ reason: 'spam' });
  });

  test('of a workspace or its applications is readable in that workspace only', async () => {
    const { instance, other, tenant, list, record } = await setUp();
    const read = (id: string, token = instance.workspaceKey) =>
      instance.call('GET', `/api/workspace/activity/${id}`, { token });
    await record({ kind: 'user.banned', applicationId: other.id });
    await record({ kind: 'workspace.updated', workspaceId: instance.workspaceId });
    const [ofWorkspace, ofOther] = await list();
    for (const entry of [ofWorkspace, ofOther]) expect((await read(entry!.id)).json.data).toEqual(entry);
    expect((await read(ofOther!.id, tenant.workspaceKey)).status).toBe(404);
    expect((await read('aud_01h455vb4pex5vsknk084sn02q')).status).toBe(404);
    const ofApplication = await instance.createKey(other.id);
    expect((await read(ofOther!.id, ofApplication.token)).status).toBe(403);
  });

  test('of another application gets the same 404 as an unknown id', async () => {
    const { instance, other, tenant, list, record, manage } = await setUp();
    await record({ kind: 'user.banned', applicationId: other.id });
    await record({ kind: 'workspace.updated', workspaceId: instance.workspaceId });
    const [ofWorkspace, ofOther] = await list();
    await record({ kind: 'user.banned', applicationId: tenant.application.id });
    const [foreign] = await list({}, tenant.workspaceKey);
    for (const id of [ofWorkspace!.id, ofOther!.id, foreign!.id, 'aud_01h455vb4pex5vsknk084sn02q', 'list%20']) {
      const { status, json } = await manage('GET', `/activity/${id}`);
      expect([id, status, json.error]).toEqual([id, 404, 'not_found']);
    }
  });
});

test('a refused sign-in without an account is found by its e-mail address', async () => {
  const { instance, manage } = await setUp();
  const gated = await instance.createApplication({ name: 'Gated' });
  const token: Instance['workspaceKey'] = instance.workspaceKey;
  await instance.call('POST', `/api/applications/${gated.id}/signin-gate`, { token, body: { gate: 'private_beta' } });
  await instance.trySignIn(gated.clientId, 'zoe@example.com');
  const { json } = await managing(instance, gated)('GET', '/activity/list?status=error&email=zoe@example.com');
  expect(json.data.items.map(({ kind, userId }: Entry) => [kind, userId])).toEqual([['signin.refused', null]]);
  expect(json.data.items[0].detail.reason).toBe('waitlist');
  expect((await manage('GET', '/activity/list?status=error&email=zoe@example.com')).json.data.items).toEqual([]);
});
