/** Schemas of workspaces and their members. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Name, Nullable, PageOf, Timestamp } from '../../http/schemas.ts';
import { WORKSPACE_ROLES } from '../../store/workspace-members.ts';

const Role = () => Choice(WORKSPACE_ROLES, { $id: 'WorkspaceRole' });

export const WorkspaceSchema = Type.Object(
  {
    id: Id('wsp'),
    name: Type.String(),
    /** What the caller is in it; null for a key. */
    role: Nullable(Role()),
    createdAt: Timestamp(),
  },
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
    role: Role(),
    createdAt: Timestamp(),
  },
  { $id: 'Member' },
);
export type WorkspaceMemberRecord = Static<typeof WorkspaceMember>;

export const MemberPage = PageOf(WorkspaceMember);

export const MemberInput = Input({ email: Email(), role: Role() });

export const MemberPatch = Input({ role: Role() });

export const MemberRemoved = Type.Object({ id: Type.String() });
