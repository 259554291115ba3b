/** Archiving, deleting and hiding an application, each behind a code sent by mail; and the way back. */
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { DAY, isoTime, MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Principal } from '../../core/principal.ts';
import { type Application, applications } from '../../db/schema/applications.ts';
import { apiKeys, sessions as sessionTable } from '../../db/schema/credentials.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { lifecycleCodeMail } from '../../mail/messages/lifecycle-code.ts';
import { revokePersonalKeys } from '../api-keys/personal.ts';
import type { Applications } from '../applications/service.ts';
import type { ApplicationRecord } from '../applications/model.ts';
import { CODE_LIFETIME_MS, type CodeChallenges, dropOpenCodes } from '../codes/code-challenge.ts';
import { codeRefusal, tooSoon } from '../codes/refusals.ts';
import { dropDeviceGrants } from '../device/grants.ts';
import type { Sessions } from '../sessions/service.ts';
import { findUser } from '../users/members.ts';
import type { Workspaces } from '../workspace/service.ts';
import type { LifecycleConfirmInput, LifecycleKind, LifecycleSendInput, LifecycleSent } from './model.ts';

const GRACE_MS = 90 * DAY;

/** What a code was asked for. */
interface Request {
  readonly kind: LifecycleKind;
  readonly skipGrace: boolean;
}

export interface LifecycleDependencies {
  readonly db: Database;
  readonly applications: Applications;
  readonly challenges: CodeChallenges;
  readonly sessions: Sessions;
  readonly workspaces: Workspaces;
}

export type Lifecycle = ReturnType<typeof lifecycleService>;

