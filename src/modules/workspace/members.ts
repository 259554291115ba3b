/** The members of a workspace: invited by mail, changed and removed. One owner always remains. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { invitationMail } from '../../mail/messages/invitation.ts';
import type { MailStanding, WorkspaceMail } from '../../mail/workspace-mail.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { recordAudit } from '../../store/audit.ts';
import { listKeysMadeBy, type MadeKey } from '../../store/key-creators.ts';
import { findMember, setMemberStatus } from '../../store/members.ts';
import { listMembershipsWithApplication } from '../../store/memberships.ts';
import { findUserByEmail, requireUser } from '../../store/people.ts';
import { localeShownTo } from '../../store/reservations.ts';
import {
  deleteWorkspaceMember,
  findWorkspaceMember,
  findWorkspaceMemberById,
  hasOtherOwner,
  insertWorkspaceMember,
  isWorkspaceMember,
  pageOfWorkspaceMembers,
  type WorkspaceMemberRow,
  setWorkspaceRole,
  type WorkspaceRole,
} from '../../store/workspace-members.ts';
import { requireWorkspace } from '../../store/workspaces.ts';
import { endSessions } from '../sessions/end.ts';
import { memberRefusal } from '../sign-in/complete.ts';
import type { MemberKeyRecord, MemberRemoved, WorkspaceMemberRecord } from './model.ts';
import { inviteMember } from './invitations.ts';

/** The caller; null for a key, which is no workspace member and so no owner. */
export interface MemberCaller {
  readonly userId: string | null;
}

export interface MemberDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly mails: WorkspaceMail;
  readonly consoleId: () => string;
  readonly baseUrl: () => string;
}

const INVITATION_MAIL_LIFETIME_MS = 3 * DAY;
const MAX_KEYS_TOLD = 200;

export type Members = ReturnType<typeof memberService>;

