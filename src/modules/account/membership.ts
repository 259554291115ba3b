/** Membership changes that people make themselves: inactivate, reactivate, leave. */
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { coversWorkspace } from '../../core/access-control.ts';
import type { Database, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { findApplication, findConsole } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { hasSignedIn } from '../../store/unproved-profiles.ts';
import { findMember, type MembershipStatus, setMemberStatus } from '../../store/members.ts';
import { isWorkspaceMember } from '../../store/workspace-members.ts';
import { endSessions } from '../sessions/end.ts';
import { memberRefusal } from '../sign-in/complete.ts';
import { signInRefused } from '../sign-in/refused.ts';
import type { MembershipState } from './model.ts';

export type MembershipAction = 'inactivate' | 'reactivate' | 'leave';

const ACTIONS = {
  inactivate: { from: ['active'], to: 'inactivated', event: 'user.inactivated', audit: 'account.inactivated' },
  reactivate: { from: ['inactivated', 'left'], to: 'active', event: 'user.reactivated', audit: 'account.reactivated' },
  leave: { from: ['active', 'inactivated'], to: 'left', event: 'user.left', audit: 'account.left' },
} as const satisfies Record<
  MembershipAction,
  { from: MembershipStatus[]; to: MembershipStatus; event: string; audit: string }
>;

export type OwnMemberships = ReturnType<typeof ownMembershipService>;

/** Repeating an action in its target state changes nothing and emits nothing. */
export function ownMembershipService(db: Database) {
  return {
    /**
     * Leaving `active` ends the membership's sessions; leaving the application also disconnects its devices.
     *
     * @param applicationId one the person is a member of. Reactivation needs a session of another application.
     * @throws {AppError} not_found; invalid_state from another state; on reactivation, why sign-in is refused
     */
    async act(
      actor: Actor,
      principal: SessionPrincipal,
      action: MembershipAction,
      applicationId = principal.applicationId,
    ): Promise<MembershipState> {
      const { from, to, event, audit } = ACTIONS[action];
      const { userId } = principal;
      return db.write(actor, async (unit) => {
        const application = await findApplication(unit, applicationId);
        const member = await findMember(unit, applicationId, userId);
        if (!application || !member || !coversWorkspace(principal, application.workspaceId))
          throw new AppError('not_found');
        // A reservation belongs to the person only after their first sign-in.
        if (!hasSignedIn(member)) throw new AppError('not_found');
        if (member.status === to) return { applicationId, status: to };
        if (!(from as readonly string[]).includes(member.status))
          throw new AppError('invalid_state', { hint: 'membership_status', values: { status: member.status } });
        if (action === 'leave') await refuseLeavingWorkspace(unit, applicationId, userId);
        if (action === 'reactivate') {
          const refusal = await memberRefusal(unit, application, userId);
          if (refusal !== null) throw signInRefused(refusal, application);
        }
        await change(unit, member.id, to);
        await emit(unit, { type: event, applicationId, data: { userId } });
        await recordAudit(unit, { kind: audit, applicationId, userId });
        return { applicationId, status: to };
      });
    },
  };
}

async function change(unit: Unit, memberId: string, status: MembershipState['status']): Promise<void> {
  await setMemberStatus(unit, memberId, status);
  if (status === 'active') return;
  await endSessions(unit, { memberId }, status);
  if (status === 'left') await endPersonalKeys(unit, { memberIds: [memberId] });
}

/** Refuses workspace members leaving the console; they have to be removed from the workspace instead. */
async function refuseLeavingWorkspace(unit: Unit, applicationId: string, userId: string): Promise<void> {
  if (applicationId === (await findConsole(unit))?.id && (await isWorkspaceMember(unit, userId, null)))
    throw new AppError('invalid_state', { hint: 'member_of_workspace' });
}
