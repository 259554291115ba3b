/** `gatehouse users`: lists, shows and changes the users of an application. */
import type { DataAt, ItemAt } from '../../client/paths.ts';
import { UsageError } from '../arguments.ts';
import { findUserId, type ListedUser } from './find.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand } from './remote-command.ts';
import type { Column } from '../table.ts';
import { usersImport } from './users-import.ts';
import { usersExport } from './users-export.ts';

const USER = { name: 'USER', meaning: 'Id (usr_…) or e-mail address.' };
const REASON = { reason: { value: 'TEXT', meaning: 'For the record, and in the event.' } };
const GRANTS = {
  roles: { value: 'SLUGS', meaning: 'Roles, separated by commas.' },
  scopes: { value: 'SLUGS', meaning: 'Scopes.' },
  groups: { value: 'SLUGS', meaning: 'Membership groups.' },
};
const NOBODY = 'Nobody. They come by signing in, or: gatehouse users import FILE';

type User = DataAt<'/api/applications/{id}/users/{userId}', 'get'>;
type UserSession = ItemAt<'/api/applications/{id}/users/{userId}/sessions'>;
type Status = ListedUser['status'];

async function pathOf(call: RemoteCall): Promise<{ id: string; userId: string }> {
  const application = await call.application();
  return { id: application.id, userId: await findUserId(call.client, application, call.operands[0] ?? '') };
}

function describe({ show }: RemoteCall, user: User): Promise<void> {
  return show.record(user, [
    ['E-mail', user.email],
    ['Id', user.userId],
    ['Name', user.profile?.fullName],
    ['Username', user.username],
    ['Status', user.statusReason ? `${user.status}: ${user.statusReason}` : user.status],
    ['Roles', user.roles.join(', ')],
    ['Scopes', user.scopes.join(', ')],
    ['Groups', user.memberships.join(', ')],
    ['Last seen', show.time(user.lastSeenAt)],
    ['Joined', show.time(user.joinedAt)],
  ]);
}

const columns = ({ show }: RemoteCall): readonly Column<ListedUser>[] => [
  { title: 'ID', of: ({ userId }) => userId },
  { title: 'E-MAIL', of: ({ email }) => email, isCut: true },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ROLES', of: ({ roles }) => roles.join(','), isCut: true },
  { title: 'LAST SEEN', of: ({ lastSeenAt }) => show.time(lastSeenAt) },
];

type Word = 'ban' | 'unban' | 'pause' | 'resume' | 'delete' | 'restore';

interface Change {
  readonly summary: string;
  readonly done: string;
  /** Confirmation text for a change that is hard to undo. */
  readonly consequence?: string;
}

function change(word: Word, { summary, done, consequence }: Change): RemoteCommand {
  return remoteCommand({
    name: `users ${word}`,
    summary,
    operands: [USER],
    options: REASON,
    isOfApplication: true,
    isFinal: consequence !== undefined,
    async carryOut(call) {
      const path = await pathOf(call);
      const reason = call.text('reason');
      if (consequence !== undefined) {
        const { email } = await call.client.get('/api/applications/{id}/users/{userId}', { path });
        await call.confirm(email, consequence);
      }
      const user = await call.client.post(`/api/applications/{id}/users/{userId}/${word}`, {
        path,
        body: { ...(reason !== undefined && { reason }) },
      });
      await call.show.done(user, `${user.email} ${done}`);
    },
  });
}

function grant(word: 'grant' | 'revoke', summary: string): RemoteCommand {
  return remoteCommand({
    name: `users ${word}`,
    summary,
    operands: [USER],
    options: GRANTS,
    isOfApplication: true,
    async carryOut(call) {
      const given = { roles: call.list('roles'), scopes: call.list('scopes'), memberships: call.list('groups') };
      const side = word === 'grant' ? 'add' : 'remove';
      const parts = Object.entries(given).flatMap(([name, slugs]) =>
        slugs ? [[name, { [side]: slugs }] as const] : [],
      );
      if (parts.length === 0)
        throw new UsageError(`Say which: --roles, --scopes or --groups. See "gatehouse help users ${word}".`);
      const { id, userId } = await pathOf(call);
      const path = { id };
      const body = { userIds: [userId], ...Object.fromEntries(parts) };
      const changed = await call.client.post('/api/applications/{id}/users/grants', { path, body });
      const { outcome, roles = [], scopes = [], memberships = [] } = changed.results[0] ?? { outcome: 'not_found' };
      await call.show.done(
        changed,
        `${call.operands[0]}: ${outcome}. Roles: ${roles.join(', ') || '-'}; scopes: ${scopes.join(', ') || '-'}; groups: ${memberships.join(', ') || '-'}`,
      );
      return outcome === 'changed' || outcome === 'unchanged' ? 0 : 1;
    },
  });
}

