/** What management may do to a membership: from which state to which, what ends with it, and who is told. */
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  findMemberWithUser,
  type MembershipStatus,
  type MemberWithUser,
  setMemberStatus,
} from '../../store/members.ts';
import { deleteReservation, hasBeenUsed } from '../../store/reservations.ts';
import { endSessions } from '../sessions/end.ts';

/** From which states an action leads where; in its target state it is repeated without effect. */
const ACTIONS = {
  ban: { from: ['active', 'paused', 'inactivated', 'left'], to: 'banned', event: 'user.banned' },
  unban: { from: ['banned'], to: 'active', event: 'user.unbanned' },
  pause: { from: ['active'], to: 'paused', event: 'user.paused' },
  resume: { from: ['paused'], to: 'active', event: 'user.resumed' },
  delete: { from: ['active', 'banned', 'paused', 'inactivated', 'left'], to: 'deleted', event: 'user.deleted' },
  restore: { from: ['deleted'], to: 'active', event: 'user.restored' },
} as const satisfies Record<string, { from: MembershipStatus[]; to: MembershipStatus; event: string }>;

export type StatusAction = keyof typeof ACTIONS;

export const STATUS_ACTIONS = Object.keys(ACTIONS) as StatusAction[];

/** What became of a membership. */
export interface StatusChange<Shown> {
  readonly isChanged: boolean;
  readonly shown: Shown;
}

/**
 * Bans, pauses, deletes or lets back. Leaving `active` ends every session; doing it again changes nothing. A reservation
 * that is deleted is gone. A restore gives back the state that the deletion ended. What is refused has changed nothing.
 *
 * @param show what the caller wants to know of the member as they are then; asked before a reservation is gone.
 * @throws {AppError} invalid_state
 */
export async function changeStatus<Shown>(
  unit: Unit,
  application: Application,
  { member, user }: MemberWithUser,
  { action, reason }: { readonly action: StatusAction; readonly reason?: string | undefined },
  show: (row: MemberWithUser) => Promise<Shown>,
): Promise<StatusChange<Shown>> {
  const { from, to, event } = ACTIONS[action];
  const userId = user.id;
  if (member.status === to) return { isChanged: false, shown: await show({ member, user }) };
  if (!(from as readonly string[]).includes(member.status))
    throw new AppError('invalid_state', { hint: 'user_status', values: { status: member.status, action } });
  // An admin can take back what an admin did, but not a deletion that the person asked for.
  if (action === 'restore' && user.deletedAt !== null)
    throw new AppError('invalid_state', { hint: 'user_deleted_account' });
  const restored = action === 'restore' ? (member.statusBeforeDeletion ?? 'active') : null;
  // A ban stays, for the reason that it was given.
  const isAsBefore = restored !== null && restored !== 'active';
  await setMemberStatus(unit, member.id, restored ?? to, isAsBefore ? member.reasonBeforeDeletion : reason);
  const now = await findMemberWithUser(unit, application.id, userId);
  if (!now) throw new AppError('not_found');
  const shown = await show(now);
  // What nobody has come for yet is gone: there is nobody to keep out, and nothing to bring back.
  if (to === 'deleted' && member.reservedEmail !== null && !(await hasBeenUsed(unit, member.id)))
    await deleteReservation(unit, member.id);
  if (to !== 'active') await endSessions(unit, { memberId: member.id }, to);
  // After a pause the devices work again; a ban or a deletion ends them for good.
  if (to === 'banned' || to === 'deleted') await endPersonalKeys(unit, { memberIds: [member.id] });
  const restoredTo = isAsBefore ? { status: restored } : {};
  const detail = { ...restoredTo, ...(reason !== undefined && { reason }) };
  await emit(unit, { type: event, applicationId: application.id, data: { userId, ...detail } });
  await recordAudit(unit, { kind: event, applicationId: application.id, userId, email: user.email, detail });
  return { isChanged: true, shown };
}
