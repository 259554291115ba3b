import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { newId } from '@/core/id.ts';
import { AUDIT_RECORDED } from '@/store/audit.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import * as given from '../../support/given.ts';
import { lastAudit, type Manage, managing, people, tables, watch } from './management.ts';

const NOBODYS = 'blk_01kat1h5ppe3bv2d9g3wq5r1xm';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  return { ...scene(instance, application), application };
}

function scene(instance: Instance, application: { readonly id: string; readonly clientId: string }) {
  const manage = managing(instance, application);
  const start = (body: object) => manage('POST', '/bulk-changes', { body });
  return {
    instance,
    manage,
    start,
    /** Starts a change and waits for its end. */
    async change(body: object) {
      const { json } = await start(body);
      await instance.services.tasks.runOnce();
      return read(manage, json.data.id);
    },
    async undo(id: string) {
      const { json } = await manage('POST', `/bulk-changes/${id}/undo`);
      await instance.services.tasks.runOnce();
      return read(manage, json.data.id);
    },
    statuses: () => statusesOf(manage),
    signIn: async (name: string) => instance.signIn(application.clientId, `${name}@example.com`),
  };
}

const read = async (manage: Manage, id: string) => (await manage('GET', `/bulk-changes/${id}`)).json.data;

async function statusesOf(manage: Manage): Promise<Record<string, string>> {
  const { json } = await manage('GET', '/users?limit=200&sort=joined');
  return Object.fromEntries(
    json.data.items.map(({ email, status }: { email: string; status: string }) => [email.split('@')[0], status]),
  );
}

const names = (count: number, start = 'p') => Array.from({ length: count }, (_, at) => `${start}${at}@example.com`);

