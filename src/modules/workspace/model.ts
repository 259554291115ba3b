/** Schemas of workspaces and their members. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Name, PageOf, Timestamp } from '../../http/schemas.ts';
import { WORKSPACE_ROLES } from '../../store/workspace-members.ts';

export const WorkspaceSchema = Type.Object(
  { id: Id('wsp'), name: Type.String(), createdAt: Timestamp() },
  { $id: 'Workspace' },
);
export type WorkspaceRecord = Static<typeof WorkspaceSchema>;

export const WorkspacePage = PageOf(WorkspaceSchema);

export const WorkspaceInput = Input({
  name: Name(),
});

export const WorkspaceMember = Type.Object(
  {
    id: Id('wsm'),
    userId: Id('usr'),
    email: Email(),
    role: Choice(WORKSPACE_ROLES, { $id: 'WorkspaceRole' }),
    createdAt: Timestamp(),
  },
  { $id: 'Member' },
);
export type WorkspaceMemberRecord = Static<typeof WorkspaceMember>;

export const MemberPage = PageOf(WorkspaceMember);

export const MemberInput = Input({ email: Email(), role: Choice(WORKSPACE_ROLES, { $id: 'WorkspaceRole' }) });

export const MemberPatch = Input({ role: Choice(WORKSPACE_ROLES, { $id: 'WorkspaceRole' }) });

export const MemberRemoved = Type.Object({ id: Type.String() });
