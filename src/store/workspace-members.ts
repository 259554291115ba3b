/** Workspace members: the people who run a workspace, each with a role. */
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { WorkspaceMembership } from '../core/principal.ts';
import { onlyOne } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, orm, ormFor, prepared, query } from '../db/statements.ts';
import { users } from './schema/users.ts';
import { workspaceMembers, type WorkspaceRole } from './schema/workspace-members.ts';

export { WORKSPACE_ROLES, type WorkspaceRole } from './schema/workspace-members.ts';

const { placeholder } = sql;

export type WorkspaceMemberRow = typeof workspaceMembers.$inferSelect;

/** Returns a person's workspaces and roles in the order of joining. */
export const listWorkspacesOf = query.rows<WorkspaceMembership, string>(
  'SELECT workspace_id AS "workspaceId", role FROM workspace_members WHERE user_id = :userId ORDER BY created_at, id',
);

const hasAnySeat = query.exists<string>('SELECT id FROM workspace_members WHERE user_id = :userId LIMIT 1');

const seatIn = prepared((db) =>
  db
    .select()
    .from(workspaceMembers)
    .where(
      and(
        eq(workspaceMembers.workspaceId, placeholder('workspaceId')),
        eq(workspaceMembers.userId, placeholder('userId')),
      ),
    )
    .prepare(),
);

export async function findWorkspaceMember(
  reader: Reader,
  workspaceId: string,
  userId: string,
): Promise<WorkspaceMemberRow | undefined> {
  const [seat] = await seatIn(reader, { workspaceId, userId });
  return seat;
}

const seatById = prepared((db) =>
  db
    .select()
    .from(workspaceMembers)
    .where(
      and(eq(workspaceMembers.id, placeholder('id')), eq(workspaceMembers.workspaceId, placeholder('workspaceId'))),
    )
    .prepare(),
);

/** Returns a membership by id; undefined for another workspace's. */
export async function findWorkspaceMemberById(
  reader: Reader,
  workspaceId: string,
  id: string,
): Promise<WorkspaceMemberRow | undefined> {
  const [seat] = await seatById(reader, { workspaceId, id });
  return seat;
}

/** Returns whether the person is a member of the workspace. @param workspaceId null for any workspace. */
export async function isWorkspaceMember(reader: Reader, userId: string, workspaceId: string | null): Promise<boolean> {
  if (workspaceId !== null) return (await findWorkspaceMember(reader, workspaceId, userId)) !== undefined;
  return hasAnySeat(reader, userId);
}

/** A workspace member with their current address, or the invited address until they come. */
export interface WorkspaceMemberWithEmail {
  readonly seat: WorkspaceMemberRow;
  readonly email: string;
}

/** Returns a page of members in the order of joining. @param afterId the previous page's last id; null at first. */
export async function pageOfWorkspaceMembers(
  reader: Reader,
  workspaceId: string,
  { afterId, limit }: { readonly afterId: string | null; readonly limit: number },
): Promise<WorkspaceMemberWithEmail[]> {
  return orm(reader)
    .select({ seat: workspaceMembers, email: sql<string>`coalesce(${workspaceMembers.invitedEmail}, ${users.email})` })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.userId))
    .where(
      and(
        eq(workspaceMembers.workspaceId, workspaceId),
        afterId === null ? undefined : gt(workspaceMembers.id, afterId),
      ),
    )
    .orderBy(asc(workspaceMembers.id))
    .limit(limit);
}

/** Returns whether the workspace has a member or an invitation with this address. */
export const isWorkspaceMemberByEmail = query.exists<{ workspaceId: string; email: string }>(
  `SELECT m.id FROM workspace_members m JOIN users u ON u.id = m.user_id
   WHERE m.workspace_id = :workspaceId AND coalesce(m.invited_email, u.email) = :email LIMIT 1`,
);

export interface OwnerAddress {
  readonly email: string;
  readonly locale: string | null;
  readonly timezone: string | null;
}

/** Returns a workspace's owners in the order of joining. */
export const listOwners = query.rows<OwnerAddress, string>(
  `SELECT coalesce(m.invited_email, u.email) AS email, u.locale, u.timezone FROM workspace_members m JOIN users u ON u.id = m.user_id
   WHERE m.workspace_id = :workspaceId AND m.role = 'owner' ORDER BY m.id`,
);

export const hasOwner = query.exists("SELECT id FROM workspace_members WHERE role = 'owner' LIMIT 1");

export const hasOtherOwner = query.exists<{ workspaceId: string; userId: string }>(
  `SELECT id FROM workspace_members
   WHERE workspace_id = :workspaceId AND user_id <> :userId AND role = 'owner' LIMIT 1`,
);

/** Returns the names of workspaces whose only owner is this person. The person's own invitations do not count. */
export const workspacesOwnedAlone = query.values<string, string>(
  `SELECT w.name FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
   WHERE m.user_id = :userId AND m.role = 'owner' AND m.invited_email IS NULL AND NOT EXISTS (
     SELECT 1 FROM workspace_members o WHERE o.workspace_id = m.workspace_id AND o.role = 'owner' AND o.user_id <> m.user_id)
   ORDER BY m.id`,
);

/** Adds a person who is not a member yet. @param invitedEmail for somebody the workspace has never seen. */
export async function insertWorkspaceMember(
  unit: Unit,
  workspaceId: string,
  {
    userId,
    invitedEmail = null,
    role,
  }: Pick<WorkspaceMemberRow, 'userId' | 'role'> & { readonly invitedEmail?: string | null },
): Promise<WorkspaceMemberRow> {
  const id = newId('workspaceMember', unit.now);
  const row = { id, workspaceId, userId, role, invitedEmail, createdAt: unit.now };
  return onlyOne(await ormFor(unit, [userId]).insert(workspaceMembers).values(row).returning());
}

/** A member, by its own id and the person's, by which cached rows know it. */
type MemberIds = Pick<WorkspaceMemberRow, 'id' | 'userId'>;

export async function setWorkspaceRole(
  unit: Unit,
  { id, userId }: MemberIds,
  role: WorkspaceRole,
): Promise<WorkspaceMemberRow> {
  const isTheirs = and(eq(workspaceMembers.id, id), eq(workspaceMembers.userId, userId));
  return onlyOne(await ormFor(unit, [userId]).update(workspaceMembers).set({ role }).where(isTheirs).returning());
}

/** Removes a member. The caller removes the console membership that goes with it. */
export const deleteWorkspaceMember = change<MemberIds>(
  'DELETE FROM workspace_members WHERE id = :id AND user_id = :userId',
  { rowId: 'userId' },
);

export const deleteWorkspaceMembershipsOf = change<string>('DELETE FROM workspace_members WHERE user_id = :userId', {
  rowId: 'userId',
});