export function lifecycleService({
  db,
  applications: records,
  challenges,
  sessions,
  workspaces,
}: LifecycleDependencies) {
  /** New sign-ins are refused by state; what is open already ends here. */
  function cutOff(unit: Unit, applicationId: string, reason: string): void {
    sessions.revokeAll(
      unit,
      sql`${sessionTable.applicationUserId} IN (SELECT id FROM application_users WHERE application_id = ${applicationId})`,
      reason,
    );
    dropOpenCodes(unit, applicationId, 'sign_in');
    revokePersonalKeys(unit, eq(apiKeys.applicationId, applicationId));
    dropDeviceGrants(unit, applicationId);
  }

  function carryOut(unit: Unit, application: Application, request: Request): ApplicationRecord {
    const change = changeOf(application, request, unit.now);
    const [changed] = unit.tx
      .update(applications)
      .set({ ...change.columns, updatedAt: unit.now })
      .where(eq(applications.id, application.id))
      .returning()
      .all();
    cutOff(unit, application.id, change.audit);
    unit.audit({
      kind: change.audit,
      applicationId: application.id,
      workspaceId: application.workspaceId,
      targetId: application.id,
    });
    return records.present(changed!);
  }

  return {
    /**
     * Mails a code to the acting member, or for a key to the workspace's owners. Changes nothing yet.
     *
     * @throws {AppError} invalid_state where the kind does not fit the application's state; rate_limited.
     */
    send(actor: Actor, principal: Principal, application: Application, input: LifecycleSendInput): LifecycleSent {
      const request: Request = { kind: input.kind, skipGrace: input.skipGrace ?? false };
      const outcome = db.write(actor, (unit) => {
        changeOf(application, request, unit.now);
        const recipients =
          principal.kind !== 'key'
            ? [findUser(unit, principal.userId)!.email]
            : workspaces.ownerEmails(unit, application.workspaceId!);
        const [first] = recipients;
        if (first === undefined)
          throw new AppError('invalid_state', { message: 'The workspace has no owner to send the code to.' });
        const subject = { purpose: 'lifecycle', applicationId: application.id, email: first } as const;
        const issued = challenges.issueFor(unit, subject, { ...request });
        if (!issued.ok) return { ...issued, waitMs: issued.retryAt - unit.now };
        const { challengeId, code, expiresAt } = issued;
        const mail = lifecycleCodeMail({
          kind: request.kind,
          applicationName: application.name,
          code,
          lifetimeMinutes: CODE_LIFETIME_MS / MINUTE,
        });
        for (const to of recipients) unit.mail({ to, ...mail, code, expiresAt });
        unit.audit({
          kind: 'application.lifecycle_requested',
          applicationId: application.id,
          workspaceId: application.workspaceId,
          targetId: application.id,
          detail: { ...request },
        });
        return { ok: true as const, sent: { challengeId, expiresAt: isoTime(expiresAt) } };
      });
      if (!outcome.ok) throw tooSoon(outcome.reason, outcome.waitMs);
      return outcome.sent;
    },

    /**
     * Uses the code up and carries the change out in one transaction, so that it cannot happen twice.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed, rate_limited, invalid_state
     */
    confirm(actor: Actor, { id }: Application, { challengeId, code }: LifecycleConfirmInput): ApplicationRecord {
      const outcome = db.write(actor, (unit) => {
        const subject = { purpose: 'lifecycle', applicationId: id } as const;
        const redeemed = challenges.redeemFor(unit, subject, challengeId, code);
        // A wrong try must be counted, so it is no exception here.
        if (!redeemed.ok) return { ...redeemed, now: unit.now };
        return { ok: true as const, record: carryOut(unit, records.find(id)!, redeemed.data as Request) };
      });
      if (!outcome.ok) throw codeRefusal(outcome, outcome.now);
      return outcome.record;
    },

    /** @throws {AppError} invalid_state unless archived. */
    unarchive: (actor: Actor, application: Application) =>
      bringBack(actor, application, isNotNull(applications.archivedAt), { archivedAt: null }, 'application.unarchived'),

    /** @throws {AppError} invalid_state unless deleted. */
    restore: (actor: Actor, application: Application) =>
      bringBack(
        actor,
        application,
        isNotNull(applications.deletedAt),
        { deletedAt: null, purgeAfter: null },
        'application.restored',
      ),
  };

  function bringBack(
    actor: Actor,
    { id, workspaceId }: Application,
    isAway: ReturnType<typeof isNotNull>,
    columns: Partial<Application>,
    audit: 'application.unarchived' | 'application.restored',
  ): ApplicationRecord {
    return db.write(actor, (unit) => {
      // What is both archived and deleted is restored first.
      const isNotDeleted = audit === 'application.unarchived' ? isNull(applications.deletedAt) : undefined;
      const [changed] = unit.tx
        .update(applications)
        .set({ ...columns, updatedAt: unit.now })
        .where(and(eq(applications.id, id), isAway, isNotDeleted))
        .returning()
        .all();
      if (!changed)
        throw new AppError('invalid_state', {
          message:
            audit === 'application.unarchived'
              ? 'Only an archived application that is not deleted can be unarchived.'
              : 'Only a deleted application can be restored.',
        });
      unit.audit({ kind: audit, applicationId: id, workspaceId, targetId: id });
      return records.present(changed);
    });
  }
}

/** The contract's table of transitions. @throws {AppError} invalid_state */
function changeOf({ archivedAt, deletedAt, purgeAfter }: Application, { kind, skipGrace }: Request, now: number) {
  const isHidden = deletedAt !== null && purgeAfter !== null && purgeAfter <= now;
  if (kind === 'archive') {
    if (archivedAt !== null || deletedAt !== null)
      throw new AppError('invalid_state', { message: 'Only an active application can be archived.' });
    return { audit: 'application.archived', columns: { archivedAt: now } } as const;
  }
  if (kind === 'delete' && deletedAt !== null)
    throw new AppError('invalid_state', { message: 'This application is deleted already.' });
  if (kind === 'hide_now' && (isHidden || (deletedAt === null && !skipGrace)))
    throw new AppError('invalid_state', {
      message: isHidden
        ? 'This application is hidden already.'
        : 'Only a deleted application in its grace can be hidden.',
    });
  if (kind === 'delete' && !skipGrace)
    return { audit: 'application.deleted', columns: { deletedAt: now, purgeAfter: now + GRACE_MS } } as const;
  return { audit: 'application.hidden', columns: { deletedAt: deletedAt ?? now, purgeAfter: now } } as const;
}