export const USERS: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'users list',
    summary: 'List users, last seen first',
    isOfApplication: true,
    isList: true,
    options: {
      q: { value: 'TEXT', meaning: 'Part of the address, the username or, with a Full key, the name.' },
      status: { value: 'STATUS', meaning: 'Such as active, banned, paused or deleted.' },
      role: { value: 'SLUG', meaning: 'Who has this role.' },
      group: { value: 'SLUG', meaning: 'Who is in this group.' },
    },
    async carryOut(call) {
      const { client, show, paging, text } = call;
      const { id } = await call.application();
      const [q, status, role, membership] = [text('q'), text('status'), text('role'), text('group')];
      const isFiltered = [q, status, role, membership].some((given) => given !== undefined);
      const filters = {
        ...(q !== undefined && { q }),
        ...(status !== undefined && { status: status as Status }),
        ...(role !== undefined && { role }),
        ...(membership !== undefined && { membership }),
        // A stable order, so that no user moves between pages while all are read.
        ...(paging.isAll && { sort: 'joined' as const }),
      };
      const page = (query: object) =>
        client.get('/api/applications/{id}/users', { path: { id }, query: { ...filters, ...query } });
      await show.list({ columns: columns(call), page, empty: isFiltered ? 'Nobody is like that.' : NOBODY }, paging);
    },
  }),
  remoteCommand({
    name: 'users show',
    summary: 'Show a user',
    operands: [USER],
    isOfApplication: true,
    async carryOut(call) {
      const path = await pathOf(call);
      await describe(call, await call.client.get('/api/applications/{id}/users/{userId}', { path }));
    },
  }),
  change('ban', { summary: 'Ban: every session ends, sign-in is refused', done: 'is banned.' }),
  change('unban', { summary: 'Lift a ban', done: 'may sign in again.' }),
  change('pause', { summary: 'Pause: every session ends until resumed', done: 'is paused.' }),
  change('resume', { summary: 'Resume who was paused', done: 'may sign in again.' }),
  change('delete', {
    summary: 'Delete a user from the application',
    done: 'is deleted. Back: gatehouse users restore',
    consequence: 'Every session ends, devices are disconnected for good, and the address is shut out until restored.',
  }),
  change('restore', { summary: 'Bring a deleted user back', done: 'is back.' }),
  remoteCommand({
    name: 'users forget',
    summary: 'Forget an import of somebody who never came',
    operands: [USER],
    isOfApplication: true,
    isFinal: true,
    async carryOut(call) {
      const path = await pathOf(call);
      const { email } = await call.client.get('/api/applications/{id}/users/{userId}', { path });
      await call.confirm(
        email,
        'All that was imported of them is removed, a ban or deletion too: they may sign in anew.',
      );
      const forgotten = await call.client.delete('/api/applications/{id}/users/{userId}', { path });
      await call.show.done(forgotten, `${email} is forgotten.`);
    },
  }),
  grant('grant', 'Give roles, scopes or groups'),
  grant('revoke', 'Take roles, scopes or groups away'),
  remoteCommand({
    name: 'users sessions',
    summary: 'List the open sessions of a user',
    operands: [USER],
    isOfApplication: true,
    isList: true,
    async carryOut(call) {
      const { client, show, paging } = call;
      const path = await pathOf(call);
      await show.list<UserSession>(
        {
          columns: [
            { title: 'ID', of: ({ id }) => id },
            { title: 'BY', of: ({ method }) => method },
            { title: 'FROM', of: ({ ip }) => ip },
            { title: 'LAST SEEN', of: ({ lastSeenAt }) => show.time(lastSeenAt) },
            { title: 'BROWSER', of: ({ userAgent }) => userAgent, isCut: true },
          ],
          page: (query) => client.get('/api/applications/{id}/users/{userId}/sessions', { path, query }),
          empty: 'No session is open.',
        },
        paging,
      );
    },
  }),
  remoteCommand({
    name: 'users end-sessions',
    summary: 'End the sessions of a user, or one of them',
    operands: [USER],
    options: { session: { value: 'ID', meaning: 'That one alone.' } },
    isOfApplication: true,
    async carryOut(call) {
      const path = await pathOf(call);
      const sessionId = call.text('session');
      const ended =
        sessionId === undefined
          ? await call.client.delete('/api/applications/{id}/users/{userId}/sessions', { path })
          : await call.client.delete('/api/applications/{id}/users/{userId}/sessions/{sessionId}', {
              path: { ...path, sessionId },
            });
      await call.show.done(ended, `${ended.revoked} ended.`);
    },
  }),
  usersImport,
  usersExport,
];
