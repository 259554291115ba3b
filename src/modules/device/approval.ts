/** The person's side of the device grant: looking a user code up claims it, and only who holds the claim decides. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import { AppError } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Application } from '../../db/schema/applications.ts';
import { sessions } from '../../db/schema/credentials.ts';
import { type DeviceGrant, deviceGrants } from '../../db/schema/devices.ts';
import type { Database, Orm, Unit } from '../../db/unit-of-work.ts';
import { requireFresh } from '../account/freshness.ts';
import type { PersonalKeys } from '../api-keys/personal.ts';
import type { Workspaces } from '../workspace/service.ts';
import { changeGrant, memberOf, refusalToMember } from './grants.ts';
import type { DeviceDecision, DeviceRequest } from './model.ts';
import { formatUserCode, normalizeUserCode } from '../../core/user-code.ts';

export interface DeviceApprovalDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly instanceKey: InstanceKey;
  readonly workspaces: Workspaces;
  readonly personalKeys: PersonalKeys;
  readonly findApplication: (id: string) => Application | undefined;
}

const DECISIONS = { approved: 'device.approved', denied: 'device.denied' } as const;
export type Decision = keyof typeof DECISIONS;

const DECIDED: Record<Exclude<DeviceGrant['status'], 'pending'>, string> = {
  approved: 'This request was approved already; disconnect the device once it is connected.',
  denied: 'This request was declined already; start again on the device.',
  redeemed: 'The device is connected already; disconnect it instead.',
};

export type DeviceApproval = ReturnType<typeof deviceApprovalService>;

/** A code that is nobody's, or not this person's to see, gives null: both must look the same, and count the same. */
export function deviceApprovalService(dependencies: DeviceApprovalDependencies) {
  const { db, clock, instanceKey, workspaces, personalKeys, findApplication } = dependencies;

  /** The grant behind a code that has not expired. */
  function findAlive(orm: Orm, code: string, now: number): DeviceGrant | null {
    const userCodeDigest = Buffer.from(instanceKey.derive('user code', code));
    const grant = orm.select().from(deviceGrants).where(eq(deviceGrants.userCodeDigest, userCodeDigest)).get();
    return grant && grant.expiresAt > now ? grant : null;
  }

  /** The claim of a session, unless it ended before anything was decided: then whoever has the code may decide. */
  function claimOf({ tx, now }: Unit, { claimedSessionId, status }: DeviceGrant) {
    if (claimedSessionId === null) return null;
    const claim = tx.select().from(sessions).where(eq(sessions.id, claimedSessionId)).get();
    if (!claim) return null;
    const isOver = claim.revokedAt !== null || claim.expiresAt <= now;
    return isOver && status === 'pending' ? null : claim;
  }

  /** The grant behind a code as this session may see it, with the session that holds the claim. */
  function find(unit: Unit, principal: SessionPrincipal, code: string) {
    const grant = findAlive(unit.tx, code, unit.now);
    if (grant?.applicationId !== principal.applicationId) return null;
    const claim = claimOf(unit, grant);
    if (claim && claim.applicationUserId !== principal.applicationUserId) return null;
    return { grant, isHeldElsewhere: claim !== null && claim.id !== principal.sessionId };
  }

  function grantsOf({ envelope, workspaces: seats }: SessionPrincipal): DeviceRequest['grants'] {
    const { userId, email, name, roles, scopes, memberships } = envelope;
    return {
      actsAs: { userId, email, name },
      roles,
      scopes,
      memberships,
      workspaces: seats.map(({ workspaceId, role }) => ({
        workspaceId,
        name: workspaces.get(workspaceId).name,
        role,
      })),
    };
  }

  function present(grant: DeviceGrant, code: string, principal: SessionPrincipal): DeviceRequest {
    const { id, clientId, name, logoUrl } = findApplication(grant.applicationId)!;
    const { status, deviceName, ip, ipCountry, userAgent, createdAt, expiresAt } = grant;
    return {
      userCode: formatUserCode(code),
      status,
      application: { id, clientId, name, logoUrl },
      device: { name: deviceName ?? deviceNameOf(userAgent), ip, ipCountry, userAgent },
      grants: grantsOf(principal),
      requestedAt: isoTime(createdAt),
      expiresAt: isoTime(expiresAt),
    };
  }

  return {
    /** Where the person has to sign in first. Whoever asks on behalf of strangers limits their guesses. */
    applicationOf(typed: string): Application | null {
      const code = normalizeUserCode(typed);
      const grant = code === null ? null : findAlive(db.orm, code, clock.now());
      return (grant && findApplication(grant.applicationId)) ?? null;
    },

    /**
     * What a device asks for. The session that looked last holds the claim, among those of one person: a page may be
     * opened again after signing in again.
     */
    look(actor: Actor, principal: SessionPrincipal, typed: string): DeviceRequest | null {
      const code = normalizeUserCode(typed);
      if (code === null) return null;
      return db.write(actor, (unit) => {
        const found = find(unit, principal, code);
        if (!found) return null;
        if (found.grant.claimedSessionId !== principal.sessionId)
          changeGrant(unit, found.grant.id, { claimedSessionId: principal.sessionId });
        return present(found.grant, code, principal);
      });
    },

    /**
     * Approves or declines, for good; the same decision again changes nothing. A code that nobody has looked up is
     * claimed by the way.
     *
     * @throws {AppError} invalid_state; approving also reauthentication_required, and why the person may not come in any
     * more.
     */
    decide(actor: Actor, principal: SessionPrincipal, typed: string, decision: Decision): DeviceDecision | null {
      const code = normalizeUserCode(typed);
      if (code === null) return null;
      return db.write(actor, (unit) => {
        const found = find(unit, principal, code);
        if (!found) return null;
        const { grant, isHeldElsewhere } = found;
        if (isHeldElsewhere)
          throw new AppError('invalid_state', {
            message: 'Another of your sessions has this request open; enter the code here first.',
          });
        if (grant.status === decision) return { status: decision };
        // Rights of management that outlive the session are not for one that lies around.
        if (decision === 'approved' && principal.isConsole) requireFresh(unit, principal);
        if (grant.status !== 'pending') throw new AppError('invalid_state', { message: DECIDED[grant.status] });
        const application = findApplication(grant.applicationId)!;
        const { applicationUserId, sessionId, userId } = principal;
        if (decision === 'approved') {
          const refusal = refusalToMember(unit, application, memberOf(unit, applicationUserId));
          if (refusal !== null) throw new AppError(refusal);
          personalKeys.refuseFurther(unit, userId);
        }
        changeGrant(unit, grant.id, {
          status: decision,
          claimedSessionId: sessionId,
          applicationUserId,
          decidedAt: unit.now,
        });
        unit.audit({
          kind: DECISIONS[decision],
          applicationId: application.id,
          workspaceId: application.workspaceId,
          userId,
          targetId: grant.id,
          detail: { device: grant.deviceName },
        });
        return { status: decision };
      });
    },
  };
}
