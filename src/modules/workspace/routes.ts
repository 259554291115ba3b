/** Routes of workspaces and their members. */
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
      summary: 'List the workspaces within reach',
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
      summary: 'Create another workspace, as an owner of one',
      description:
        'Deliveries at once, event streams and mails an hour are shared by all workspaces that one account has made. An account that has made as many as it may is answered 409, and 429 where it has made those of a day.',
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
      summary: 'Make somebody a member and tell them by mail',
      gives: { words: 'They see this workspace in the console; an admin or owner changes everything in it.' },
      description: 'Only an owner, signed in to the console, can make another owner.',
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
      description: 'The last owner keeps the role.',
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
      method: 'GET',
      path: `${path}/:memberId/keys`,
      summary: 'List the keys that a member has made and that would work on without them, newest first',
      description:
        'Of the workspace and its applications; those they rotated too. Keys made with one of these say so in `createdBy`.',
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
      summary: 'Take a member out of the workspace',
      description:
        'The last owner stays. Drafts, and betas that they are not on the list of, are closed to them at once. Keys they made go on working, but for those made with a device, and are answered.',
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
