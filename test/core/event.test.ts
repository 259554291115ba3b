/**
 * Events: the catalogue, and that every operation which changes a person emits exactly what it should, in its own
 * transaction. Whatever the instances of this file emit is held to the catalogue's schemas at the end.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import type { TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { DAY, MINUTE } from '@/core/clock.ts';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '@/core/event.ts';
import { sessionExpiryJob } from '@/jobs/session-expiry.ts';
import { type Application, findApplication } from '@/store/applications.ts';
import { EVENT_EMITTED } from '@/store/events.ts';
import type { MembershipStatus } from '@/store/members.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';

const CONTRACT = {
  Session: ['user.signed_in', 'user.signed_out', 'user.session_revoked', 'user.session_expired'],
  'Admin lifecycle': ['user.banned', 'user.unbanned', 'user.paused', 'user.resumed', 'user.deleted', 'user.restored'],
  'Self lifecycle': ['user.inactivated', 'user.reactivated', 'user.left'],
  'Role / scope / membership': [
    'user.role_added',
    'user.role_removed',
    'user.scope_added',
    'user.scope_removed',
    'user.membership_changed',
  ],
  Profile: [
    'user.profile_updated',
    'user.username_changed',
    'user.avatar_changed',
    'user.banner_changed',
    'user.identity_changed',
  ],
};

describe('the catalogue', () => {
  test('has exactly the 23 types of the contract', () => {
    const types = Object.values(CONTRACT).flat();
    expect(types).toHaveLength(23);
    expect([...(EVENT_TYPES as string[])].sort()).toEqual([...types].sort());
    expect(Object.keys(EVENT_SCHEMAS)).toEqual(EVENT_TYPES);
  });

  test('names the person in every payload, and the fields that the contract and the decisions name', () => {
    const fields = (type: EventType) => {
      const { properties, required = [] } = EVENT_SCHEMAS[type] as TObject;
      return Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
    };
    const byAdmin = ['userId', 'reason?'];
    const image = ['userId', 'url', 'sizes', 'updatedAt'];
    expect(Object.fromEntries(EVENT_TYPES.map((type) => [type, fields(type)]))).toEqual({
      'user.signed_in': ['userId', 'sessionId', 'method'],
      'user.signed_out': ['userId', 'sessionId'],
      'user.session_revoked': ['userId', 'sessionId', 'reason'],
      'user.session_expired': ['userId', 'sessionId'],
      'user.banned': byAdmin,
      'user.unbanned': byAdmin,
      'user.paused': byAdmin,
      'user.resumed': byAdmin,
      'user.deleted': byAdmin,
      'user.restored': byAdmin,
      'user.inactivated': ['userId'],
      'user.reactivated': ['userId'],
      'user.left': ['userId'],
      'user.role_added': ['userId', 'roles', 'current'],
      'user.role_removed': ['userId', 'roles', 'current'],
      'user.scope_added': ['userId', 'scopes', 'current'],
      'user.scope_removed': ['userId', 'scopes', 'current'],
      'user.membership_changed': ['userId', 'memberships', 'added', 'removed'],
      'user.profile_updated': ['userId', 'name', 'categories', 'changed?'],
      'user.username_changed': ['userId', 'username', 'previousUsername'],
      'user.avatar_changed': image,
      'user.banner_changed': image,
      'user.identity_changed': ['userId', 'changed'],
    });
  });
});

interface World {
  readonly instance: Instance;
  readonly application: Application;
  readonly other: Application;
  /** Signed in to both applications; has the role `user`. */
  readonly ada: { readonly userId: string; readonly token: string; readonly sessionId: string };
  readonly bea: { readonly userId: string; readonly sessionId: string };
  readonly ids: Readonly<Record<'role' | 'scope' | 'membership', string>>;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

const instances: Instance[] = [];

