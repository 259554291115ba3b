import { applicationAccess } from '../../core/access-control.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { type Payload, type Operation, operation } from '../../http/operation.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import { PageQuery } from '../../http/schemas.ts';
import type { GrantKind } from '../../store/grants.ts';
import {
  GrantsChange,
  GrantsChanged,
  InviteInput,
  ReasonInput,
  SessionsRevoked,
  SLUGS_INPUTS,
  type SlugsInput,
  SlugsResult,
  UserDetail,
  UserForgotten,
  UserInvited,
  UserPage,
  UserPatch,
  UsersChange,
  UsersChanged,
  UserSessionPage,
  UsersQuery,
} from './model.ts';
import type { BatchChanges } from './bulk.ts';
import type { Users } from './service.ts';
import { STATUS_ACTIONS, type StatusAction } from './status.ts';

const DISCONNECTED = 'Every session ends at once, and connected devices are disconnected for good.';

/** Effects that undoing the action does not revert. */
const DANGERS: Partial<Record<StatusAction, string>> = {
  ban: DISCONNECTED,
  pause: 'Every session ends at once, and signing in is refused until resumed.',
  delete: DISCONNECTED,
};

const LET_IN: Payload = { words: 'The user can sign in again.' };
const GRANTED: Payload = { words: 'Backends let the user do what these roles, scopes or groups stand for.' };

const ACTION_SUMMARIES: Record<StatusAction, string> = {
  ban: 'Ban a user: every session ends and sign-in is refused',
  unban: 'Lift a ban',
  pause: 'Pause a user: every session ends until resumed',
  resume: 'Resume a paused user',
  delete: 'Delete a user from this application: their address cannot sign in until restored',
  restore: 'Restore a deleted user to the state before the deletion; a ban stays in force',
};

const GRANT_NAMES: Record<GrantKind, { id: string; noun: string }> = {
  roles: { id: 'setUserRoles', noun: 'roles' },
  scopes: { id: 'setUserScopes', noun: 'scopes' },
  memberships: { id: 'setUserMemberships', noun: 'membership groups' },
};

