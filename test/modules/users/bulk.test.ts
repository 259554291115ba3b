import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import type { Author } from '@/db/database.ts';
import { batchChanges } from '@/modules/users/bulk.ts';
import { type Answer, createInstance } from '../../support/instance.ts';
import * as given from '../../support/given.ts';
import { managing, people, tables, watch } from './management.ts';

const STRANGER = 'usr_01h455vb4pex5vsknk084sn02q';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const signIn = (name: string) => instance.signIn(application.clientId, `${name}@example.com`);
  const [ada, bea, cleo] = [await signIn('ada'), await signIn('bea'), await signIn('cleo')];
  const act = (body: object) => manage('POST', '/users/actions', { body });
  const grant = (body: object) => manage('POST', '/users/grants', { body });
  return { instance, application, manage, act, grant, ada, bea, cleo };
}

interface Person {
  readonly userId: string;
}

describe('an action on many users', () => {
  test('has the effect, events and records of single calls, in the given order', async () => {
    const { instance, application, manage, act, ada, bea, cleo } = await setUp();
    await manage('POST', `/users/${bea.userId}/ban`);
    await manage('POST', `/users/${cleo.userId}/delete`);
    const before = watch(instance, application);
    const userIds = [cleo.userId, ada.userId, STRANGER, bea.userId];
    const { status, json } = await act({ action: 'ban', userIds, reason: 'spam' });
    expect([status, json.data]).toEqual([
      200,
      {
        summary: { requested: 4, changed: 1, skipped: 3 },
        results: [
          {
            userId: cleo.userId,
            outcome: 'refused',
            status: 'deleted',
            error: 'invalid_state',
            message: 'Not possible for a user who is deleted: ban.',
          },
          { userId: ada.userId, outcome: 'changed', status: 'banned' },
          { userId: STRANGER, outcome: 'not_found' },
          { userId: bea.userId, outcome: 'unchanged', status: 'banned' },
        ],
      },
    ]);
    expect(before.kinds()).toEqual(['user.banned']);
    expect(before.events().map(({ type }) => type)).toEqual(['user.session_revoked', 'user.banned']);
    expect(before.events().at(-1)!.data).toEqual({ userId: ada.userId, reason: 'spam' });
    const verdict = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect([verdict.status, verdict.json.error]).toEqual([403, 'membership_blocked']);
  });

  test('repeated changes nothing', async () => {
    const { instance, act, ada, bea } = await setUp();
    const body = { action: 'pause', userIds: [ada.userId, bea.userId] };
    await act(body);
    const rows = await tables(instance);
    const { json } = await act(body);
    expect(json.data.summary).toEqual({ requested: 2, changed: 0, skipped: 2 });
    expect(json.data.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['unchanged', 'unchanged']);
    expect(await tables(instance)).toEqual(rows);
  });

  test.each([
    ['ban', 'banned', 'unban', 'active'],
    ['pause', 'paused', 'resume', 'active'],
    ['delete', 'deleted', 'restore', 'active'],
  ])('the action %s makes them %s, and %s makes them %s again', async (there, state, back, before) => {
    const { act, ada, bea } = await setUp();
    const userIds = [ada.userId, bea.userId];
    const statuses = async (action: string) =>
      (await act({ action, userIds })).json.data.results.map(({ status }: { status: string }) => status);
    expect([await statuses(there), await statuses(back)]).toEqual([
      [state, state],
      [before, before],
    ]);
  });

  test('reaches 200 users in several changes, and none of another application', async () => {
    const { instance, application, manage, act } = await setUp();
    const emails = Array.from({ length: 199 }, (_, index) => `p${index}@example.com`);
    const userIds = await people(manage, ...emails);
    const other = await instance.createApplication({ name: 'Other' });
    const { userId } = await instance.signIn(other.clientId, 'zoe@example.com');
    const { json } = await act({ action: 'ban', userIds: [...userIds, userId] });
    expect(json.data.summary).toEqual({ requested: 200, changed: 199, skipped: 1 });
    expect(json.data.results.at(-1)).toEqual({ userId, outcome: 'not_found' });
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'user.banned')).toHaveLength(199);
    expect(instance.auditKinds(other.id)).not.toContain('user.banned');
  });

  test('keeps out imported people who never came, and remembers a ban', async () => {
    const { instance, application, manage, act } = await setUp();
    const [first, banned] = await people(manage, 'first@example.com', 'banned@example.com');
    await act({ action: 'ban', userIds: [banned] });
    const answer = await act({ action: 'delete', userIds: [first, banned] });
    const deleted = [first, banned].map((userId) => ({ userId, outcome: 'changed', status: 'deleted' }));
    expect(answer.json.data.results).toEqual(deleted);
    const again = await act({ action: 'delete', userIds: [first, banned] });
    expect(again.json.data.results).toEqual(deleted.map((result) => ({ ...result, outcome: 'unchanged' })));
    for (const email of ['first@example.com', 'banned@example.com'])
      expect((await instance.trySignIn(application.clientId, email)).json.error).toBe('user_deleted');
    const restored = await act({ action: 'restore', userIds: [first, banned] });
    expect(restored.json.data.results.map(({ status }: { status: string }) => status)).toEqual(['active', 'banned']);
  });

  test.each([
    ['no users', { userIds: [] }, 'userIds'],
    ['one twice', { userIds: ['usr_1', 'usr_1'] }, 'userIds'],
    ['too many', { userIds: Array.from({ length: 201 }, (_, index) => `usr_${index}`) }, 'userIds'],
    ['another action', { action: 'promote' }, 'action'],
    ['a long reason', { reason: 'x'.repeat(501) }, 'reason'],
    ['an unknown field', { all: true }, 'all'],
  ])('an action with %s is refused and changes nothing', async (_, part, path) => {
    const { instance, act, ada } = await setUp();
    const rows = await tables(instance);
    const { status, json } = await act({ action: 'ban', userIds: [ada.userId], ...part });
    expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });

  test('stops at the first change after its caller has lost access', async () => {
    const { instance, manage, ada, bea } = await setUp();
    const emails = Array.from({ length: 60 }, (_, index) => `p${index}@example.com`);
    const userIds = await people(manage, ...emails);
    const mia = await given.consoleMember(instance, 'mia@example.com', 'admin');
    const call = manage('POST', '/users/actions', {
      token: mia.token,
      body: { action: 'ban', userIds: [ada.userId, bea.userId, ...userIds] },
    });
    const removal = instance.call('DELETE', `/api/workspace/members/${mia.memberId}`, { token: instance.workspaceKey });
    const [answer, removed] = await Promise.all([call, removal]);
    expect(removed.status).toBe(200);
    expect([401, 403, 404]).toContain(answer.status);
    const banned = instance.auditKinds().filter((kind) => kind === 'user.banned').length;
    expect(banned).toBeLessThan(62);
  });
});