async function createWorld(): Promise<World> {
  const instance = await createInstance();
  instances.push(instance);
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const { clientId, id } = application;
  const signIn = async (client: string, email: string) => {
    const { userId, token } = await instance.signIn(client, email);
    const row = instance.sqlite.query('SELECT id FROM sessions ORDER BY rowid DESC LIMIT 1').get();
    return { userId, token, sessionId: (row as { id: string }).id };
  };
  const [ada, bea] = [await signIn(clientId, 'ada@example.com'), await signIn(clientId, 'bea@example.com')];
  await signIn(other.clientId, 'ada@example.com');
  instance.clock.advance(MINUTE);
  const ids = {
    role: await given.grant(instance, 'roles', id, 'editor'),
    scope: await given.grant(instance, 'scopes', id, 'export'),
    membership: await given.grant(instance, 'memberships', id, 'berlin'),
  };
  const call = (method: string, path: string, body?: unknown) =>
    instance.call(method, `/api/applications/${id}${path}`, { token: instance.workspaceKey, body });
  return { instance, application, other, ada, bea, ids, call };
}

type Emitted = { type: EventType; data: object };
const event = (type: EventType, data: object): Emitted => ({ type, data });
const anyId = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}$`));

interface Case {
  readonly what: string;
  /** Ids of the operation it goes through. */
  readonly operation: string;
  readonly prepare?: (world: World) => unknown;
  readonly act: (world: World) => Promise<Answer>;
  /** What the application is told, in order. */
  readonly emits: (world: World) => Emitted[];
  /** What the person’s other application is told. */
  readonly elsewhere?: (world: World) => Emitted[];
}

const setStatus =
  (status: MembershipStatus) =>
  ({ instance, application, ada }: World) =>
    given.member(instance, application.id, ada.userId, { status });

/** An action on a user, from a state, with and without a reason. */
function action(name: string, type: EventType, from: MembershipStatus, ends: string | null): Case[] {
  const act =
    (body?: object) =>
    ({ call, ada }: World) =>
      call('POST', `/users/${ada.userId}/${name}`, body);
  const revoked = ({ userId, sessionId }: World['ada']) =>
    ends === null ? [] : [event('user.session_revoked', { userId, sessionId, reason: ends })];
  return [
    {
      what: `${name}, with a reason`,
      operation: `${name}User`,
      prepare: setStatus(from),
      act: act({ reason: 'Überfällig' }),
      emits: ({ ada }) => [...revoked(ada), event(type, { userId: ada.userId, reason: 'Überfällig' })],
    },
    {
      what: `${name}, without a reason`,
      operation: `${name}User`,
      prepare: setStatus(from),
      act: act(),
      emits: ({ ada }) => [...revoked(ada), event(type, { userId: ada.userId })],
    },
  ];
}

const put =
  (kind: string, ...slugs: string[]) =>
  ({ call, ada }: World) =>
    call('PUT', `/users/${ada.userId}/${kind}`, { slugs });

const holding =
  (kind: 'roles' | 'scopes' | 'memberships', slug: string) =>
  async ({ instance, application, ada, bea }: World) => {
    await given.holder(instance, kind, application.id, ada.userId, slug);
    await given.holder(instance, kind, application.id, bea.userId, slug);
  };

const bulk =
  (row: object) =>
  ({ call }: World) =>
    call('POST', '/users/bulk', { users: [{ email: 'ada@example.com', ...row }] });

let challengeId = '';
/** Of a passkey or an identity at a provider. */
let wayInId: string | undefined;
const sendCode =
  (kind: string, skipGrace = false) =>
  async ({ call }: World) => {
    challengeId = (await call('POST', '/lifecycle/send', { kind, skipGrace })).json.data.challengeId;
  };

function lifecycle(kind: string, reason: string, skipGrace = false): Case {
  return {
    what: `${kind}${skipGrace ? ' without grace' : ''} of the application ends every session`,
    operation: 'confirmLifecycle',
    prepare: sendCode(kind, skipGrace),
    act: ({ call, instance }) =>
      call('POST', '/lifecycle/confirm', { challengeId, code: instance.codeFor('owner@example.com') }),
    emits: ({ ada, bea }) =>
      [ada, bea].map(({ userId, sessionId }) => event('user.session_revoked', { userId, sessionId, reason })),
  };
}

const sendOtp =
  (email: string) =>
  async ({ instance, application }: World) => {
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email, clientId: application.clientId },
    });
    challengeId = sent.json.data.challengeId;
  };

const verifyOtp =
  (email: string) =>
  ({ instance }: World) =>
    instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code: instance.codeFor(email) } });

const signedIn = (userId: unknown = anyId('usr')) =>
  event('user.signed_in', { userId, sessionId: anyId('ses'), method: 'otp' });

const ADDRESS = { kind: 'billing', recipient: 'Ada', line1: '1 Square', city: 'London', country: 'GB' };
const ENTITY = { legalName: 'Engines Ltd', country: 'GB' };

const account =
  (method: string, path: string, body?: unknown) =>
  ({ instance, ada }: World) =>
    instance.call(method, `/api/account/${path}`, { token: ada.token, body });

/** Ids of what a case has made beforehand. */
let madeId = '';
const made = (path: string, body: object) => async (world: World) => {
  madeId = (await account('POST', path, body)(world)).json.data.id;
};

/** A change of the profile, of which every application of the person is told. */
function profile(
  operation: string,
  category: string,
  act: Case['act'],
  { name = null, changed, prepare }: { name?: string | null; changed?: string[]; prepare?: Case['prepare'] } = {},
): Case {
  const updated = ({ ada: { userId } }: World) => [
    event('user.profile_updated', { userId, name, categories: [category], ...(changed && { changed }) }),
  ];
  return {
    what: 'told to every application of the person',
    operation,
    act,
    emits: updated,
    elsewhere: updated,
    prepare,
  };
}

/** Adding, changing and deleting one of what a profile has several of. */
function collection(noun: string, category: string, path: string, entry: object, patch: object): Case[] {
  const prepare = made(path, entry);
  return [
    profile(`create${noun}`, category, account('POST', path, entry)),
    profile(`update${noun}`, category, (world) => account('PATCH', path, { id: madeId, ...patch })(world), { prepare }),
    profile(`delete${noun}`, category, (world) => account('DELETE', path, { id: madeId })(world), { prepare }),
  ];
}

const SPOKEN = { code: 'fr', level: 'BASIC' };
const speaking = { prepare: account('POST', 'profile/languages', SPOKEN) };

/** One pixel, as GIF. */
const PICTURE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const upload =
  (kind: string) =>
  async ({ instance, ada }: World): Promise<Answer> => {
    const response = await instance.app.fetch(
      new Request(`http://localhost/api/account/self/images/${kind}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'image/gif' },
        body: PICTURE,
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };

