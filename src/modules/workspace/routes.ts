import type { Principal } from '../../core/principal.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import { PageQuery } from '../../http/schemas.ts';
import {
  WorkspaceMember,
  MemberInput,
  MemberKeyPage,
  MemberPage,
  MemberPatch,
  MemberRemoved,
  WorkspaceSchema,
  WorkspaceInput,
  WorkspacePage,
} from './model.ts';
import type { MemberCaller, Members } from './members.ts';
import type { Workspaces } from './service.ts';

export function workspaceRoutes(workspaces: Workspaces, members: Members): Operation[] {
  const common = { tag: 'Workspace', scope: 'workspace', limit: 'key' } as const;
  const path = '/api/workspace/members';
  return [
    operation({
      ...common,
      id: 'listWorkspaces',
      method: 'GET',
      path: '/api/workspaces',
      summary: 'List the workspaces that the credential can access',
      access: 'read',
      scope: 'instance',
      data: WorkspacePage,
      handle: async ({ principal }) => ({ items: await workspaces.list(principal), nextCursor: null }),
    }),
    operation({
      ...common,
      id: 'createWorkspace',
      method: 'POST',
      path: '/api/workspaces',
      summary: 'Create another workspace, as an owner of a workspace',
      description:
        'All workspaces that one account has created share its limits on concurrent deliveries, event streams and mails per hour. Answers 409 at the limit of workspaces per account, and 429 at the limit per day.',
      access: 'full',
      consoleRole: 'owner',
      limit: 'key_workspace',
      body: WorkspaceInput,
      data: WorkspaceSchema,
      errors: ['conflict'],
      async handle({ actor, principal, body, context }) {
        const { workspace, day } = await workspaces.create(actor, principal.userId, body.name);
        if (day) announceLimit(context.headers, day);
        return workspace;
      },
    }),
    operation({
      ...common,
      id: 'getWorkspace',
      method: 'GET',
      path: '/api/workspace',
      summary: 'Read the workspace',
      access: 'read',
      data: WorkspaceSchema,
      handle: ({ principal, workspaceId }) => workspaces.get(principal, workspaceId),
    }),
    operation({
      ...common,
      id: 'updateWorkspace',
      method: 'PATCH',
      path: '/api/workspace',
      summary: 'Rename the workspace',
      access: 'full',
      body: WorkspaceInput,
      data: WorkspaceSchema,
      handle: ({ actor, principal, workspaceId, body }) => workspaces.rename(actor, principal, workspaceId, body.name),
    }),
    operation({
      ...common,
      id: 'listMembers',
      method: 'GET',
      path,
      summary: 'List the members of the workspace',
      access: 'read',
      query: PageQuery,
      data: MemberPage,
      errors: ['invalid_cursor'],
      handle: ({ workspaceId, query }) => members.list(workspaceId, query),
    }),
    operation({
      ...common,
      id: 'inviteMember',
      method: 'POST',
      path,
      summary: 'Invite a member by mail',
      gives: { words: 'They see this workspace in the console; an admin or owner changes everything in it.' },
      description: 'Only an owner who is signed in to the console can add an owner.',
      access: 'full',
      limit: 'key_mail',
      body: MemberInput,
      data: WorkspaceMember,
      errors: ['conflict', 'user_deleted', 'email_archived'],
      async handle({ actor, principal, workspaceId, body, context }) {
        const member = await members.invite(actor, callerOf(principal), workspaceId, body);
        announceLimit(context.headers, await members.mailStanding(workspaceId));
        return member;
      },
    }),
    operation({
      ...common,
      id: 'updateMember',
      method: 'PATCH',
      path: `${path}/:memberId`,
      summary: 'Change a member’s role',
      gives: { words: 'An admin or owner changes everything in this workspace.' },
      description: 'The role of the last owner cannot be changed.',
      access: 'full',
      body: MemberPatch,
      data: WorkspaceMember,
      errors: ['not_found', 'invalid_state'],
      handle: ({ actor, principal, workspaceId, params, body }) =>
        members.changeRole(actor, callerOf(principal), workspaceId, params.memberId, body.role),
    }),
    operation({
      ...common,
      id: 'listMemberKeys',
      isNoTool: true,
      method: 'GET',
      path: `${path}/:memberId/keys`,
      summary: 'List the keys that a member created and that outlive their membership, newest first',
      description:
        'Keys of the workspace and its applications, including rotated ones. Keys created with one of these keys name it in `createdBy`.',
      access: 'full',
      query: PageQuery,
      data: MemberKeyPage,
      errors: ['invalid_cursor'],
      handle: ({ workspaceId, params, query }) => members.listKeys(workspaceId, params.memberId, query),
    }),
    operation({
      ...common,
      id: 'removeMember',
      method: 'DELETE',
      path: `${path}/:memberId`,
      summary: 'Remove a member from the workspace',
      description:
        'The last owner cannot be removed. Drafts, and private betas that do not list them, close to them at once. Keys they created keep working, except those created with a device, and are returned.',
      access: 'full',
      data: MemberRemoved,
      errors: ['not_found', 'invalid_state'],
      handle: ({ actor, principal, workspaceId, params }) =>
        members.remove(actor, callerOf(principal), workspaceId, params.memberId),
    }),
  ];
}

function callerOf(principal: Principal): MemberCaller {
  return { userId: principal.kind === 'session' ? principal.userId : null };
}
