/** `gatehouse users`: lists, shows and changes the users of an application. */
import { UsageError } from '../arguments.ts';
import type { RemoteCall } from './remote-command.ts';
import { findUserId } from './find.ts';
import { type CallTarget, operationCommand } from './operation-command.ts';
import { USER_OPERAND } from './path-operands.ts';
import { remoteCommand, type RemoteCommand } from './remote-command.ts';
import { usersExport } from './users-export.ts';
import { usersImport } from './users-import.ts';

const GRANTS = {
  roles: { value: 'SLUGS', meaning: 'Roles, separated by commas.' },
  scopes: { value: 'SLUGS', meaning: 'Scopes, separated by commas.' },
  groups: { value: 'SLUGS', meaning: 'Membership groups, separated by commas.' },
};
const NONE = 'No user yet. They appear by signing in, or: gatehouse users import FILE';

/** Asks for the user's e-mail address as confirmation, even if the command named an id. */
async function confirmByEmail({ call, path }: CallTarget, consequence: string): Promise<readonly [string, string]> {
  const { id = '', userId = '' } = path;
  const user = await call.client.get('/api/applications/{id}/users/{userId}', { path: { id, userId } });
  return [user.email, consequence];
}

/** @throws {UsageError} */
function json(call: RemoteCall, flag: string): unknown {
  try {
    return JSON.parse(call.text(flag) ?? '');
  } catch {
    throw new UsageError(`--${flag} takes a JSON object, such as '{"plan":"pro"}'.`);
  }
}

type StateChange = 'ban' | 'unban' | 'pause' | 'resume' | 'delete' | 'restore';

function change(word: StateChange, done: string, consequence?: string): RemoteCommand {
  return operationCommand(`${word}User`, {
    name: `users ${word}`,
    flags: { reason: { field: 'reason', value: 'TEXT', meaning: 'Recorded in the activity and sent with the event.' } },
    ...(consequence !== undefined && { confirm: (target) => confirmByEmail(target, consequence) }),
    done: ({ email }) => `${email} ${done}`,
  });
}

function grant(word: 'grant' | 'revoke', summary: string): RemoteCommand {
  return remoteCommand({
    name: `users ${word}`,
    summary,
    operands: [USER_OPERAND],
    options: GRANTS,
    isOfApplication: true,
    async execute(call) {
      const { client, operands, list, show } = call;
      const given = { roles: list('roles'), scopes: list('scopes'), memberships: list('groups') };
      const side = word === 'grant' ? 'add' : 'remove';
      const parts = Object.entries(given).flatMap(([name, slugs]) =>
        slugs ? [[name, { [side]: slugs }] as const] : [],
      );
      if (parts.length === 0)
        throw new UsageError(`Give --roles, --scopes or --groups. See "gatehouse help users ${word}".`);
      const application = await call.application();
      const userId = await findUserId(client, application, operands[0] ?? '');
      const body = { userIds: [userId], ...Object.fromEntries(parts) };
      const changed = await client.post('/api/applications/{id}/users/grants', { path: { id: application.id }, body });
      const { outcome, roles = [], scopes = [], memberships = [] } = changed.results[0] ?? { outcome: 'not_found' };
      const [held, allowed, joined] = [roles, scopes, memberships].map((slugs) => slugs.join(', ') || '-');
      await show.done(changed, `${operands[0]}: ${outcome}. Roles: ${held}; scopes: ${allowed}; groups: ${joined}`);
      return outcome === 'changed' || outcome === 'unchanged' ? 0 : 1;
    },
  });
}

export const USERS: readonly RemoteCommand[] = [
  operationCommand('listUsers', {
    name: 'users list',
    summary: 'List users, last seen first',
    flags: {
      q: { field: 'q', value: 'TEXT' },
      status: 'status',
      role: { field: 'role', value: 'SLUG' },
      group: { field: 'membership', value: 'SLUG' },
      'external-id': { field: 'externalId', value: 'ID' },
    },
    // A stable order, so that no user moves between pages while all are read.
    derive: ({ paging }) => (paging.isAll ? { sort: 'joined' } : {}),
    columns: {
      ID: 'userId',
      'E-MAIL': { cut: 'email' },
      STATUS: 'status',
      ROLES: { cut: 'roles' },
      'LAST SEEN': 'lastSeenAt',
    },
    empty: ({ call: { text } }) =>
      ['q', 'status', 'role', 'group', 'external-id'].some((flag) => text(flag) !== undefined)
        ? 'No user matches.'
        : NONE,
  }),
  operationCommand('getUser', {
    name: 'users show',
    summary: 'Show a user',
    record: {
      'E-mail': 'email',
      Id: 'userId',
      'External id': 'externalId',
      Name: ({ profile }) => profile?.fullName ?? null,
      Username: 'username',
      Status: ({ status, statusReason }) => (statusReason ? `${status}: ${statusReason}` : status),
      Roles: 'roles',
      Scopes: 'scopes',
      Groups: 'memberships',
      'Last seen': 'lastSeenAt',
      Joined: 'joinedAt',
      Metadata: ({ metadata = {} }) => (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : null),
    },
  }),
  operationCommand('updateUser', {
    name: 'users update',
    summary: 'Set external id, metadata or username of a user',
    flags: {
      'external-id': { field: 'externalId', value: 'ID', meaning: 'Their id in your own systems; "" removes it.' },
      metadata: { field: 'metadata', value: 'JSON', meaning: 'JSON Merge Patch: null removes a key.', convert: json },
      username: { field: 'username', value: 'NAME', meaning: 'Their username; "" removes it.' },
    },
    done: ({ email }) => `${email} is changed.`,
  }),
  change('ban', 'is banned.'),
  change('unban', 'may sign in again.'),
  change('pause', 'is paused.'),
  change('resume', 'may sign in again.'),
  change(
    'delete',
    'is deleted. Back: gatehouse users restore',
    'Every session ends, devices are disconnected for good, and the address cannot sign in until restored.',
  ),
  change('restore', 'is back.'),
  operationCommand('forgetUser', {
    name: 'users forget',
    confirm: (target) =>
      confirmByEmail(
        target,
        'Everything imported for them is removed, also a ban or deletion: they may sign in as a new user.',
      ),
    done: (_, { label }) => `${label} is forgotten.`,
  }),
  grant('grant', 'Give roles, scopes or groups'),
  grant('revoke', 'Take roles, scopes or groups away'),
  operationCommand('listUserSessions', {
    name: 'users sessions',
    columns: { ID: 'id', BY: 'method', FROM: 'ip', 'LAST SEEN': 'lastSeenAt', BROWSER: { cut: 'userAgent' } },
    empty: 'No session is open.',
  }),
  operationCommand('revokeUserSession', {
    name: 'users end-sessions',
    summary: 'End all sessions of a user, or one',
    flags: { session: { field: 'sessionId', value: 'ID', meaning: 'End only this session.' } },
    instead: ({ text }) => (text('session') === undefined ? 'revokeUserSessions' : undefined),
    done: ({ revoked }) => `${revoked} ended.`,
  }),
  usersImport,
  usersExport,
];
