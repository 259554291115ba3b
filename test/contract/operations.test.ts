/**
 * Every operation of the running app against every kind of caller. Tests walk the declared operations, so a new
 * operation is covered without being listed here.
 */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import type { ErrorCode } from '@/core/error.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { errorCodesOf, statusIn } from '@/modules/description/failures.ts';
import { isList, type Operation, parametersOfList } from '@/http/operation.ts';
import { findApplication } from '@/store/applications.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';

const MALFORMED = '{"broken';
/** Well-formed and unknown. */
const UNKNOWN_ID = '01h455vb4pex5vsknk084sn02q';

const { operations } = (await createInstance()).app;
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const);
const guarded = operations.filter(({ access }) => access !== 'none');

interface World {
  readonly instance: Instance;
  readonly applicationId: string;
  readonly foreignId: string;
  /** Tokens by kind of caller; null is no credential. */
  readonly callers: Readonly<Record<CallerName, string | null>>;
}

type CallerName =
  | 'no credential'
  | 'a malformed credential'
  | 'a malformed key'
  | 'an unknown key'
  | 'an unknown session'
  | 'a revoked key'
  | 'a rotated-away key'
  | 'an expired key'
  | 'a key after its grace'
  | 'a key of a paused principal'
  | 'an ended session'
  | 'an expired session'
  | 'a blocked session'
  | 'a session of an ordinary application'
  | 'a key of another application'
  | 'a key of another workspace'
  | 'a key of another subset'
  | 'a read key of the application'
  | 'a full key of the application'
  | 'a key in its grace'
  | 'a read key of the workspace'
  | 'a full key of the workspace'
  | 'a member in the console'
  | 'an owner in the console';

async function createWorld(): Promise<World> {
  const instance = await createInstance();
  const application = await instance.createApplication({ name: 'Shop' });
  const sibling = await instance.createApplication({ name: 'Sibling' });
  const tenant = await given.tenant(instance);
  const { id, clientId } = application;
  const withGrace = async () => {
    const key = await instance.createKey(id);
    await instance.call('POST', `/api/applications/${id}/api-keys/${key.id}/rotate-with-grace`, {
      token: instance.workspaceKey,
    });
    return key;
  };
  const afterGrace = await withGrace();
  instance.clock.advance(DAY);
  const paused = await instance.createKey(id);
  await instance.services.users.act(SYSTEM_ACTOR, application, paused.userId, 'pause');
  const soon = new Date(instance.clock.now() + 1000).toISOString();
  const [revoked, expired] = [await given.revokedKey(instance, id), await instance.createKey(id, { expiresAt: soon })];
  const rotated = await instance.createKey(id);
  await instance.call('POST', `/api/applications/${id}/api-keys/${rotated.id}/rotate`, {
    token: instance.workspaceKey,
  });
  const ended = await instance.signIn(clientId, 'ended@example.com');
  await instance.call('DELETE', '/api/v1/session', { token: ended.token });
  const blocked = await instance.signIn(clientId, 'blocked@example.com');
  await instance.services.users.act(SYSTEM_ACTOR, application, blocked.userId, 'ban');
  const ordinary = await instance.signIn(clientId, 'ada@example.com');
  const [brief] = await given.sessions(instance, { id, sessionTtlSeconds: 30 }, ordinary.userId, 1);
  const owner = await instance.signIn('console', 'owner@example.com');
  const member = (await given.consoleMember(instance, 'member@example.com', 'member')).token;
  const callers = {
    'no credential': null,
    'a malformed credential': 'nonsense',
    'a malformed key': 'eak_nonsense',
    'an unknown key': mintSecret('apiKey', systemRandom),
    'an unknown session': mintSecret('session', systemRandom),
    'a revoked key': revoked.token,
    'a rotated-away key': rotated.token,
    'an expired key': expired.token,
    'a key after its grace': afterGrace.token,
    'a key of a paused principal': paused.token,
    'an ended session': ended.token,
    'an expired session': brief!.token,
    'a blocked session': blocked.token,
    'a session of an ordinary application': ordinary.token,
    'a key of another application': (await instance.createKey(sibling.id)).token,
    'a key of another workspace': tenant.workspaceKey,
    'a key of another subset': (await given.workspaceKey(instance, { applicationIds: [sibling.id] })).token,
    'a read key of the application': (await instance.createKey(id, { access: 'read' })).token,
    'a full key of the application': (await instance.createKey(id)).token,
    'a key in its grace': (await withGrace()).token,
    'a read key of the workspace': (await given.workspaceKey(instance, { access: 'read' })).token,
    'a full key of the workspace': (await given.workspaceKey(instance)).token,
    'a member in the console': member,
    'an owner in the console': owner.token,
  };
  instance.clock.advance(MINUTE);
  return { instance, applicationId: id, foreignId: tenant.application.id, callers };
}

