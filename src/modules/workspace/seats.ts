/** Seats: a person's membership of a workspace, and of the console through which they use it. */
import { and, eq, type SQL } from 'drizzle-orm';
import { newId } from '../../core/id.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import { workspaceMembers, type WorkspaceRole } from '../../db/schema/workspace-members.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { defaultGrants } from '../grants/holders.ts';
import { findMember, findUserByEmail, insertMember, insertPerson } from '../users/members.ts';

export type SeatRow = typeof workspaceMembers.$inferSelect;

/**
 * The person behind an address, able to sign in to the console. Whoever was taken out of it is let in again; who left of
 * their own comes back by signing in.
 */
export function ensureSeat(unit: Unit, consoleId: string, email: string): { userId: string } {
  const user = findUserByEmail(unit, email) ?? insertPerson(unit, email, false);
  const member = findMember(unit, consoleId, user.id);
  if (!member) insertMember(unit, consoleId, user.id, defaultGrants(unit, consoleId));
  else if (member.status === 'banned') {
    unit.tx
      .update(applicationUsers)
      .set({ status: 'active', statusReason: null, updatedAt: unit.now })
      .where(eq(applicationUsers.id, member.id))
      .run();
    unit.emit({ type: 'user.unbanned', applicationId: consoleId, data: { userId: user.id } });
  }
  return { userId: user.id };
}

export function insertSeat(unit: Unit, workspaceId: string, userId: string, role: WorkspaceRole): SeatRow {
  const [row] = unit.tx
    .insert(workspaceMembers)
    .values({ id: newId('workspaceMember', unit.now), workspaceId, userId, role, createdAt: unit.now })
    .returning()
    .all();
  return row!;
}

export function findSeat({ tx }: Unit, workspaceId: string, condition: SQL): SeatRow | undefined {
  return tx
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspaceId, workspaceId), condition))
    .get();
}