/** Ownership is checked within the change, so that two owners cannot remove each other. */
export function memberService({ db, clock, mails, consoleId, baseUrl }: MemberDependencies) {
  async function memberOf(reader: Reader, workspaceId: string, memberId: string): Promise<WorkspaceMemberRow> {
    const member = await findWorkspaceMemberById(reader, workspaceId, memberId);
    if (!member) throw new AppError('not_found');
    return member;
  }

  /** Signs a person who is in no workspace any more out of the console, and bans them there. */
  async function closeConsole(unit: Unit, userId: string): Promise<void> {
    const seat = await findMember(unit, consoleId(), userId);
    if (!seat || (await isWorkspaceMember(unit, userId, null))) return;
    await setMemberStatus(unit, seat.id, 'banned', 'removed from the workspace');
    await endSessions(unit, { memberId: seat.id }, 'removed_from_workspace');
    await endPersonalKeys(unit, { memberIds: [seat.id] });
    await emit(unit, { type: 'user.banned', applicationId: consoleId(), data: { userId } });
  }

  /** Signs a person out of drafts and betas that were open to them only as a workspace member. */
  async function closeGuarded(unit: Unit, workspaceId: string, userId: string): Promise<void> {
    for (const { member, application } of await listMembershipsWithApplication(unit, userId)) {
      if (application.workspaceId !== workspaceId) continue;
      if ((await memberRefusal(unit, application, userId)) === null) continue;
      await endSessions(unit, { memberId: member.id }, 'removed_from_workspace');
      await endPersonalKeys(unit, { memberIds: [member.id] });
    }
  }

  return {
    /** Returns how many mails the workspace may still queue in this hour. */
    mailStanding: (workspaceId: string): Promise<MailStanding> => mails.standing(db.reader, workspaceId, clock.now()),

    /** Lists members in the order they joined. */
    async list(
      workspaceId: string,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<WorkspaceMemberRecord>> {
      const afterId = cursor === undefined ? null : decodeCursor(cursor, ['string'])[0];
      const rows = await pageOfWorkspaceMembers(db.reader, workspaceId, { afterId, limit: limit + 1 });
      return pageOf(
        rows,
        limit,
        ({ seat }) => [seat.id],
        ({ seat, email }) => presentMember(seat, email),
      );
    },

    /**
     * Makes the holder of an address a member, notified by mail. Inviting a member again changes nothing.
     *
     * @throws {AppError} invalid_request; forbidden if a non-owner makes an owner; conflict for another role;
     * rate_limited
     */
    async invite(
      actor: Actor,
      caller: MemberCaller,
      workspaceId: string,
      input: { email: string; role: WorkspaceRole },
    ): Promise<WorkspaceMemberRecord> {
      const { role } = input;
      const email = normalizeEmail(input.email);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return db.write(actor, async (unit) => {
        if (role === 'owner') await requireOwner(unit, workspaceId, caller);
        const { userId, invitedEmail } = await inviteMember(unit, { consoleId: consoleId(), workspaceId }, email);
        const known = await findWorkspaceMember(unit, workspaceId, userId);
        if (known && known.role !== role)
          throw new AppError('conflict', { hint: 'member_already', values: { role: known.role } });
        if (known) return presentMember(known, email);
        const member = await insertWorkspaceMember(unit, workspaceId, { userId, invitedEmail, role });
        const { name: workspaceName } = await requireWorkspace(unit, workspaceId);
        const person = await findUserByEmail(unit, email);
        const locale = localeToWriteIn(await localeShownTo(unit, workspaceId, person));
        const mail = invitationMail({ locale, workspaceName, role, url: `${baseUrl()}/console` });
        const expiresAt = unit.now + INVITATION_MAIL_LIFETIME_MS;
        await mails.queue(unit, workspaceId, [
          { to: email, ...mail, code: null, expiresAt, origin: { applicationId: null, workspaceId } },
        ]);
        await recordAudit(unit, {
          kind: 'workspace.member_invited',
          workspaceId,
          userId,
          email,
          targetId: member.id,
          detail: { role },
        });
        return presentMember(member, email);
      });
    },

    /** @throws {AppError} not_found; forbidden; invalid_state if no owner would be left. */
    changeRole(
      actor: Actor,
      caller: MemberCaller,
      workspaceId: string,
      memberId: string,
      role: WorkspaceRole,
    ): Promise<WorkspaceMemberRecord> {
      return db.write(actor, async (unit) => {
        const member = await memberOf(unit, workspaceId, memberId);
        const { userId } = member;
        if (member.role === 'owner' || role === 'owner') await requireOwner(unit, workspaceId, caller);
        if (member.role === 'owner' && role !== 'owner') await refuseLastOwner(unit, member);
        const changed = await setWorkspaceRole(unit, member, role);
        const email = await emailOf(unit, member);
        await recordAudit(unit, {
          kind: 'workspace.member_changed',
          workspaceId,
          userId,
          email,
          targetId: memberId,
          detail: { from: member.role, to: role },
        });
        return presentMember(changed, email);
      });
    },

    /** Lists a member's keys that would work on without the member, newest first. @throws {AppError} not_found */
    async listKeys(
      workspaceId: string,
      memberId: string,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<MemberKeyRecord>> {
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const { userId } = await memberOf(db.reader, workspaceId, memberId);
      const range = { before, limit: limit + 1, now: clock.now() };
      const keys = await listKeysMadeBy(db.reader, { workspaceId, userId }, range);
      return pageOf(keys, limit, ({ id }) => [id], presentKey);
    },

    /**
     * Removes a member. Closes the console to people left in no workspace, and drafts and betas that do not list them.
     *
     * @returns the keys they made that keep working.
     * @throws {AppError} not_found; forbidden; invalid_state if no owner would be left.
     */
    async remove(actor: Actor, caller: MemberCaller, workspaceId: string, memberId: string): Promise<MemberRemoved> {
      const removedUserId = await db.write(actor, async (unit) => {
        const member = await memberOf(unit, workspaceId, memberId);
        const { userId } = member;
        if (member.role === 'owner') {
          await requireOwner(unit, workspaceId, caller);
          await refuseLastOwner(unit, member);
        }
        const email = await emailOf(unit, member);
        await deleteWorkspaceMember(unit, member);
        await closeConsole(unit, userId);
        if (member.invitedEmail === null) await closeGuarded(unit, workspaceId, userId);
        await recordAudit(unit, { kind: 'workspace.member_removed', workspaceId, userId, email, targetId: memberId });
        return userId;
      });
      const range = { before: undefined, limit: MAX_KEYS_TOLD, now: clock.now() };
      const keys = await listKeysMadeBy(db.reader, { workspaceId, userId: removedUserId }, range);
      return { id: memberId, keys: keys.map(presentKey) };
    },
  };
}

/** Checks the role within the change: a former owner can no longer make one. */
async function requireOwner(unit: Unit, workspaceId: string, { userId }: MemberCaller): Promise<void> {
  const seat = userId === null ? undefined : await findWorkspaceMember(unit, workspaceId, userId);
  if (seat?.role !== 'owner') throw new AppError('forbidden', { hint: 'owners_by_owners' });
}

async function refuseLastOwner(unit: Unit, { workspaceId, userId }: WorkspaceMemberRow): Promise<void> {
  if (!(await hasOtherOwner(unit, { workspaceId, userId })))
    throw new AppError('invalid_state', { hint: 'last_owner' });
}

/** Returns the invited address for people who have not signed in yet. */
async function emailOf(unit: Unit, { userId, invitedEmail }: WorkspaceMemberRow): Promise<string> {
  return invitedEmail ?? (await requireUser(unit, userId)).email;
}

function presentMember({ id, userId, role, createdAt }: WorkspaceMemberRow, email: string): WorkspaceMemberRecord {
  return { id, userId, email, role, createdAt: isoTime(createdAt) };
}

function presentKey({ createdAt, lastUsedAt, ...key }: MadeKey): MemberKeyRecord {
  return { ...key, createdAt: isoTime(createdAt), lastUsedAt: isoTime(lastUsedAt) };
}