let callsMade = 0;

/** Makes one call from a new client address, so that no limit per address applies first. */
async function call(
  { instance, callers, applicationId }: World,
  { method, path }: Operation,
  caller: CallerName,
  {
    id = applicationId,
    body = method === 'GET' ? undefined : MALFORMED,
    query = '',
  }: { id?: string; body?: string | undefined; query?: string } = {},
): Promise<Answer> {
  callsMade += 1;
  instance.peer = `10.${callsMade >> 16}.${(callsMade >> 8) & 255}.${callsMade & 255}`;
  const address = path.replace(/:(\w+)/g, (_, name) =>
    name === 'id' ? id : `${name.replace(/Id$/, '')}_${UNKNOWN_ID}`,
  );
  return instance.call(method, `${address}${query}`, { token: callers[caller] ?? undefined, body });
}

const codeOf = ({ json }: Answer): string => json?.errorMessage ?? json?.error;

const UNAUTHENTICATED: Partial<Record<Operation['access'], ErrorCode>> = {
  key: 'invalid_api_key',
  client: 'invalid_client',
  client_full: 'invalid_client',
  token: 'invalid_token',
  holder: 'invalid_token',
};

const STRANGERS = [
  'no credential',
  'a malformed credential',
  'a malformed key',
  'an unknown key',
  'an unknown session',
] as const;
const KEYS = [
  'a key of another application',
  'a key of another workspace',
  'a key of another subset',
  'a read key of the application',
  'a full key of the application',
  'a key in its grace',
  'a read key of the workspace',
  'a full key of the workspace',
] as const;
const DEAD_KEYS: readonly CallerName[] = [
  'a revoked key',
  'a rotated-away key',
  'an expired key',
  'a key after its grace',
  'a key of a paused principal',
];
const DEAD: Partial<Record<CallerName, ErrorCode>> = {
  'an ended session': 'revoked',
  'an expired session': 'expired',
  'a blocked session': 'membership_blocked',
  'a revoked key': 'membership_blocked',
  'a rotated-away key': 'invalid_token',
  'an expired key': 'expired',
  'a key after its grace': 'expired',
  'a key of a paused principal': 'membership_blocked',
};

/** Keys that could extend their own access if they could manage keys. */
const NOT_WHOLE_WORKSPACE: readonly CallerName[] = [
  'a key of another application',
  'a key of another subset',
  'a read key of the application',
  'a full key of the application',
  'a key in its grace',
];

