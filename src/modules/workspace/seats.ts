/** Seats: a person's membership of a workspace, and of the console through which they use it. */
import { and, eq, ne, type SQL } from 'drizzle-orm';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { workspaceMembers, type WorkspaceRole } from '../../db/schema/workspace-members.ts';
import { workspaces } from '../../db/schema/workspaces.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { defaultGrants } from '../grants/holders.ts';
import {
  findAliasHolder,
  findMember,
  findUserByEmail,
  insertMember,
  insertPerson,
  setStatus,
} from '../users/members.ts';

export type SeatRow = typeof workspaceMembers.$inferSelect;

/**
 * The person behind an address, able to sign in to the console. Whoever was taken out of it is let in again; who left of
 * their own comes back by signing in.
 *
 * @throws {AppError} user_deleted; email_archived for an address that somebody has given up.
 */
export function ensureSeat(unit: Unit, consoleId: string, email: string): { userId: string } {
  const known = findUserByEmail(unit, email);
  if (known && known.deletedAt !== null) throw new AppError('user_deleted');
  if (!known && findAliasHolder(unit, email)) throw new AppError('email_archived');
  const user = known ?? insertPerson(unit, email, false);
  const member = findMember(unit, consoleId, user.id);
  if (!member) insertMember(unit, consoleId, user.id, defaultGrants(unit, consoleId));
  else if (member.status === 'banned') {
    setStatus(unit, member.id, 'active');
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

export function isInSomeWorkspace({ tx }: Unit, userId: string): boolean {
  return tx.select().from(workspaceMembers).where(eq(workspaceMembers.userId, userId)).limit(1).all().length > 0;
}

/** The workspaces that would be without an owner if this person were gone. */
export function workspacesOwnedAlone({ tx }: Unit, userId: string): string[] {
  const isOwner = eq(workspaceMembers.role, 'owner');
  const owned = tx
    .select({ workspaceId: workspaceMembers.workspaceId, name: workspaces.name })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspaceId))
    .where(and(eq(workspaceMembers.userId, userId), isOwner))
    .all();
  const hasAnother = (workspaceId: string) =>
    tx
      .select()
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspaceId, workspaceId), isOwner, ne(workspaceMembers.userId, userId)))
      .get() !== undefined;
  return owned.filter(({ workspaceId }) => !hasAnother(workspaceId)).map(({ name }) => name);
}

/** Takes a person out of every workspace. */
export function removeSeats({ tx }: Unit, userId: string): void {
  tx.delete(workspaceMembers).where(eq(workspaceMembers.userId, userId)).run();
}