/** A picture put and removed; its address is another in each application. */
function picture(kind: 'avatar' | 'banner', operationName: string, sizes: number[]): Case[] {
  const type = `user.${kind}_changed` as const;
  const put = (slugOf: (world: World) => string) => (world: World) => {
    const now = world.instance.clock.now();
    const { userId } = world.ada;
    const url = `http://localhost:8080/cdn/${slugOf(world)}/users/${userId}/${kind}-${sizes[1]}.webp?v=${now}`;
    return [event(type, { userId, url, sizes, updatedAt: new Date(now).toISOString() })];
  };
  const removed = ({ ada: { userId } }: World) => [event(type, { userId, url: null, sizes: null, updatedAt: null })];
  return [
    {
      what: `a new ${kind}, told to every application of the person with the address it has there`,
      operation: `putMy${operationName}`,
      act: upload(kind),
      emits: put(({ application }) => application.slug),
      elsewhere: put(({ other }) => other.slug),
    },
    {
      what: `a ${kind} removed`,
      operation: `deleteMy${operationName}`,
      prepare: upload(kind),
      act: account('DELETE', `self/images/${kind}`),
      emits: removed,
      elsewhere: removed,
    },
  ];
}

const PROFILE_CASES: Case[] = [
  ...picture('avatar', 'Avatar', [128, 256, 1200]),
  ...picture('banner', 'Banner', [768, 1500, 2400]),
  profile('updateIdentity', 'identity', account('PATCH', 'profile/identity', { givenName: 'Ada', locale: null }), {
    name: 'Ada',
    changed: ['givenName'],
  }),
  ...collection('Address', 'addresses', 'profile/addresses', ADDRESS, { city: 'Paris' }),
  ...collection('LegalEntity', 'legal_entities', 'profile/entities', ENTITY, { taxId: '1' }),
  profile('createLanguage', 'languages', account('POST', 'profile/languages', SPOKEN)),
  profile(
    'updateLanguage',
    'languages',
    account('PATCH', 'profile/languages', { code: 'fr', level: 'FLUENT' }),
    speaking,
  ),
  profile('deleteLanguage', 'languages', account('DELETE', 'profile/languages?code=fr'), speaking),
  profile('replaceRegion', 'region', account('PUT', 'profile/region', { country: 'GB' })),
  profile('updateRegion', 'region', account('PATCH', 'profile/region', { currency: 'GBP' })),
  profile('deleteRegion', 'region', account('DELETE', 'profile/region'), {
    prepare: account('PUT', 'profile/region', { country: 'GB' }),
  }),
  {
    what: 'told to the application alone',
    operation: 'changeUsername',
    act: account('PATCH', 'username', { username: 'Ada' }),
    emits: ({ ada: { userId } }) => [
      event('user.username_changed', { userId, username: 'ada', previousUsername: null }),
    ],
  },
];