/** Returns the refusal that a caller gets before the body is checked; null if the caller is allowed. */
function expectedRefusal({ access, scope, consoleRole, style }: Operation, caller: CallerName): ErrorCode | null {
  const unauthenticated = UNAUTHENTICATED[access] ?? 'unauthenticated';
  const isManagement = access === 'read' || access === 'full';
  if ((STRANGERS as readonly string[]).includes(caller)) return unauthenticated;
  // OAuth has one code for every refused token (RFC 6750 §3.1).
  if (access === 'token' && style === 'oauth' && caller in DEAD) return unauthenticated;
  if (access === 'holder' && caller in DEAD) return DEAD[caller] ?? null;
  if (DEAD_KEYS.includes(caller)) return unauthenticated;
  const isKey = (KEYS as readonly string[]).includes(caller);
  if (access === 'key' || access === 'client' || access === 'agent') return isKey ? null : unauthenticated;
  if (access === 'holder') return null;
  if (access === 'client_full')
    return !isKey ? unauthenticated : caller.startsWith('a read key') ? 'admin_scope_required' : null;
  if ((access === 'session' || access === 'person') && isKey) return 'forbidden';
  if (!isManagement && isKey) return unauthenticated;
  if (caller === 'a blocked session') return 'membership_blocked';
  if (caller === 'an ended session' || caller === 'an expired session')
    return access === 'token' ? DEAD[caller]! : 'unauthenticated';
  if (!isManagement) return null;
  if (caller === 'a session of an ordinary application') return 'forbidden';
  if (scope === 'application' && caller.startsWith('a key of another')) return 'not_found';
  if (scope === 'workspace' && NOT_WHOLE_WORKSPACE.includes(caller)) return 'forbidden';
  if (consoleRole === 'owner') return caller === 'an owner in the console' ? null : 'forbidden';
  const isReader = caller.startsWith('a read key') || caller === 'a member in the console';
  return access === 'full' && isReader ? 'admin_scope_required' : null;
}

const world = await createWorld();

describe('a forbidden caller', () => {
  const refused = guarded.flatMap((operation) =>
    (Object.keys(world.callers) as CallerName[]).flatMap((caller) => {
      const code = expectedRefusal(operation, caller);
      return code === null ? [] : [[operation.id, caller, code, operation] as const];
    }),
  );

  test.each(refused)(
    '%s: %s is refused as %s before the body is checked, and changes nothing',
    async (_, caller, code, operation) => {
      const before = dumpTables(world.instance);
      const answer = await call(world, operation, caller);
      expect([answer.status, codeOf(answer)]).toEqual([statusIn(operation, code), code]);
      expect(answer.json).not.toHaveProperty('data');
      expect(answer.json).not.toHaveProperty('fields');
      const token = world.callers[caller];
      if (token) expect(answer.text).not.toContain(token);
      expect(answer.headers.get('x-request-id')).toBe(answer.json.requestId);
      expect(dumpTables(world.instance)).toEqual(before);
      // The description must list exactly this refusal.
      expect(errorCodesOf(operation)).toContain(code);
    },
  );

  test('is tested with every guarded operation', () => {
    for (const { id } of guarded)
      expect(refused.filter(([name]) => name === id).length).toBeGreaterThan(STRANGERS.length);
  });
});

describe('a resource out of reach', () => {
  const onApplication = guarded.filter(({ scope }) => scope === 'application');
  const missing = `app_${UNKNOWN_ID}`;

  test.each(named(onApplication))(
    '%s: in a foreign application gets the same 404 as in an unknown one',
    async (_, operation) => {
      const consoleId = world.instance.services.workspaces.consoleId();
      for (const caller of [
        'a full key of the application',
        'a full key of the workspace',
        'an owner in the console',
      ] as const) {
        const none = await call(world, operation, caller, { id: missing });
        expect([none.status, codeOf(none)]).toEqual([404, 'not_found']);
        for (const id of [world.foreignId, consoleId]) {
          const { status, json } = await call(world, operation, caller, { id });
          expect([status, { ...json, requestId: '' }]).toEqual([404, { ...none.json, requestId: '' }]);
        }
      }
    },
  );

  test.each(named(onApplication))('%s: gets 404 with a read key, whether or not it exists', async (_, operation) => {
    for (const id of [world.foreignId, missing]) {
      const { status } = await call(world, operation, 'a read key of the workspace', { id });
      expect(status).toBe(404);
    }
  });
});

