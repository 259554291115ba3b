/** What a person does with their own membership of an application: puts it to rest, takes it up again, leaves. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal, speaksFor } from '../../core/principal.ts';
import type { Application } from '../../db/schema/applications.ts';
import { apiKeys, sessions as sessionTable } from '../../db/schema/credentials.ts';
import type { MembershipStatus } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { revokePersonalKeys } from '../api-keys/personal.ts';
import type { Sessions } from '../sessions/service.ts';
import { memberRefusal } from '../sign-in/complete.ts';
import { type ApplicationUser, findMember, setStatus } from '../users/members.ts';
import { isInSomeWorkspace } from '../workspace/seats.ts';
import type { MembershipState } from './model.ts';

export type MembershipAction = 'inactivate' | 'reactivate' | 'leave';

/** From which states an action leads where; in its target state it is repeated without effect. */
const ACTIONS = {
  inactivate: { from: ['active'], to: 'inactivated', event: 'user.inactivated', audit: 'account.inactivated' },
  reactivate: { from: ['inactivated', 'left'], to: 'active', event: 'user.reactivated', audit: 'account.reactivated' },
  leave: { from: ['active', 'inactivated'], to: 'left', event: 'user.left', audit: 'account.left' },
} as const satisfies Record<
  MembershipAction,
  { from: MembershipStatus[]; to: MembershipStatus; event: string; audit: string }
>;

export interface OwnMembershipDependencies {
  readonly db: Database;
  readonly sessions: Sessions;
  readonly findApplication: (id: string) => Application | undefined;
  readonly consoleId: () => string;
}

export type OwnMemberships = ReturnType<typeof ownMembershipService>;

export function ownMembershipService({ db, sessions, findApplication, consoleId }: OwnMembershipDependencies) {
  return {
    /**
     * Leaving `active` ends the membership's sessions, and leaving the application its connected devices too.
     *
     * @param applicationId one the person is a member of; a session cannot speak for its own membership once that rests.
     * @throws {AppError} not_found; invalid_state from another state; why they could not sign in, when they come back.
     */
    act(
      actor: Actor,
      principal: SessionPrincipal,
      action: MembershipAction,
      applicationId = principal.applicationId,
    ): MembershipState {
      const { from, to, event, audit } = ACTIONS[action];
      const { userId } = principal;
      return db.write(actor, (unit) => {
        const application = findApplication(applicationId);
        const member = findMember(unit, applicationId, userId);
        if (!application || !member || !speaksFor(principal, application.workspaceId)) throw new AppError('not_found');
        if (member.status === to) return { applicationId, status: to };
        if (!(from as readonly string[]).includes(member.status))
          throw new AppError('invalid_state', { message: `A membership that is ${member.status} cannot do that.` });
        if (action === 'leave') refuseLeavingSeat(unit, applicationId, userId);
        if (action === 'reactivate') {
          const refusal = memberRefusal(unit, application, userId);
          if (refusal !== null) throw new AppError(refusal);
        }
        change(unit, member, to);
        unit.emit({ type: event, applicationId, data: { userId } });
        unit.audit({ kind: audit, applicationId, userId });
        return { applicationId, status: to };
      });
    },
  };

  function change(unit: Unit, { id }: ApplicationUser, status: MembershipState['status']): void {
    setStatus(unit, id, status);
    if (status === 'active') return;
    sessions.revokeAll(unit, eq(sessionTable.applicationUserId, id), status);
    if (status === 'left') revokePersonalKeys(unit, eq(apiKeys.applicationUserId, id));
  }

  /** The console is left by leaving the workspaces it is for. */
  function refuseLeavingSeat(unit: Unit, applicationId: string, userId: string): void {
    if (applicationId === consoleId() && isInSomeWorkspace(unit, userId))
      throw new AppError('invalid_state', {
        message: 'You are a member of a workspace; have an owner take you out of it first.',
      });
  }
}