const CASES: Case[] = [
  {
    what: 'the first sign-in, which joins: that and nothing of the default grants',
    operation: 'verifySignInCode',
    prepare: sendOtp('new@example.com'),
    act: verifyOtp('new@example.com'),
    emits: () => [signedIn()],
  },
  {
    what: 'a further sign-in',
    operation: 'verifySignInCode',
    prepare: sendOtp('ada@example.com'),
    act: verifyOtp('ada@example.com'),
    emits: ({ ada }) => [signedIn(ada.userId)],
  },
  ...(['inactivated', 'left'] as const).map((status): Case => ({
    what: `the sign-in of somebody who had ${status}`,
    operation: 'verifySignInCode',
    prepare: async (world) => {
      await setStatus(status)(world);
      await sendOtp('ada@example.com')(world);
    },
    act: verifyOtp('ada@example.com'),
    emits: ({ ada }) => [event('user.reactivated', { userId: ada.userId }), signedIn(ada.userId)],
  })),
  {
    what: 'a sign-out',
    operation: 'signOut',
    act: ({ instance, ada }) => instance.call('DELETE', '/api/v1/session', { token: ada.token }),
    emits: ({ ada: { userId, sessionId } }) => [event('user.signed_out', { userId, sessionId })],
  },
  {
    what: 'an admin’s end of one session',
    operation: 'revokeUserSession',
    act: ({ call, ada }) => call('DELETE', `/users/${ada.userId}/sessions/${ada.sessionId}`),
    emits: ({ ada: { userId, sessionId } }) => [
      event('user.session_revoked', { userId, sessionId, reason: 'revoked_by_admin' }),
    ],
  },
  {
    what: 'an admin’s end of all sessions of a person: one for each',
    operation: 'revokeUserSessions',
    prepare: ({ instance, application }) => instance.signIn(application.clientId, 'ada@example.com'),
    act: ({ call, ada }) => call('DELETE', `/users/${ada.userId}/sessions`),
    emits: ({ ada: { userId, sessionId } }) => [
      event('user.session_revoked', { userId, sessionId, reason: 'revoked_by_admin' }),
      event('user.session_revoked', { userId, sessionId: anyId('ses'), reason: 'revoked_by_admin' }),
    ],
  },
  ...action('ban', 'user.banned', 'active', 'banned'),
  ...action('unban', 'user.unbanned', 'banned', null),
  ...action('pause', 'user.paused', 'active', 'paused'),
  ...action('resume', 'user.resumed', 'paused', null),
  ...action('delete', 'user.deleted', 'active', 'deleted'),
  ...action('restore', 'user.restored', 'deleted', null),
  {
    what: 'roles added and removed in one go',
    operation: 'setUserRoles',
    act: put('roles', 'editor'),
    emits: ({ ada: { userId } }) => [
      event('user.role_added', { userId, roles: ['editor'], current: ['editor'] }),
      event('user.role_removed', { userId, roles: ['user'], current: ['editor'] }),
    ],
  },
  {
    what: 'a scope added',
    operation: 'setUserScopes',
    act: put('scopes', 'export'),
    emits: ({ ada: { userId } }) => [event('user.scope_added', { userId, scopes: ['export'], current: ['export'] })],
  },
  {
    what: 'a scope removed',
    operation: 'setUserScopes',
    prepare: holding('scopes', 'export'),
    act: put('scopes'),
    emits: ({ ada: { userId } }) => [event('user.scope_removed', { userId, scopes: ['export'], current: [] })],
  },
  {
    what: 'groups changed',
    operation: 'setUserMemberships',
    prepare: holding('memberships', 'paris'),
    act: put('memberships', 'berlin'),
    emits: ({ ada: { userId } }) => [
      event('user.membership_changed', { userId, memberships: ['berlin'], added: ['berlin'], removed: ['paris'] }),
    ],
  },
  {
    what: 'a role deleted with force: for each who held it',
    operation: 'deleteRole',
    prepare: holding('roles', 'editor'),
    act: ({ call, ids }) => call('DELETE', `/roles/${ids.role}?force=true`),
    emits: ({ ada, bea }) =>
      [ada, bea].map(({ userId }) => event('user.role_removed', { userId, roles: ['editor'], current: ['user'] })),
  },
  {
    what: 'a scope deleted with force',
    operation: 'deleteScope',
    prepare: holding('scopes', 'export'),
    act: ({ call, ids }) => call('DELETE', `/scopes/${ids.scope}?force=true`),
    emits: ({ ada, bea }) =>
      [ada, bea].map(({ userId }) => event('user.scope_removed', { userId, scopes: ['export'], current: [] })),
  },
  {
    what: 'a group deleted with force',
    operation: 'deleteMembershipGroup',
    prepare: holding('memberships', 'berlin'),
    act: ({ call, ids }) => call('DELETE', `/memberships/${ids.membership}?force=true`),
    emits: ({ ada, bea }) =>
      [ada, bea].map(({ userId }) =>
        event('user.membership_changed', { userId, memberships: [], added: [], removed: ['berlin'] }),
      ),
  },
  {
    what: 'a role that goes by another slug: for each who holds it',
    operation: 'updateRole',
    prepare: holding('roles', 'editor'),
    act: ({ call, ids }) => call('PATCH', `/roles/${ids.role}?force=true`, { slug: 'author' }),
    emits: ({ ada, bea }) =>
      [ada, bea].flatMap(({ userId }) => [
        event('user.role_added', { userId, roles: ['author'], current: ['author', 'user'] }),
        event('user.role_removed', { userId, roles: ['editor'], current: ['author', 'user'] }),
      ]),
  },
  {
    what: 'a scope that goes by another slug',
    operation: 'updateScope',
    prepare: holding('scopes', 'export'),
    act: ({ call, ids }) => call('PATCH', `/scopes/${ids.scope}?force=true`, { slug: 'dump' }),
    emits: ({ ada, bea }) =>
      [ada, bea].flatMap(({ userId }) => [
        event('user.scope_added', { userId, scopes: ['dump'], current: ['dump'] }),
        event('user.scope_removed', { userId, scopes: ['export'], current: ['dump'] }),
      ]),
  },
  {
    what: 'a group that goes by another slug',
    operation: 'updateMembershipGroup',
    prepare: holding('memberships', 'berlin'),
    act: ({ call, ids }) => call('PATCH', `/memberships/${ids.membership}?force=true`, { slug: 'paris' }),
    emits: ({ ada, bea }) =>
      [ada, bea].map(({ userId }) =>
        event('user.membership_changed', { userId, memberships: ['paris'], added: ['paris'], removed: ['berlin'] }),
      ),
  },
  {
    what: 'an import that adds grants and a username',
    operation: 'importUsers',
    act: bulk({
      roleSlugs: ['editor', 'user'],
      scopeSlugs: ['export'],
      membershipSlugs: ['berlin'],
      profile: { username: 'Ada' },
    }),
    emits: ({ ada: { userId } }) => [
      event('user.username_changed', { userId, username: 'ada', previousUsername: null }),
      event('user.role_added', { userId, roles: ['editor'], current: ['editor', 'user'] }),
      event('user.scope_added', { userId, scopes: ['export'], current: ['export'] }),
      event('user.membership_changed', { userId, memberships: ['berlin'], added: ['berlin'], removed: [] }),
    ],
  },
  {
    what: 'an import that fills blanks of the profile: told to every application of the person',
    operation: 'importUsers',
    act: bulk({ profile: { givenName: 'Ada', familyName: 'Lovelace', languages: [{ code: 'en', level: 'NATIVE' }] } }),
    ...(() => {
      const updated = ({ ada: { userId } }: World) => [
        event('user.profile_updated', {
          userId,
          name: 'Ada Lovelace',
          categories: ['identity', 'languages'],
          changed: ['givenName', 'familyName'],
        }),
      ];
      return { emits: updated, elsewhere: updated };
    })(),
  },
  {
    what: 'an import of somebody new, who has not been here yet',
    operation: 'importUsers',
    act: bulk({ email: 'new@example.com', roleSlugs: ['editor'], profile: { username: 'new', givenName: 'N' } }),
    emits: () => [],
  },
  {
    what: 'an import that finds everything as it is',
    operation: 'importUsers',
    act: bulk({ roleSlugs: ['user', 'unknown'], profile: {} }),
    emits: () => [],
  },
  ...PROFILE_CASES,
  {
    what: 'a person’s end of one session of theirs',
    operation: 'revokeMySession',
    act: ({ instance, ada }) => instance.call('DELETE', `/api/account/sessions/${ada.sessionId}`, { token: ada.token }),
    emits: ({ ada: { userId, sessionId } }) => [
      event('user.session_revoked', { userId, sessionId, reason: 'revoked_by_user' }),
    ],
  },
  {
    what: 'a person’s end of all their other sessions: told where each was',
    operation: 'revokeMyOtherSessions',
    act: ({ instance, ada }) => instance.call('DELETE', '/api/account/sessions', { token: ada.token }),
    emits: () => [],
    elsewhere: ({ ada: { userId } }) => [
      event('user.session_revoked', { userId, sessionId: anyId('ses'), reason: 'revoked_by_user' }),
    ],
  },
  ...(['inactivate', 'leave'] as const).map((action): Case => {
    const status = action === 'leave' ? 'left' : 'inactivated';
    return {
      what: `a person who makes their membership ${status}`,
      operation: `${action}Membership`,
      act: ({ instance, ada }) => instance.call('POST', `/api/account/${action}`, { token: ada.token }),
      emits: ({ ada: { userId, sessionId } }) => [
        event('user.session_revoked', { userId, sessionId, reason: status }),
        event(`user.${status}`, { userId }),
      ],
    };
  }),
  {
    what: 'an identity provider disconnected: told to every application of the person',
    operation: 'unlinkProviderIdentity',
    prepare: async ({ instance, ada }) => {
      wayInId = await given.identity(instance, ada.userId);
    },
    act: ({ instance, ada }) => instance.call('DELETE', `/api/account/providers/${wayInId}`, { token: ada.token }),
    emits: ({ ada: { userId } }) => [event('user.identity_changed', { userId, changed: ['provider'] })],
    elsewhere: ({ ada: { userId } }) => [event('user.identity_changed', { userId, changed: ['provider'] })],
  },
  {
    what: 'a passkey removed: told to every application of the person',
    operation: 'removePasskey',
    prepare: async ({ instance, ada }) => {
      const { workspaceId } = instance;
      [wayInId] = await given.passkeys(instance, ada.userId, { workspaceId });
    },
    act: ({ instance, ada }) => instance.call('DELETE', `/api/account/passkeys/${wayInId}`, { token: ada.token }),
    emits: ({ ada: { userId } }) => [event('user.identity_changed', { userId, changed: ['passkey'] })],
    elsewhere: ({ ada: { userId } }) => [event('user.identity_changed', { userId, changed: ['passkey'] })],
  },
  lifecycle('archive', 'application.archived'),
  lifecycle('delete', 'application.deleted'),
  lifecycle('delete', 'application.hidden', true),
];

