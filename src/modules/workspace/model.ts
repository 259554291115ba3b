import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Name, Nullable, PageOf, Timestamp } from '../../http/schemas.ts';
import { ApiKeySchema } from '../api-keys/model.ts';
import { WORKSPACE_ROLES } from '../../store/workspace-members.ts';

const Role = () => Choice(WORKSPACE_ROLES, { $id: 'WorkspaceRole' });

export const WorkspaceSchema = Type.Object(
  {
    id: Id('wsp'),
    name: Type.String(),
    /** The caller's role; null for a key. */
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

const { id, name, prefix, access, applicationId, createdAt, lastUsedAt } = ApiKeySchema.properties;

const MemberKey = Type.Object({ id, name, prefix, access, applicationId, createdAt, lastUsedAt }, { $id: 'MemberKey' });
export type MemberKeyRecord = Static<typeof MemberKey>;

export const MemberKeyPage = PageOf(MemberKey);

export const MemberRemoved = Type.Object(
  {
    id: Id('wsm'),
    keys: Type.Array(MemberKey, {
      description:
        'Keys they created or rotated that keep working, newest first, at most 200: revoke those they must not use.',
    }),
  },
  { $id: 'MemberRemoved' },
);
export type MemberRemoved = Static<typeof MemberRemoved>;