describe('a change of all users that a filter matches', () => {
  test('has the effect, events and records of single calls, and one record of its own', async () => {
    const { instance, application, manage, change, signIn, statuses } = await setUp();
    const [ada, bea] = [await signIn('ada'), await signIn('bea')];
    await signIn('cleo');
    await manage('POST', `/users/${bea.userId}/delete`);
    const before = watch(instance, application);
    const done = await change({ filter: { q: 'EA' }, action: 'ban', reason: 'spam' });
    expect(done).toMatchObject({ status: 'finished', changed: 0, refused: 1, total: 1 });
    const all = await change({ filter: {}, action: 'ban', reason: 'spam' });
    expect(all).toMatchObject({ done: 3, total: 3, changed: 2, unchanged: 0, refused: 1, skipped: 0, reason: 'spam' });
    expect(all.leftOut).toEqual([
      {
        userId: bea.userId,
        email: 'bea@example.com',
        outcome: 'refused',
        message: 'Not possible for a user who is deleted: ban.',
      },
    ]);
    expect(await statuses()).toEqual({ ada: 'banned', bea: 'deleted', cleo: 'banned' });
    expect(before.kinds()).toEqual(['user.bulk_changed', 'user.bulk_changed', 'user.banned', 'user.banned']);
    expect(before.events().map(({ type }) => type)).toEqual([
      ...['user.session_revoked', 'user.banned'],
      ...['user.session_revoked', 'user.banned'],
    ]);
    expect(before.events()).toContainEqual({ type: 'user.banned', data: { userId: ada.userId, reason: 'spam' } });
    const { detail, target_id: target } = lastAudit(instance, 'user.bulk_changed');
    expect([target, JSON.parse(String(detail))]).toEqual([
      all.id,
      {
        bulkChangeId: all.id,
        ...{ action: 'ban', reason: 'spam', filter: {} },
        ...{ changed: 2, unchanged: 0, refused: 1, skipped: 0 },
      },
    ]);
    const verdict = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect([verdict.status, verdict.json.error]).toEqual([403, 'membership_blocked']);
  });

  test('is recorded as what the request did that began it, at its address', async () => {
    const { instance, manage, start, signIn } = await setUp();
    await signIn('ada');
    const begun = await start({ filter: {}, action: 'ban', reason: 'spam' });
    await instance.services.tasks.runOnce();
    const { json } = await manage('GET', '/activity/list?family=user.banned');
    const requestId = begun.headers.get('x-request-id');
    expect(json.data.items).toMatchObject([{ kind: 'user.banned', requestId, ip: instance.peer }]);
  });

  test('combines the filters of the list, imported people among them', async () => {
    const { manage, change, signIn, statuses } = await setUp();
    await manage('POST', '/roles', { body: { slug: 'trial' } });
    const ada = await signIn('ada');
    const [one] = await people(manage, 'one@example.com', 'two@other.org');
    for (const userId of [ada.userId, one])
      await manage('PUT', `/users/${userId}/roles`, { body: { slugs: ['trial'] } });
    const filter = { status: 'imported', role: 'trial', q: 'example.com' };
    const { json } = await manage('GET', '/user-count?status=imported&role=trial&q=example.com');
    expect(json.data).toEqual({ count: 1, nextCursor: null });
    expect((await change({ filter, action: 'pause' })).changed).toBe(1);
    expect(await statuses()).toEqual({ ada: 'active', one: 'paused', two: 'active' });
    const listed = await manage('GET', '/users?status=imported');
    expect(listed.json.data.items.map(({ email }: { email: string }) => email)).toEqual(['two@other.org']);
  });

  test('gives and takes grants, and its undo touches only what it gave and took', async () => {
    const { manage, change, undo } = await setUp();
    for (const slug of ['trial', 'paid']) await manage('POST', '/roles', { body: { slug } });
    const [one, two] = await people(manage, 'one@example.com', 'two@example.com');
    await manage('PUT', `/users/${one}/roles`, { body: { slugs: ['trial', 'paid'] } });
    await manage('PUT', `/users/${two}/roles`, { body: { slugs: ['trial'] } });
    const rolesOf = async () =>
      Promise.all([one, two].map(async (id) => (await manage('GET', `/users/${id}`)).json.data.roles));
    const done = await change({ filter: { role: 'trial' }, roles: { add: ['paid'], remove: ['trial'] } });
    expect([done.changed, await rolesOf()]).toEqual([2, [['paid'], ['paid']]]);
    expect((await undo(done.id)).changed).toBe(2);
    expect(await rolesOf()).toEqual([['paid', 'trial'], ['trial']]);
  });

  test('concerns those whose ids are ahead of the clock, as after very many in one millisecond', async () => {
    const { instance, manage, change, statuses } = await setUp();
    for (let made = 0; made < 10_000; made += 1) newId('request', instance.clock.now());
    await people(manage, 'ada@example.com');
    expect((await change({ filter: {}, action: 'pause' })).changed).toBe(1);
    expect(await statuses()).toEqual({ ada: 'paused' });
  });

  test('concerns those who match at the press: neither later ones nor those whom another changes meanwhile', async () => {
    const { instance, manage, start, statuses } = await setUp();
    await people(manage, ...names(3));
    const [other] = await people(manage, 'other@example.com');
    await instance.services.tasks.stop();
    const { json } = await start({ filter: { status: 'active' }, action: 'ban' });
    instance.clock.advance(MINUTE);
    await people(manage, 'later@example.com');
    await manage('POST', `/users/${other}/pause`);
    await manage('POST', `/users/${other}/resume`);
    const restarted = await instance.restart();
    await restarted.services.tasks.runOnce();
    const done = await read(manage, json.data.id);
    expect(done).toMatchObject({ status: 'finished', changed: 3, skipped: 1, total: 4 });
    expect(done.leftOut).toEqual([{ userId: other, email: 'other@example.com', outcome: 'skipped', message: null }]);
    expect(await statuses()).toEqual({
      ...{ p0: 'banned', p1: 'banned', p2: 'banned' },
      ...{ other: 'active', later: 'active' },
    });
  });

  test('continues after a kill in the middle, and repeats nobody', async () => {
    const { instance, application, manage, start } = await setUp();
    await people(manage, ...names(130));
    const { json } = await start({ filter: { q: 'p' }, action: 'ban' });
    const stopped = new Promise<void>((resolve) => {
      instance.db.onCommit(AUDIT_RECORDED, (records) => {
        if (records.some(({ kind }) => kind === 'user.banned')) resolve(instance.services.tasks.stop());
      });
    });
    await instance.services.tasks.runOnce();
    await stopped;
    const { done } = await read(manage, json.data.id);
    expect([done > 0, done < 130]).toEqual([true, true]);
    const restarted = await instance.restart();
    await restarted.services.scheduler.runAll();
    expect(await read(manage, json.data.id)).toMatchObject({ status: 'finished', changed: 130, unchanged: 0 });
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'user.banned')).toHaveLength(130);
  });

  test('can be stopped: people changed so far stay so, and can be undone', async () => {
    const { instance, manage, start } = await setUp();
    await people(manage, ...names(5));
    await instance.services.tasks.stop();
    const { json } = await start({ filter: {}, action: 'pause' });
    const stopped = await manage('POST', `/bulk-changes/${json.data.id}/stop`);
    expect([stopped.status, stopped.json.data.status]).toEqual([200, 'running']);
    const restarted = await instance.restart();
    await restarted.services.tasks.runOnce();
    expect(await read(manage, json.data.id)).toMatchObject({ status: 'stopped', changed: 0, isUndoable: false });
    const again = await manage('POST', `/bulk-changes/${json.data.id}/stop`);
    expect([again.status, again.json.message]).toEqual([409, 'This change has already ended.']);
  });

  test('runs alone in its application', async () => {
    const { instance, manage, start } = await setUp();
    await people(manage, ...names(2));
    await instance.services.tasks.stop();
    const both = await Promise.all([1, 2].map(() => start({ filter: {}, action: 'ban' })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const other = scene(instance, await instance.createApplication({ name: 'Other' }));
    expect((await other.start({ filter: {}, action: 'ban' })).status).toBe(200);
  });

  test.each([
    ['no filter', { action: 'ban' }, 'filter'],
    ['an unknown criterion', { filter: { mail: 'x' }, action: 'ban' }, 'filter.mail'],
    ['another status', { filter: { status: 'lost' }, action: 'ban' }, 'filter.status'],
    ['neither action nor grants', { filter: {} }, 'action'],
    ['both', { filter: {}, action: 'ban', roles: { add: ['trial'] } }, 'action'],
    ['a reason without an action', { filter: {}, roles: { add: ['trial'] }, reason: 'x' }, 'reason'],
    ['an unknown role', { filter: {}, roles: { add: ['nowhere'] } }, 'roles.add.0'],
    ['a role given and taken', { filter: {}, roles: { add: ['trial'], remove: ['trial'] } }, 'roles.remove.0'],
  ])('with %s is refused and changes nothing', async (_, body, path) => {
    const { instance, manage, start } = await setUp();
    await manage('POST', '/roles', { body: { slug: 'trial' } });
    await people(manage, ...names(2));
    const rows = await tables(instance);
    const { status, json } = await start(body);
    expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });
});

