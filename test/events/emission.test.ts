/**
 * Every operation that changes a person emits exactly its events, in its own transaction. At the end all events of
 * this file are checked against the catalogue's schemas.
 */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import type { TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { DAY } from '@/core/clock.ts';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '@/core/event.ts';
import { sessionExpiryJob } from '@/jobs/session-expiry.ts';
import { findApplication } from '@/store/applications.ts';
import { EVENT_EMITTED } from '@/store/events.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';
import { CASES } from './cases.ts';
import { anyId, createWorld, instances } from './world.ts';

/** Operations that change no person, so they emit nothing. */
const SILENT = [
  'callMcp',
  'keepAccountSession',
  'forgetAccountSession',
  'sendSignInCode',
  'verifySession',
  'verifyToken',
  'introspectToken',
  'requestProof',
  'confirmProof',
  'requestEmailChange',
  'requestAccountDeletion',
  'linkProviderIdentity',
  'requestPasskeySignIn',
  'requestPasskey',
  'renamePasskey',
  'requestDeviceCode',
  'redeemDeviceCode',
  'approveDevice',
  'denyDevice',
  'renameDevice',
  'revokeDevice',
  'sendLifecycleCode',
  'unarchiveApplication',
  'restoreApplication',
  'createRole',
  'createScope',
  'createMembershipGroup',
  'checkUsernames',
  'inviteUser',
  'authorizeByForm',
  'decideAuthorization',
  'endSessionByForm',
  'postUserInfo',
  'registerClient',
  'setOpenId',
  'removeOpenId',
];

/** These emit, but leave rows of their own or work in the background, so their events are tested with them. */
const CEREMONIES = [
  'verifyPasskeySignIn',
  'addPasskey',
  'confirmEmailChange',
  'undoEmailChange',
  'reactivateMembership',
  'deleteAccount',
  'continueSession',
  'startBulkChange',
  'stopBulkChange',
  'undoBulkChange',
  'exchangeToken',
  'confirmSignOut',
];

/** Tags of operations that do not change an application’s people; events of the console’s people are tested below. */
const OTHER_TAGS = ['Applications', 'Identity provider', 'API keys', 'Beta access', 'Webhooks', 'Workspace', 'Setup'];

describe('an operation', async () => {
  const { operations } = (await createInstance()).app;
  const writes = operations.filter(({ method }) => method !== 'GET');

  test('every writing operation is listed here, with its events or without any', () => {
    const known = new Set([...CASES.map(({ operation }) => operation), ...SILENT, ...CEREMONIES]);
    const ids = writes.filter(({ id, tag }) => known.has(id) || !OTHER_TAGS.includes(tag)).map(({ id }) => id);
    expect([...known].sort()).toEqual(ids.sort());
  });

  test.each(CASES.map((one) => [one.operation, one.what, one] as const))(
    '%s: %s',
    async (_, __, { prepare, act, emits, elsewhere }) => {
      const world = await createWorld();
      const { instance, application, other } = world;
      await prepare?.(world);
      const before = { here: instance.events(application.id).length, there: instance.events(other.id).length };
      const total = countOf(instance);
      const { status, text } = await act(world);
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      const here = instance.events(application.id).slice(before.here);
      const there = instance.events(other.id).slice(before.there);
      expect(here).toEqual(emits(world));
      expect(there).toEqual(elsewhere?.(world) ?? []);
      expect(countOf(instance) - total).toBe(here.length + there.length);
      // Repeated, it changes nothing and emits nothing.
      if (
        !/verifySignInCode|signOut|confirmLifecycle|delete(Role|Scope|Mem)|create(Address|LegalEntity)|putMy|revokeUserSession$/.test(
          _,
        )
      ) {
        await act(world);
        expect(countOf(instance) - total).toBe(here.length + there.length);
      }
    },
  );

  const emitting = CASES.filter((one) => !/somebody new|as it is/.test(one.what));

  test.each(emitting.map((one) => [one.what, one] as const))(
    'a failing operation leaves neither its change nor its events: %s',
    async (_, { prepare, act }) => {
      const world = await createWorld();
      const { instance } = world;
      await prepare?.(world);
      const told: unknown[] = [];
      instance.db.onCommit(EVENT_EMITTED, (events) => void told.push(...events));
      const before = dumpTables(instance);
      // Fails as on a full disk: once at the event, and once at the audit record.
      for (const table of ['events', 'audit_records']) {
        const repair = given.brokenWrites(instance, `INSERT ON ${table}`);
        const { status, json } = await act(world);
        expect([table, status, json.error]).toEqual([table, 500, 'internal']);
        repair();
        expect(dumpTables(instance)).toEqual(before);
      }
      expect(told).toEqual([]);
      const { status } = await act(world);
      expect(status).toBe(200);
      expect(told.length).toBeGreaterThan(0);
    },
  );
});

describe('events of the console’s people', () => {
  test('include the sign-in by setup link and the end of a session, as for any person', async () => {
    const { instance } = await createWorld();
    const consoleId = instance.services.workspaces.consoleId();
    const { json } = await instance.call('POST', '/api/setup', {
      body: { token: await instance.services.setup.createLink(), email: 'owner@example.com' },
    });
    const { userId } = json.data;
    expect(instance.events(consoleId)).toEqual([
      {
        type: 'user.signed_in',
        data: { userId, sessionId: anyId('ses'), method: 'setup', email: 'owner@example.com', isNewUser: true },
      },
    ]);
  });

  test('include a ban for a member removed from the workspace, lifted by a new invitation', async () => {
    const { instance } = await createWorld();
    const consoleId = instance.services.workspaces.consoleId();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const body = { email: 'mia@example.com', role: 'member' };
    const invite = () => instance.call('POST', '/api/workspace/members', { token, body });
    const { id } = (await invite()).json.data;
    const mia = await instance.signIn('console', 'mia@example.com');
    const before = instance.events(consoleId).length;
    const events = () =>
      instance
        .events(consoleId)
        .slice(before)
        .map(({ type }) => type);
    await instance.call('DELETE', `/api/workspace/members/${id}`, { token });
    expect(events()).toEqual(['user.session_revoked', 'user.banned']);
    await invite();
    expect(events()).toEqual(['user.session_revoked', 'user.banned', 'user.unbanned']);
    expect(mia.applicationId).toBe(consoleId);
  });

  test('exclude the synthetic principals of keys, except their revocation', async () => {
    const { instance, application, call } = await createWorld();
    const before = countOf(instance);
    const { id } = await instance.createKey(application.id, { roles: ['editor'] });
    expect(countOf(instance)).toBe(before);
    expect((await call('DELETE', `/api-keys/${id}`)).status).toBe(200);
    expect(instance.events(application.id).at(-1)?.type).toBe('user.banned');
    expect(countOf(instance)).toBe(before + 1);
  });
});

function countOf({ sqlite }: Instance): number {
  return (sqlite.query('SELECT count(*) AS n FROM events').get() as { n: number }).n;
}

const seen = new Set<string>();

afterEach(async () => {
  const problems: unknown[] = [];
  for (const instance of instances.splice(0)) {
    instance.clock.advance(31 * DAY);
    await sessionExpiryJob(instance).runOnce();
    const rows = instance.sqlite.query('SELECT id, type, data, application_id AS applicationId FROM events').all();
    for (const { id, type, data, applicationId } of rows as Record<string, string>[]) {
      seen.add(type!);
      const schema = EVENT_SCHEMAS[type as EventType] as TObject | undefined;
      const value = JSON.parse(data!) as Record<string, unknown>;
      const isExact = schema && Object.keys(value).every((name) => name in schema.properties);
      const isKnown = /^evt_[0-9a-z]{26}$/.test(id!) && (await findApplication(instance.db.reader, applicationId!));
      if (!schema || !isExact || !isKnown || !Value.Check(schema, value)) problems.push({ type, value });
    }
  }
  expect(problems).toEqual([]);
});

afterAll(() => {
  const advice = 'each type is emitted by a case in test/events/cases.ts';
  expect([...seen].sort(), advice).toEqual([...(EVENT_TYPES as string[])].sort());
});