describe('an allowed caller', () => {
  const allowed = operations.flatMap((operation) =>
    (Object.keys(world.callers) as CallerName[])
      .filter((caller) => operation.access === 'none' || expectedRefusal(operation, caller) === null)
      .map((caller) => [operation.id, caller, operation] as const),
  );

  test('is never refused for their identity', async () => {
    // A separate world, since some of these calls succeed.
    const own = await createWorld();
    const refused = [];
    for (const [id, caller, operation] of allowed) {
      const answer = await call(own, operation, caller);
      const isRefused = [401, 403, 429].includes(answer.status) || answer.status >= 500;
      // A successful sign-out ends the session for later operations. One can be too old, or lack a scope.
      if (isRefused && !['revoked', 'reauthentication_required', 'insufficient_scope'].includes(codeOf(answer)))
        refused.push([id, caller, answer.status, codeOf(answer)]);
      if (id === 'signOut' || id === 'forgetAccountSession')
        Object.assign(own.callers, await freshSessions(own, caller));
    }
    expect(refused).toEqual([]);
  });

  const insiderOf = ({ access, consoleRole }: Operation): CallerName => {
    const isPersons = ['session', 'person', 'token', 'holder'].includes(access);
    if (isPersons) return 'a session of an ordinary application';
    return consoleRole ? 'an owner in the console' : 'a full key of the workspace';
  };

  const lists = operations.filter(isList);

  test('gets every list in one shape with a cursor', () => {
    expect(lists.length).toBeGreaterThan(20);
    for (const { id, data } of lists)
      expect([id, data!['required']]).toEqual([id, expect.arrayContaining(['items', 'nextCursor'])]);
  });

  test.each(named(lists))('%s: refuses parameters that the list does not know', async (_, operation) => {
    const ask = (query: string) => call(world, operation, insiderOf(operation), { query });
    const { status, json } = await ask('?emial=ada%40example.com&offset=3');
    expect([status, json.error]).toEqual([400, 'invalid_request']);
    expect(json.fields.map(({ path }: { path: string }) => path)).toEqual(['emial', 'offset']);
    for (const name of parametersOfList(operation)) {
      const { fields = [] } = (await ask(`?${name}=`)).json;
      expect(fields).not.toContainEqual({ path: name, message: expect.stringContaining('not known') });
    }
  });

  // Pages answer people and return no codes.
  test.each(named(operations.filter(({ body, style }) => body && style !== 'page')))(
    '%s: refuses a body that is not JSON',
    async (_, operation) => {
      const caller = insiderOf(operation);
      const before = dumpTables(world.instance);
      const broken = await call(world, operation, caller);
      expect([broken.status, codeOf(broken)]).toEqual([400, 'invalid_request']);
      expect(broken.text).not.toContain('broken');
      for (const body of ['[]', 'null', '5', '"text"', '{"gatehouseUnknownField":1}']) {
        const answer = await call(world, operation, caller, { body });
        expect([body, answer.status, codeOf(answer)]).toEqual([body, 400, 'invalid_request']);
      }
      expect(dumpTables(world.instance)).toEqual(before);
    },
  );
});

/** Opens new sessions in place of the one that was just signed out. */
async function freshSessions({ instance, applicationId }: World, caller: CallerName) {
  instance.clock.advance(16 * MINUTE);
  if (caller === 'a session of an ordinary application') {
    const { clientId } = (await findApplication(instance.db.reader, applicationId))!;
    return { [caller]: (await instance.signIn(clientId, 'ada@example.com')).token };
  }
  const email = caller === 'an owner in the console' ? 'owner@example.com' : 'member@example.com';
  return { [caller]: (await instance.signIn('console', email)).token };
}