describe('grants of many users', () => {
  test('are added and removed; unnamed grants stay', async () => {
    const { instance, application, manage, grant, ada, bea } = await setUp();
    for (const slug of ['editor', 'author', 'guest']) await given.grant(instance, 'roles', application.id, slug);
    await given.grant(instance, 'scopes', application.id, 'read');
    await given.holder(instance, 'roles', application.id, ada.userId, 'guest', 'author');
    const before = watch(instance, application);
    const { status, json } = await grant({
      userIds: [ada.userId, STRANGER, bea.userId],
      roles: { add: ['editor'], remove: ['guest'] },
      scopes: { add: ['read'] },
    });
    expect([status, json.data]).toEqual([
      200,
      {
        summary: { requested: 3, changed: 2, skipped: 1 },
        results: [
          { userId: ada.userId, outcome: 'changed', roles: ['author', 'editor', 'user'], scopes: ['read'] },
          { userId: STRANGER, outcome: 'not_found' },
          { userId: bea.userId, outcome: 'changed', roles: ['editor', 'user'], scopes: ['read'] },
        ],
      },
    ]);
    expect(before.events().map(({ type }) => type)).toEqual([
      'user.role_added',
      'user.role_removed',
      'user.scope_added',
      'user.role_added',
      'user.scope_added',
    ]);
    expect(before.kinds()).toEqual(['role.assigned', 'scope.assigned', 'role.assigned', 'scope.assigned']);
    expect((await manage('GET', `/users/${ada.userId}`)).json.data.roles).toEqual(['author', 'editor', 'user']);
  });

  test('repeated change nothing', async () => {
    const { instance, application, grant, ada, bea } = await setUp();
    await given.grant(instance, 'memberships', application.id, 'pro');
    const body = { userIds: [ada.userId, bea.userId], memberships: { add: ['pro'] } };
    await grant(body);
    const rows = await tables(instance);
    expect((await grant(body)).json.data).toEqual({
      summary: { requested: 2, changed: 0, skipped: 2 },
      results: [ada, bea].map(({ userId }) => ({ userId, outcome: 'unchanged', memberships: ['pro'] })),
    });
    expect(await tables(instance)).toEqual(rows);
  });

  test.each([
    ['a slug that does not exist', { roles: { add: ['editor', 'nobody'] } }, 'roles.add.1'],
    ['one to be taken away that does not exist', { scopes: { remove: ['nobody'] } }, 'scopes.remove.0'],
    ['one both ways', { roles: { add: ['editor'], remove: ['editor'] } }, 'roles.remove.0'],
    ['another kind', { rights: { add: ['editor'] } }, 'rights'],
  ])('grants with %s are refused with the field, and nothing changes', async (_, part, path) => {
    const { instance, application, grant, ada } = await setUp();
    await given.grant(instance, 'roles', application.id, 'editor');
    const rows = await tables(instance);
    const { status, json } = await grant({ userIds: [ada.userId], ...part });
    expect([status, json.error, json.fields.map((field: { path: string }) => field.path)]).toEqual([
      400,
      'invalid_request',
      [path],
    ]);
    expect(await tables(instance)).toEqual(rows);
  });
});

