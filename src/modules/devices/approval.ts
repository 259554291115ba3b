/** The person's side of the device grant: looking up a user code claims it, and only the claim's holder decides. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import { AppError } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import { formatUserCode, normalizeUserCode } from '../../core/user-code.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type DeviceGrant, findDeviceGrantByUserCode, updateDeviceGrant } from '../../store/device-grants.ts';
import { requireMemberById } from '../../store/members.ts';
import { findSession, type Session } from '../../store/sessions.ts';
import { listWorkspaces } from '../../store/workspaces.ts';
import { requireFresh } from '../sign-in/step-up.ts';
import type { PersonalKeys } from './personal-keys.ts';
import { asItStands, refusalToMember } from './grants.ts';
import { defaultDaysOf, keyEnd } from './key-days.ts';
import type { DeviceDecision, DeviceRequest } from './model.ts';

export interface DeviceApprovalDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly instanceKey: InstanceKey;
  readonly personalKeys: PersonalKeys;
}

const DECISIONS = { approved: 'device.approved', denied: 'device.denied' } as const;
export type Decision = keyof typeof DECISIONS;

export type DeviceApproval = ReturnType<typeof deviceApprovalService>;

/** Returns null both for unknown codes and for codes of other people: they must look and count the same. */
export function deviceApprovalService(dependencies: DeviceApprovalDependencies) {
  const { db, clock, instanceKey, personalKeys } = dependencies;

  /** Finds the unexpired grant of a code, with its application. */
  async function findAlive(reader: Reader, code: string, now: number): Promise<AliveGrant | null> {
    const grant = await findDeviceGrantByUserCode(reader, Buffer.from(instanceKey.derive('user code', code)));
    if (!grant || grant.expiresAt <= now) return null;
    const application = await requireApplication(reader, grant.applicationId);
    return { grant: asItStands(grant, application), application };
  }

  /** Finds the grant as this session may see it, and whether another session holds the claim. */
  async function find(unit: Unit, principal: SessionPrincipal, code: string): Promise<SeenGrant | null> {
    const alive = await findAlive(unit, code, unit.now);
    if (alive?.application.id !== principal.applicationId) return null;
    const claim = await claimOf(unit, alive.grant);
    if (claim && claim.applicationUserId !== principal.applicationUserId) return null;
    return { ...alive, isHeldElsewhere: claim !== null && claim.id !== principal.sessionId };
  }

  return {
    /** Returns the application where the person has to sign in first. Callers must rate limit guesses. */
    async applicationOf(typed: string): Promise<Application | null> {
      const code = normalizeUserCode(typed);
      const alive = code === null ? null : await findAlive(db.reader, code, clock.now());
      return alive?.application ?? null;
    },

    /** Claims the request and returns it. The person's latest session wins, since pages are reopened after sign-in. */
    async look(actor: Actor, principal: SessionPrincipal, typed: string): Promise<DeviceRequest | null> {
      const code = normalizeUserCode(typed);
      if (code === null) return null;
      return db.write(actor, async (unit) => {
        const seen = await find(unit, principal, code);
        if (!seen) return null;
        if (seen.grant.claimedSessionId !== principal.sessionId)
          await updateDeviceGrant(unit, seen.grant.id, { claimedSessionId: principal.sessionId });
        const keyEndsAt = keyEnd(unit.now, seen.grant.keyDays, defaultDaysOf(seen.application));
        return present(seen, code, { grants: await grantsOf(unit, principal), keyEndsAt });
      });
    },

    /**
     * Approves or denies for good, claiming an unclaimed code; repeating the decision changes nothing.
     *
     * @throws {AppError} invalid_state; on approval also reauthentication_required, and why sign-in is refused
     */
    async decide(
      actor: Actor,
      principal: SessionPrincipal,
      typed: string,
      decision: Decision,
    ): Promise<DeviceDecision | null> {
      const code = normalizeUserCode(typed);
      if (code === null) return null;
      return db.write(actor, async (unit) => {
        const seen = await find(unit, principal, code);
        if (!seen) return null;
        const { grant, application, isHeldElsewhere } = seen;
        if (isHeldElsewhere) throw new AppError('invalid_state', { hint: 'device_request_open_elsewhere' });
        if (grant.status === decision) return { status: decision };
        // The key outlives the session, so a stolen or unattended session must not suffice.
        if (decision === 'approved') await requireFresh(unit, principal);
        if (grant.status !== 'pending') throw new AppError('invalid_state', { hint: `device_${grant.status}` });
        const { applicationUserId, sessionId, userId } = principal;
        if (decision === 'approved') {
          const member = await requireMemberById(unit, applicationUserId);
          const refusal = await refusalToMember(unit, application, member);
          if (refusal !== null) throw new AppError(refusal);
          await personalKeys.refuseFurther(unit, userId);
        }
        await updateDeviceGrant(unit, grant.id, {
          status: decision,
          claimedSessionId: sessionId,
          applicationUserId,
          decidedAt: unit.now,
        });
        await recordAudit(unit, {
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

interface AliveGrant {
  readonly grant: DeviceGrant;
  readonly application: Application;
}

interface SeenGrant extends AliveGrant {
  readonly isHeldElsewhere: boolean;
}

/** Returns the session holding the claim. If it ends before the decision, anyone with the code can claim it. */
async function claimOf(unit: Unit, { claimedSessionId, status }: DeviceGrant): Promise<Session | null> {
  const claim = claimedSessionId === null ? undefined : await findSession(unit, claimedSessionId);
  if (!claim) return null;
  const isOver = claim.isRevoked || claim.expiresAt <= unit.now;
  return isOver && status === 'pending' ? null : claim;
}

/** Rights that a key of a person would have now. */
export interface KeyRights extends Omit<DeviceRequest['grants'], 'workspaces'> {
  readonly workspaces: { workspaceId: string; name: string; role: SessionPrincipal['workspaces'][number]['role'] }[];
}

export async function grantsOf(
  reader: Reader,
  { identity: { envelope }, workspaces: seats }: SessionPrincipal,
): Promise<KeyRights> {
  const { userId, email, name, roles, scopes, memberships } = envelope;
  const ids = seats.map(({ workspaceId }) => workspaceId);
  const names = new Map((await listWorkspaces(reader, ids)).map((workspace) => [workspace.id, workspace.name]));
  return {
    actsAs: { userId, email, name: name === '' ? null : name },
    roles,
    scopes,
    memberships,
    workspaces: seats.map(({ workspaceId, role }) => ({
      workspaceId,
      name: required(names.get(workspaceId), `workspace ${workspaceId}`),
      role,
    })),
  };
}

function present(
  { grant, application: { id, clientId, name, logoUrl } }: AliveGrant,
  code: string,
  { grants, keyEndsAt }: { readonly grants: DeviceRequest['grants']; readonly keyEndsAt: number | null },
): DeviceRequest {
  const { status, deviceName, ip, ipCountry, userAgent, createdAt, expiresAt } = grant;
  return {
    userCode: formatUserCode(code),
    status,
    application: { id, clientId, name, logoUrl },
    device: { name: deviceName ?? deviceNameOf(userAgent), ip, ipCountry, userAgent },
    grants,
    keyEndsAt: isoTime(keyEndsAt),
    requestedAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  };
}
