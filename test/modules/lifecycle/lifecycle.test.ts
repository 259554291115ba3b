import { describe, expect, test } from 'bun:test';
import { DAY, isoTime } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { type Instance, START } from '../../support/instance.ts';
import { lastAudit, tables, watch } from '../users/management.ts';
import { OWNER, setUp, type SetUp, verify } from './scene.ts';

/** Puts an application into each state. */
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
const UNCHANGED = 'as it was';

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

/** The effect of each request in each state. Null means that it is refused. */
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
    delete: { ...DELETING, archivedAt: UNCHANGED },
    'delete without grace': { ...HIDDEN, archivedAt: UNCHANGED },
    hide_now: null,
    'hide_now without grace': { ...HIDDEN, archivedAt: UNCHANGED },
  },
  deleting: {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: { ...HIDDEN, deletedAt: UNCHANGED },
    'hide_now without grace': { ...HIDDEN, deletedAt: UNCHANGED },
  },
  'archived and deleting': {
    archive: null,
    delete: null,
    'delete without grace': null,
    hide_now: { ...HIDDEN, archivedAt: UNCHANGED, deletedAt: UNCHANGED },
    'hide_now without grace': { ...HIDDEN, archivedAt: UNCHANGED, deletedAt: UNCHANGED },
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
    // The mails must be sent before the clock jumps past them.
    await world.instance.services.mail.runOnce();
    clock.advance(NOW - clock.now());
    return world;
  }

  if (outcome === null)
    test(`refuses ${name}: no code is sent and nothing changes`, async () => {
      const { instance, send } = await inState();
      const rows = await tables(instance);
      const answer = await send(body);
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
      expect(await tables(instance)).toEqual(rows);
    });
  else
    test(`changes with the confirmation of ${name}, not with the request`, async () => {
      const { instance, application, times, ask, confirm, manage } = await inState();
      const was = await times();
      const before = watch(instance, application);
      const { challengeId, code } = await ask(body);
      expect(await times()).toEqual(was);
      const answer = await confirm(challengeId, code);
      const { audit, ...expected } = outcome;
      const kept = (field: keyof typeof was) => (expected[field] === UNCHANGED ? was[field] : expected[field]);
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

describe('reverting a lifecycle change', () => {
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

  test.each(cases)(
    '$action of an application that is $state has its defined outcome',
    async ({ action, state, audit }) => {
      const world = await setUp();
      const { instance, application, manage } = world;
      await STATES[state]!(world);
      const rows = await tables(instance);
      const before = watch(instance, application);
      const answer = await manage('POST', `/${action}`);
      if (audit === null) {
        expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
        expect(await tables(instance)).toEqual(rows);
        return;
      }
      expect([answer.status, answer.json.data]).toEqual([
        200,
        expect.objectContaining({ archivedAt: null, deletedAt: null, purgeAfter: null }),
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
    },
  );

  test('accepts no body, an empty one and {}, but no unknown field', async () => {
    for (const body of [undefined, '', '{}']) {
      const { change, manage } = await setUp();
      await change({ kind: 'archive' });
      expect((await manage('POST', '/unarchive', { body })).status).toBe(200);
    }
    const { change, manage } = await setUp();
    await change({ kind: 'delete' });
    expect((await manage('POST', '/restore', { body: { force: true } })).status).toBe(400);
  });

  test('is allowed with the application’s own full key', async () => {
    const { instance, application, change, manage } = await setUp();
    const { token } = await instance.createKey(application.id);
    await change({ kind: 'delete' });
    expect((await manage('POST', '/restore', { token })).status).toBe(200);
  });
});

describe('the list of applications', () => {
  const listed = async (instance: Instance, query = '') =>
    (await instance.call('GET', `/api/applications${query}`, { token: instance.workspaceKey })).json.data.items.map(
      ({ id }: { id: string }) => id,
    );

  test('contains archived and deleted applications, and hidden ones on request', async () => {
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

  test('hides a deleted application after exactly ninety days', async () => {
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

  test('computes isHidden from the clock of the server', async () => {
    const { instance, change, manage } = await setUp();
    const isHidden = async () => (await manage('GET', '')).json.data.isHidden;
    expect(await isHidden()).toBe(false);
    expect((await change({ kind: 'delete' })).json.data.isHidden).toBe(false);
    instance.clock.advance(90 * DAY - 1);
    expect(await isHidden()).toBe(false);
    instance.clock.advance(1);
    expect(await isHidden()).toBe(true);
    const list = await instance.call('GET', '/api/applications?include=hidden', { token: instance.workspaceKey });
    expect(list.json.data.items.map((item: { isHidden: boolean }) => item.isHidden)).toEqual([true]);
    expect((await manage('POST', '/restore')).json.data.isHidden).toBe(false);
  });

  test('refuses any other value of include', async () => {
    const { instance } = await setUp();
    const answer = await instance.call('GET', '/api/applications?include=all', { token: instance.workspaceKey });
    expect([answer.status, answer.json.fields[0].path]).toEqual([400, 'include']);
  });
});

describe('the audit record of a lifecycle change', () => {
  test('names the person who confirmed it and the request', async () => {
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
    'is written with the change or not at all: when %s fails, nothing happens and the code stays valid',
    async (table) => {
      const { instance, application, ask, confirm, times } = await setUp();
      const { token } = await instance.signIn(application.clientId, 'ada@example.com');
      const { challengeId, code } = await ask({ kind: 'archive' });
      const repair = given.brokenWrites(instance, `INSERT ON ${table}`);
      const rows = await tables(instance);
      const failed = await confirm(challengeId, code);
      expect([failed.status, failed.json.error]).toEqual([500, 'internal']);
      expect(await tables(instance)).toEqual(rows);
      expect((await verify(instance, token)).status).toBe(200);
      repair();
      expect((await confirm(challengeId, code)).status).toBe(200);
      expect((await times()).archivedAt).toBe(isoTime(START));
    },
  );
});