/** Operations that change nobody: there is nothing to tell. */
const SILENT = [
  'sendSignInCode',
  'verifySession',
  'verifyToken',
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
];

/** These emit, but their ceremony leaves rows of its own, so their events are tested where they are. */
const CEREMONIES = ['verifyPasskeySignIn', 'addPasskey', 'confirmEmailChange', 'reactivateMembership', 'deleteAccount'];

/** Groups of operations that are about other things than an application’s people; the console’s stand below. */
const OTHER_TAGS = ['Applications', 'Identity provider', 'API keys', 'Beta access', 'Webhooks', 'Workspace', 'Setup'];

describe('an operation', async () => {
  const { operations } = (await createInstance()).app;
  const writes = operations.filter(({ method }) => method !== 'GET');

  test('that writes is known here: it emits, or it has nothing to tell', () => {
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
      // Done again, it changes nothing and says nothing.
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
    'that fails leaves neither its change nor its events: %s',
    async (_, { prepare, act }) => {
      const world = await createWorld();
      const { instance } = world;
      await prepare?.(world);
      const told: unknown[] = [];
      instance.db.onCommit(EVENT_EMITTED, (events) => void told.push(...events));
      const before = dumpTables(instance);
      // As on a full disk: once the event cannot be written, and once what is written beside it.
      for (const table of ['events', 'audit_records']) {
        const mend = given.brokenWrites(instance, `INSERT ON ${table}`);
        const { status, json } = await act(world);
        expect([table, status, json.error]).toEqual([table, 500, 'internal']);
        mend();
        expect(dumpTables(instance)).toEqual(before);
      }
      expect(told).toEqual([]);
      const { status } = await act(world);
      expect(status).toBe(200);
      expect(told.length).toBeGreaterThan(0);
    },
  );
});

describe('events of the console’s own people', () => {
  test('are those of anyone: sign-in by setup link, and the end of a session', async () => {
    const { instance } = await createWorld();
    const consoleId = instance.services.workspaces.consoleId();
    const { json } = await instance.call('POST', '/api/setup', {
      body: { token: await instance.services.setup.createLink(), email: 'owner@example.com' },
    });
    const { userId } = json.data;
    expect(instance.events(consoleId)).toEqual([
      { type: 'user.signed_in', data: { userId, sessionId: anyId('ses'), method: 'setup' } },
    ]);
  });

  test('a member taken out of the workspace is banned from the console, which is told as any ban; and lifted again', async () => {
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

  test('are none of the synthetic principals of keys', async () => {
    const { instance, application, call } = await createWorld();
    const before = countOf(instance);
    const { id } = await instance.createKey(application.id, { roles: ['editor'] });
    expect((await call('DELETE', `/api-keys/${id}`)).status).toBe(200);
    expect(countOf(instance)).toBe(before);
  });
});

function countOf({ sqlite }: Instance): number {
  return (sqlite.query('SELECT count(*) AS n FROM events').get() as { n: number }).n;
}

/** Runs last: what all instances of this file have emitted. */
afterAll(async () => {
  const seen = new Set<string>();
  const problems: unknown[] = [];
  for (const instance of instances) {
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
  expect([...seen].sort()).toEqual([...(EVENT_TYPES as string[])].sort());
});