export function userRoutes(users: Users, many: BatchChanges): Operation[] {
  const common = { tag: 'Users', scope: 'application', limit: 'key' } as const;
  const all = '/api/applications/:id/users';
  const one = `${all}/:userId` as const;
  const kinds = Object.keys(GRANT_NAMES) as GrantKind[];
  return [
    operation({
      ...common,
      id: 'listUsers',
      method: 'GET',
      path: all,
      summary: 'List the users of an application, by last seen or by joining',
      description:
        'Filters combine; a filtered page may be short although another page follows. `include` needs full access; without it `q` searches e-mail and username only. Addresses and legal entities are never returned. Imported people who have never signed in have `lastSeenAt` null and come last.',
      access: 'read',
      query: UsersQuery,
      data: UserPage,
      errors: ['invalid_cursor', 'admin_scope_required'],
      handle({ principal, application, query }) {
        const isFull = applicationAccess(principal, application) === 'full';
        if (query.include && !isFull) throw new AppError('admin_scope_required');
        return users.list(application, query, isFull);
      },
    }),
    operation({
      ...common,
      id: 'changeUsers',
      method: 'POST',
      path: `${all}/actions`,
      summary: 'Ban, unban, pause, resume, delete or restore up to 200 users',
      danger:
        'Whom it bans, pauses or deletes loses every session at once; banned and deleted, every connected device for good.',
      description:
        'Equals the call for one user; one outcome per user, in order, `unchanged` if nothing had to change. Not atomic: repeat an interrupted call.',
      access: 'full',
      body: UsersChange,
      data: UsersChanged,
      handle: ({ actor, application, body }) => many.changeStatus(actor, application, body),
    }),
    operation({
      ...common,
      id: 'changeUserGrants',
      method: 'POST',
      path: `${all}/grants`,
      summary: 'Give roles, scopes or membership groups to up to 200 users, or take them away',
      gives: GRANTED,
      description:
        'Other grants stay. An unknown slug refuses the call. One outcome per user, in order. Not atomic: repeat an interrupted call.',
      access: 'full',
      body: GrantsChange,
      data: GrantsChanged,
      handle: ({ actor, application, body }) => many.changeGrants(actor, application, body),
    }),
    operation({
      ...common,
      id: 'getUser',
      method: 'GET',
      path: one,
      summary: 'Read a user; with full access, the profile as well',
      access: 'read',
      data: UserDetail,
      handle: ({ principal, application, params }) =>
        users.get(application, params.userId, applicationAccess(principal, application) === 'full'),
    }),
    operation({
      ...common,
      id: 'updateUser',
      method: 'PATCH',
      path: one,
      summary: 'Change a user’s external id, metadata or username',
      description:
        '`metadata` is a JSON Merge Patch (RFC 7396): null removes a key. `profile` can be corrected until they first sign in; later it is their own. An e-mail address is changed by its holder only.',
      access: 'full',
      body: UserPatch,
      data: UserDetail,
      errors: ['conflict', 'invalid_state'],
      handle: ({ actor, application, params, body }) => users.update(actor, application, params.userId, body),
    }),
    ...STATUS_ACTIONS.map((action) =>
      operation({
        ...common,
        id: `${action}User`,
        method: 'POST',
        path: `${one}/${action}`,
        summary: ACTION_SUMMARIES[action],
        ...(DANGERS[action] === undefined ? { gives: LET_IN } : { danger: DANGERS[action] }),
        access: 'full',
        body: ReasonInput,
        isBodyOptional: true,
        data: UserDetail,
        errors: ['invalid_state'],
        handle: ({ actor, application, params, body }) =>
          users.act(actor, application, params.userId, action, body.reason),
      }),
    ),
    operation({
      ...common,
      id: 'inviteUser',
      limit: 'key_mail',
      method: 'POST',
      path: `${one}/invitation`,
      summary: 'Mail an invitation to a user who has never signed in',
      description:
        'Once an hour; repeated within it, answers `sent: false`. Refused for people whom status or gate keep out.',
      access: 'full',
      body: InviteInput,
      isBodyOptional: true,
      data: UserInvited,
      errors: ['invalid_state'],
      async handle({ actor, application, params, body, context }) {
        const invited = await users.invite(actor, application, params.userId, body);
        announceLimit(context.headers, await users.mailStanding(application));
        return invited;
      },
    }),
    operation({
      ...common,
      id: 'forgetUser',
      method: 'DELETE',
      path: one,
      summary: 'Delete an imported person who has never signed in',
      danger: 'What the import kept for this person is removed for good. A ban or deletion of theirs ends with it.',
      description:
        'Removes the reservation with its profile, username and grants, and lifts a ban or deletion of it. Refused for people who have signed in to this workspace: use the `delete` action instead. Webhooks get `user.deleted` with `forgotten: true`.',
      access: 'full',
      data: UserForgotten,
      errors: ['invalid_state'],
      handle: ({ actor, application, params }) => users.forget(actor, application, params.userId),
    }),
    ...kinds.map((kind) =>
      operation({
        ...common,
        id: GRANT_NAMES[kind].id,
        method: 'PUT',
        path: `${one}/${kind}`,
        summary: `Replace a user’s ${GRANT_NAMES[kind].noun}`,
        gives: GRANTED,
        access: 'full',
        body: SLUGS_INPUTS[kind],
        data: SlugsResult,
        handle: ({ actor, application, params, body }) =>
          users.setGrants(actor, application, params.userId, kind, ...wantedSlugs(kind, body)),
      }),
    ),
    operation({
      ...common,
      id: 'listUserSessions',
      method: 'GET',
      path: `${one}/sessions`,
      summary: 'List a user’s open sessions, newest first',
      access: 'read',
      query: PageQuery,
      data: UserSessionPage,
      errors: ['invalid_cursor'],
      handle: ({ application, params, query }) => users.listSessions(application, params.userId, query),
    }),
    operation({
      ...common,
      id: 'revokeUserSessions',
      method: 'DELETE',
      path: `${one}/sessions`,
      summary: 'End every session of a user',
      access: 'full',
      data: SessionsRevoked,
      handle: ({ actor, application, params }) => users.revokeSessions(actor, application, params.userId),
    }),
    operation({
      ...common,
      id: 'revokeUserSession',
      method: 'DELETE',
      path: `${one}/sessions/:sessionId`,
      summary: 'End one session of a user',
      access: 'full',
      data: SessionsRevoked,
      handle: ({ actor, application, params }) =>
        users.revokeSessions(actor, application, params.userId, params.sessionId),
    }),
  ];
}

/** @returns the slugs and their field's name, for errors. @throws {AppError} invalid_request for both or none. */
function wantedSlugs(kind: GrantKind, body: SlugsInput): [slugs: string[], field: string] {
  const { slugs, [kind]: named } = body;
  if (slugs && named) throw invalidField('slugs', `Give ${kind} or slugs, not both: they mean the same.`);
  if (named) return [named, kind];
  if (slugs) return [slugs, 'slugs'];
  throw invalidField(kind, `Give the ${GRANT_NAMES[kind].noun} as a list of slugs, under ${kind}.`);
}