describe('the list in the order of joining', () => {
  test.each(['', '&status=active', '&q=example'])(
    'lists everybody once, although they are seen while it is read%s',
    async (query) => {
      const { instance, application, manage, ada, bea, cleo } = await setUp();
      const rest = await people(manage, 'dan@example.com', 'eve@example.com');
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const next: string = cursor && `&cursor=${cursor}`;
        const page: Answer = await manage('GET', `/users?sort=joined&limit=2${query}${next}`);
        seen.push(...page.json.data.items.map(({ userId }: Person) => userId));
        cursor = page.json.data.nextCursor;
        instance.clock.advance(60_000);
        await instance.signIn(application.clientId, 'cleo@example.com');
        await instance.signIn(application.clientId, 'eve@example.com');
      }
      const everybody = [ada.userId, bea.userId, cleo.userId, ...rest];
      expect(seen).toHaveLength(5);
      expect([...seen].sort()).toEqual([...everybody].sort());
    },
  );
});

test('one change covers fewer users the more grants each gets, so that other changes wait briefly', async () => {
  const { instance, application, manage, ada, bea, cleo } = await setUp();
  const slugs = Array.from({ length: 60 }, (_, index) => `role-${index}`);
  for (const slug of slugs) await manage('POST', '/roles', { body: { slug } });
  const userIds = [ada.userId, bea.userId, cleo.userId];
  let changes = 0;
  const actor: Author = { ...SYSTEM_ACTOR, confirm: async () => void (changes += 1) };
  const give = async (add: string[]) => {
    changes = 0;
    const { summary } = await batchChanges(instance.db).changeGrants(actor, application, { userIds, roles: { add } });
    expect(summary.changed).toBe(3);
    return changes;
  };
  expect(await give(slugs.slice(0, 10))).toBe(1);
  expect(await give(slugs)).toBe(3);
});