describe('a normal instance', () => {
  test('has none of the test endpoints', () => {
    expect(operations.filter(({ path }) => path.startsWith('/test'))).toEqual([]);
  });

  test('names every operation once, by id and by method and path', () => {
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });

  test('guards everything below /api except sign-in, setup, devices and public data of an application', () => {
    const open = operations.filter(({ access, path }) => access === 'none' && path.startsWith('/api'));
    const isMeantToBe = (path: string) =>
      path === '/api/setup' ||
      /^\/api\/(?:auth\/google|v1\/auth|v1\/device|v1\/i18n|applications\/:id\/public)\//.test(path);
    expect(open.filter(({ path }) => !isMeantToBe(path)).map(({ id }) => id)).toEqual([]);
  });

  test('limits all guarded operations, and all open ones that write', () => {
    const unlimited = operations.filter(({ limit }) => limit === 'none');
    const loose = unlimited.filter(({ access, method }) => access !== 'none' || method !== 'GET');
    // A device polls at the interval of its own grant.
    expect(loose.map(({ id }) => id)).toEqual(['redeemDeviceCode']);
  });

  test('requires full access for every management change', () => {
    const writes = operations.filter(({ access, method }) => access === 'read' && method !== 'GET');
    expect(writes.map(({ id }) => id)).toEqual([]);
  });

  test('resolves the application of /api/applications/:id first', () => {
    const loose = operations.filter(
      ({ path, scope, access }) =>
        path.startsWith('/api/applications/:id') && access !== 'none' && scope !== 'application',
    );
    expect(loose.map(({ id }) => id)).toEqual([]);
  });
});

const documented = operations.filter(({ isUndocumented }) => !isUndocumented);
const openPath = (path: string) => path.replace(/:(\w+)/g, '{$1}');

describe('/openapi.roles.json', async () => {
  const { status, json } = await world.instance.call('GET', '/openapi.roles.json');
  const manifest = json as {
    version: string;
    operations: {
      operationId: string;
      method: string;
      path: string;
      access: string;
      limit: string;
      consoleRole?: string;
    }[];
  };
  const entryOf = ({ id }: Operation) => manifest.operations.find(({ operationId }) => operationId === id)!;

  test('lists exactly the documented operations, in the shape that agents read', () => {
    expect([status, manifest.version]).toEqual([200, '1.0.0']);
    expect(manifest.operations.map(({ method, path, operationId }) => `${operationId} ${method} ${path}`)).toEqual(
      documented.map(({ id, method, path }) => `${id} ${method} ${openPath(path)}`),
    );
    for (const entry of manifest.operations) {
      expect(Object.keys(entry).filter((name) => name !== 'consoleRole')).toEqual([
        'operationId',
        'method',
        'path',
        'access',
        'limit',
        'readOnly',
        'destructive',
        'confirm',
        'idempotent',
      ]);
      expect(['none', 'session', 'read', 'full']).toContain(entry.access);
    }
  });

  test.each(named(documented))('%s: is accessible exactly as the manifest says', async (_, operation) => {
    const own = operation.id === 'signOut' ? await createWorld() : world;
    const comesIn = async (caller: CallerName) => {
      const answer = await call(own, operation, caller);
      return ![401, 403].includes(answer.status) || codeOf(answer) === 'insufficient_scope';
    };
    const seen = {
      stranger: await comesIn('no credential'),
      reader: await comesIn('a read key of the workspace'),
      writer: await comesIn('a full key of the workspace'),
      person: await comesIn('a session of an ordinary application'),
    };
    // An access level may also need a role that no key has.
    if (entryOf(operation).consoleRole) return expect(Object.values(seen)).toEqual([false, false, false, false]);
    expect(seen).toEqual(
      {
        none: { stranger: true, reader: true, writer: true, person: true },
        session: { stranger: false, reader: false, writer: false, person: true },
        read: { stranger: false, reader: true, writer: true, person: false },
        full: { stranger: false, reader: false, writer: true, person: false },
        // Each access level of the manifest names one credential.
        holder: { stranger: false, reader: true, writer: true, person: true },
      }[operation.access === 'holder' ? 'holder' : entryOf(operation).access]!,
    );
  });
});

test('no open operation leaves a body unread, which the runtime would buffer until the answer', () => {
  const leaving = operations.filter(
    ({ method, access, body, upload }) => method !== 'GET' && access === 'none' && !body && !upload,
  );
  expect(leaving.map(({ id }) => id)).toEqual([]);
});
