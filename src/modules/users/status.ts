/** Status changes of a membership by management, with their sessions, keys, events and audit records. */
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
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
import { hasSignedIn } from '../../store/unproved-profiles.ts';
import { endSessions } from '../sessions/end.ts';

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

export interface StatusChange {
  readonly isChanged: boolean;
  readonly row: MemberWithUser;
}

/**
 * Bans, pauses, deletes or restores (to the status before the deletion); idempotent. Leaving `active` ends every
 * session. Imported people who never signed in are treated the same: their row blocks the address. A refusal changes
 * nothing.
 *
 * @throws {AppError} invalid_state
 */
export async function changeStatus(
  unit: Unit,
  application: Application,
  { member, user }: MemberWithUser,
  { action, reason }: { readonly action: StatusAction; readonly reason?: string | undefined },
): Promise<StatusChange> {
  const { from, to, event } = ACTIONS[action];
  const userId = user.id;
  if (member.status === to) return { isChanged: false, row: { member, user } };
  if (!(from as readonly string[]).includes(member.status))
    throw new AppError('invalid_state', { hint: 'user_status', values: { status: member.status, action } });
  // An admin can undo what an admin did, but not a deletion that the person asked for.
  if (action === 'restore' && user.deletedAt !== null)
    throw new AppError('invalid_state', { hint: 'user_deleted_account' });
  const restored = action === 'restore' ? (member.statusBeforeDeletion ?? 'active') : null;
  // A restored ban keeps its reason.
  const isAsBefore = restored !== null && restored !== 'active';
  await setMemberStatus(unit, member.id, restored ?? to, isAsBefore ? member.reasonBeforeDeletion : reason);
  if (to !== 'active') await endSessions(unit, { memberId: member.id }, to);
  // Devices work again after a pause; a ban or a deletion ends them for good.
  if (to === 'banned' || to === 'deleted') await endPersonalKeys(unit, { memberIds: [member.id] });
  const restoredTo = isAsBefore ? { status: restored } : {};
  const detail = { ...restoredTo, ...(reason !== undefined && { reason }) };
  await emit(unit, { type: event, applicationId: application.id, data: { userId, ...detail } });
  const email = user.kind === 'person' ? user.email : null;
  await recordAudit(unit, { kind: event, applicationId: application.id, userId, email, detail });
  const row = required(await findMemberWithUser(unit, application.id, userId), 'member who was changed');
  return { isChanged: true, row };
}

/** Deletes an imported person's reservation in any status. @throws {AppError} invalid_state after any use. */
export async function forgetReservation(
  unit: Unit,
  { id: applicationId }: Application,
  { member, user }: MemberWithUser,
): Promise<void> {
  if (hasSignedIn(member) || (await hasBeenUsed(unit, member.id)))
    throw new AppError('invalid_state', { hint: 'user_not_forgettable' });
  const { id: userId, email } = user;
  await deleteReservation(unit, member.id);
  await emit(unit, { type: 'user.deleted', applicationId, data: { userId, forgotten: true } });
  await recordAudit(unit, { kind: 'user.forgotten', applicationId, userId, email, detail: { status: member.status } });
}
