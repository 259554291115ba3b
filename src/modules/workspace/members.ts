/** The members of a workspace: invited by mail, given roles, taken out; never without an owner. */
import { and, asc, eq, gt } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { apiKeys, sessions as sessionTable } from '../../db/schema/credentials.ts';
import { users } from '../../db/schema/users.ts';
import { workspaceMembers, type WorkspaceRole } from '../../db/schema/workspace-members.ts';
import { workspaces } from '../../db/schema/workspaces.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { invitationMail } from '../../mail/messages/invitation.ts';
import { revokePersonalKeys } from '../api-keys/personal.ts';
import type { Sessions } from '../sessions/service.ts';
import { findMember, setStatus } from '../users/members.ts';
import type { MemberRecord } from './model.ts';
import { ensureSeat, findSeat, insertSeat, type SeatRow } from './seats.ts';

/** Who changes the members: a key has no role, and so is no owner. */
export interface MemberCaller {
  readonly role: WorkspaceRole | null;
}

export interface MemberDependencies {
  readonly db: Database;
  readonly sessions: Sessions;
  readonly consoleId: () => string;
  readonly baseUrl: () => string;
}

const INVITATION_MAIL_LIFETIME_MS = 3 * DAY;

export type Members = ReturnType<typeof memberService>;

export function memberService({ db, sessions, consoleId, baseUrl }: MemberDependencies) {
  function memberOf(unit: Unit, workspaceId: string, memberId: string): SeatRow {
    const member = findSeat(unit, workspaceId, eq(workspaceMembers.id, memberId));
    if (!member) throw new AppError('not_found');
    return member;
  }

  return {
    /** In the order they joined. */
    list(workspaceId: string, { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): Page<MemberRecord> {
      const rows = db.orm
        .select({ member: workspaceMembers, email: users.email })
        .from(workspaceMembers)
        .innerJoin(users, eq(users.id, workspaceMembers.userId))
        .where(
          and(
            eq(workspaceMembers.workspaceId, workspaceId),
            cursor === undefined ? undefined : gt(workspaceMembers.id, decodeCursor(cursor, ['string'])[0]),
          ),
        )
        .orderBy(asc(workspaceMembers.id))
        .limit(limit + 1)
        .all();
      return pageOf(
        rows,
        limit,
        ({ member }) => [member.id],
        ({ member, email }) => presentMember(member, email),
      );
    },

    /**
     * Makes the holder of an address a member and tells them by mail. Inviting a member again changes nothing.
     *
     * @throws {AppError} invalid_request; forbidden where an owner is to be made by somebody who is none; conflict where
     * they are a member with another role.
     */
    invite(
      actor: Actor,
      caller: MemberCaller,
      workspaceId: string,
      input: { email: string; role: WorkspaceRole },
    ): MemberRecord {
      const email = normalizeEmail(input.email);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      if (input.role === 'owner') requireOwner(caller);
      return db.write(actor, (unit) => {
        const { userId } = ensureSeat(unit, consoleId(), email);
        const known = findSeat(unit, workspaceId, eq(workspaceMembers.userId, userId));
        if (known && known.role !== input.role)
          throw new AppError('conflict', {
            message: `They are a member already, as ${known.role}; change the role instead.`,
          });
        if (known) return presentMember(known, email);
        const member = insertSeat(unit, workspaceId, userId, input.role);
        const workspace = unit.tx.select().from(workspaces).where(eq(workspaces.id, workspaceId)).get()!;
        const mail = invitationMail({ workspaceName: workspace.name, role: input.role, url: `${baseUrl()}/sign-in` });
        unit.mail({ to: email, ...mail, code: null, expiresAt: unit.now + INVITATION_MAIL_LIFETIME_MS });
        unit.audit({
          kind: 'workspace.member_invited',
          workspaceId,
          userId,
          email,
          targetId: member.id,
          detail: { role: input.role },
        });
        return presentMember(member, email);
      });
    },

    /** @throws {AppError} not_found; forbidden; invalid_state where it would leave no owner. */
    changeRole(
      actor: Actor,
      caller: MemberCaller,
      workspaceId: string,
      memberId: string,
      role: WorkspaceRole,
    ): MemberRecord {
      return db.write(actor, (unit) => {
        const member = memberOf(unit, workspaceId, memberId);
        if (member.role === 'owner' || role === 'owner') requireOwner(caller);
        if (member.role === 'owner' && role !== 'owner') refuseLastOwner(unit, workspaceId);
        const [changed] = unit.tx
          .update(workspaceMembers)
          .set({ role })
          .where(eq(workspaceMembers.id, memberId))
          .returning()
          .all();
        unit.audit({
          kind: 'workspace.member_changed',
          workspaceId,
          userId: member.userId,
          targetId: memberId,
          detail: { from: member.role, to: role },
        });
        return presentMember(changed!, emailOf(unit, member.userId));
      });
    },

    /**
     * Takes a member out. Who is then in no workspace is signed out of the console and cannot come back.
     *
     * @throws {AppError} not_found; forbidden; invalid_state where it would leave no owner.
     */
    remove(actor: Actor, caller: MemberCaller, workspaceId: string, memberId: string): { id: string } {
      return db.write(actor, (unit) => {
        const member = memberOf(unit, workspaceId, memberId);
        if (member.role === 'owner') {
          requireOwner(caller);
          refuseLastOwner(unit, workspaceId);
        }
        unit.tx.delete(workspaceMembers).where(eq(workspaceMembers.id, memberId)).run();
        const isElsewhere = unit.tx
          .select()
          .from(workspaceMembers)
          .where(eq(workspaceMembers.userId, member.userId))
          .get();
        const seat = findMember(unit, consoleId(), member.userId);
        if (!isElsewhere && seat) {
          setStatus(unit, seat.id, 'banned', 'removed from the workspace');
          sessions.revokeAll(unit, eq(sessionTable.applicationUserId, seat.id), 'removed_from_workspace');
          revokePersonalKeys(unit, eq(apiKeys.applicationUserId, seat.id));
          unit.emit({ type: 'user.banned', applicationId: consoleId(), data: { userId: member.userId } });
        }
        unit.audit({ kind: 'workspace.member_removed', workspaceId, userId: member.userId, targetId: memberId });
        return { id: memberId };
      });
    },
  };
}

function requireOwner({ role }: MemberCaller): void {
  if (role !== 'owner')
    throw new AppError('forbidden', { message: 'Only an owner can make, change or remove an owner.' });
}

function refuseLastOwner({ tx }: Unit, workspaceId: string): void {
  const owners = tx
    .select({ id: workspaceMembers.id })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspaceId, workspaceId), eq(workspaceMembers.role, 'owner')))
    .all();
  if (owners.length < 2)
    throw new AppError('invalid_state', { message: 'A workspace keeps at least one owner; make another one first.' });
}

function emailOf({ tx }: Unit, userId: string): string {
  return tx.select({ email: users.email }).from(users).where(eq(users.id, userId)).get()!.email;
}

function presentMember({ id, userId, role, createdAt }: SeatRow, email: string): MemberRecord {
  return { id, userId, email, role, createdAt: isoTime(createdAt) };
}