describe('an undo', () => {
  test.each([
    ['ban', 'banned'],
    ['pause', 'paused'],
    ['delete', 'deleted'],
  ])('of %s restores everybody whom it changed, and nobody else', async (action, status) => {
    const { manage, change, undo, statuses } = await setUp();
    const [, already] = await people(manage, 'one@example.com', 'already@example.com', 'two@example.com');
    await manage('POST', `/users/${already}/${action}`);
    const done = await change({ filter: {}, action });
    expect(done).toMatchObject({ changed: 2, unchanged: 1, isUndoable: true });
    const undone = await undo(done.id);
    expect(undone).toMatchObject({ changed: 2, total: 2, undoOf: done.id, filter: null, isUndoable: false });
    expect(await statuses()).toEqual({ one: 'active', already: status, two: 'active' });
    expect(await read(manage, done.id)).toMatchObject({ undoneBy: undone.id, isUndoable: false });
    expect((await manage('POST', `/bulk-changes/${done.id}/undo`)).status).toBe(409);
  });

  test('of a ban lets nobody in who was paused before', async () => {
    const { manage, change, undo, statuses } = await setUp();
    const [paused] = await people(manage, 'paused@example.com', 'one@example.com');
    await manage('POST', `/users/${paused}/pause`);
    const { id } = await change({ filter: {}, action: 'ban' });
    await undo(id);
    expect(await statuses()).toEqual({ paused: 'paused', one: 'active' });
  });

  test('outlives the forgetting of an import', async () => {
    const { manage, change, undo } = await setUp();
    const [one] = await people(manage, 'one@example.com', 'two@example.com');
    const { id } = await change({ filter: {}, action: 'ban' });
    expect((await manage('DELETE', `/users/${one}`)).status).toBe(200);
    expect(await undo(id)).toMatchObject({ changed: 1 });
  });
});

