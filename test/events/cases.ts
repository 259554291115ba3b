/** Operations that change a person, and exactly what each emits. */
import { type EventType } from '@/core/event.ts';
import type { MembershipStatus } from '@/store/members.ts';
import { prove } from '../modules/account/account.ts';
import * as given from '../support/given.ts';
import { anyId, type Case, event, type World } from './world.ts';
import { PROFILE_CASES } from './profile-cases.ts';

const setStatus =
  (status: MembershipStatus) =>
  ({ instance, application, ada }: World) =>
    given.member(instance, application.id, ada.userId, { status });

/** Cases of an action on a user, from a status, with and without a reason. */
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
let reservedId = '';
/** The id of a passkey or a provider identity. */
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
    // Users are changed in the order of their ids, which is random.
    emits: ({ ada, bea }) =>
      [ada, bea]
        .sort((one, other) => (one.userId < other.userId ? -1 : 1))
        .map(({ userId, sessionId }) => event('user.session_revoked', { userId, sessionId, reason })),
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

const signedIn = (userId: unknown = anyId('usr'), email = 'ada@example.com') =>
  event('user.signed_in', {
    userId,
    sessionId: anyId('ses'),
    method: 'otp',
    email,
    isNewUser: email.startsWith('new@'),
  });

export const CASES: Case[] = [
  {
    what: 'the first sign-in, which joins: that and nothing of the default grants',
    operation: 'verifySignInCode',
    prepare: sendOtp('new@example.com'),
    act: verifyOtp('new@example.com'),
    emits: () => [signedIn(anyId('usr'), 'new@example.com')],
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
    what: 'a token given back by a client',
    operation: 'revokeToken',
    act: ({ instance, ada }) =>
      instance.call('POST', '/api/v1/revoke', { token: instance.workspaceKey, body: { token: ada.token } }),
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
    what: 'an import that is forgotten',
    operation: 'forgetUser',
    prepare: async ({ instance, application }) => {
      reservedId = await given.reservation(instance, application, 'imported@example.com');
    },
    act: ({ call }) => call('DELETE', `/users/${reservedId}`),
    emits: () => [event('user.deleted', { userId: reservedId, forgotten: true })],
  },
  {
    what: 'an external id, metadata and a username set by management: this application only',
    operation: 'updateUser',
    act: ({ call, ada }) =>
      call('PATCH', `/users/${ada.userId}`, { externalId: 'crm-1', metadata: { plan: 'pro' }, username: 'ada' }),
    emits: ({ ada: { userId } }) => [
      event('user.username_changed', { userId, username: 'ada', previousUsername: null }),
      event('user.profile_updated', {
        userId,
        name: '',
        categories: ['external_id', 'metadata'],
        externalId: 'crm-1',
      }),
    ],
  },
  {
    what: 'many paused in one go: for each who was not',
    operation: 'changeUsers',
    prepare: setStatus('paused'),
    act: ({ call, ada, bea }) =>
      call('POST', '/users/actions', { action: 'pause', userIds: [ada.userId, bea.userId], reason: 'Audit' }),
    emits: ({ bea }) => [
      event('user.session_revoked', { userId: bea.userId, sessionId: bea.sessionId, reason: 'paused' }),
      event('user.paused', { userId: bea.userId, reason: 'Audit' }),
    ],
  },
  {
    what: 'roles given and taken in one go, to and from many',
    operation: 'changeUserGrants',
    act: ({ call, ada }) =>
      call('POST', '/users/grants', { userIds: [ada.userId], roles: { add: ['editor'], remove: ['user'] } }),
    emits: ({ ada: { userId } }) => [
      event('user.role_added', { userId, roles: ['editor'], current: ['editor'] }),
      event('user.role_removed', { userId, roles: ['user'], current: ['editor'] }),
    ],
  },
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
      await prove(instance, ada, { purpose: 'provider_removal', target: wayInId });
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