describe('the operations of bulk changes', () => {
  const ROUTES: [method: string, path: string, body: object | undefined][] = [
    ['GET', '/user-count', undefined],
    ['POST', '/bulk-changes', { filter: {}, action: 'ban' }],
    ['GET', '/bulk-changes', undefined],
    ['GET', '/bulk-changes/ID', undefined],
    ['POST', '/bulk-changes/ID/stop', undefined],
    ['POST', '/bulk-changes/ID/undo', undefined],
  ];

  test.each(ROUTES)('%s %s needs full access to this application', async (method, path, body) => {
    const { instance, application, manage, change } = await setUp();
    await people(manage, ...names(2));
    const { id } = await change({ filter: {}, action: 'ban' });
    const other = await instance.createApplication({ name: 'Other' });
    const tenant = await given.tenant(instance);
    const elsewhere = await instance.createKey(other.id);
    const reader = await instance.createKey(application.id, { access: 'read' });
    const rows = await tables(instance);
    const call = async (token: string | undefined, changeId = id, on = manage) =>
      (await on(method, path.replace('ID', changeId), { token: token ?? 'eak_none', body })).status;
    expect([
      await call(undefined),
      await call(reader.token),
      await call(elsewhere.token),
      await call(tenant.workspaceKey),
    ]).toEqual([401, 403, 404, 404]);
    if (path.includes('ID')) {
      expect(await call(instance.workspaceKey, NOBODYS)).toBe(404);
      expect(await call(instance.workspaceKey, id, managing(instance, other))).toBe(404);
    }
    expect(await tables(instance)).toEqual(rows);
  });

  test('list the newest first, page by page', async () => {
    const { manage, change } = await setUp();
    await people(manage, ...names(1));
    const ids: string[] = [];
    for (const action of ['ban', 'unban', 'pause']) ids.unshift((await change({ filter: {}, action })).id);
    const first = (await manage('GET', '/bulk-changes?limit=2')).json.data;
    const second = (await manage('GET', `/bulk-changes?limit=2&cursor=${first.nextCursor}`)).json.data;
    expect([...first.items, ...second.items].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect([second.nextCursor, (await manage('GET', '/bulk-changes?cursor=nonsense')).json.error]).toEqual([
      null,
      'invalid_cursor',
    ]);
  });

  test('keep what an undo needs for 30 days', async () => {
    const { instance, manage, change } = await setUp();
    await people(manage, ...names(2));
    const { id } = await change({ filter: {}, action: 'ban' });
    instance.clock.advance(29 * 24 * 60 * MINUTE);
    await instance.services.scheduler.runAll();
    expect((await manage('GET', `/bulk-changes/${id}`)).json.data.changed).toBe(2);
    instance.clock.advance(3 * 24 * 60 * MINUTE);
    await instance.services.scheduler.runAll();
    expect((await manage('GET', `/bulk-changes/${id}`)).status).toBe(404);
  });
});
