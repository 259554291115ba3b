/** Archives, deletes and hides applications, each confirmed by a mailed code; and brings them back. */
import type { Actor } from '../../core/actor.ts';
import { DAY, isoTime, MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import { occurrenceOf } from '../../mail/occurrence.ts';
import { lifecycleCodeMail } from '../../mail/messages/lifecycle-code.ts';
import {
  type Application,
  findApplication,
  requireApplication,
  type TenantApplication,
  updateApplication,
} from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { fromApplication, queueMail } from '../../store/mails.ts';
import { requireUser } from '../../store/people.ts';
import { type OwnerAddress, listOwners } from '../../store/workspace-members.ts';
import type { ApplicationRecord } from '../applications/model.ts';
import { presentApplication } from '../applications/present.ts';
import { CODE_LIFETIME_MS, type CodeChallenges } from '../codes/code-challenge.ts';
import { codeRefusal, tooSoon } from '../codes/refusals.ts';
import { endSessions } from '../sessions/end.ts';
import type { LifecycleConfirmInput, LifecycleKind, LifecycleSendInput, LifecycleSent } from './model.ts';

const GRACE_MS = 90 * DAY;

interface Request {
  readonly kind: LifecycleKind;
  readonly skipGrace: boolean;
}

export interface LifecycleDependencies {
  readonly db: Database;
  readonly challenges: CodeChallenges;
}

export type Lifecycle = ReturnType<typeof lifecycleService>;

/** Every change needs a code, valid for one change of one application. */
export function lifecycleService({ db, challenges }: LifecycleDependencies) {
  /** Refuses new sign-ins by state; ends open sessions, personal keys, codes and device grants by the epoch. */
  async function carryOut(unit: Unit, application: Application, request: Request): Promise<ApplicationRecord> {
    const { id: applicationId, workspaceId } = application;
    const change = changeOf(application, request, unit.now);
    const changed = await updateApplication(unit, applicationId, change.columns);
    await endSessions(unit, { applicationId }, change.audit);
    await recordAudit(unit, { kind: change.audit, applicationId, workspaceId, targetId: applicationId });
    return presentApplication(unit, changed, unit.now);
  }

  return {
    /**
     * Mails a code to the acting member, or for a key to the workspace's owners. Changes nothing yet.
     *
     * @throws {AppError} rate_limited; invalid_state if the kind does not fit the application's state
     */
    async send(
      actor: Actor,
      principal: Principal,
      application: TenantApplication,
      input: LifecycleSendInput,
    ): Promise<LifecycleSent> {
      const request: Request = { kind: input.kind, skipGrace: input.skipGrace ?? false };
      const outcome = await db.write(actor, async (unit) => {
        changeOf(application, request, unit.now);
        const recipients = await recipientsOf(unit, principal, application);
        const [first] = recipients;
        if (first === undefined) throw new AppError('invalid_state', { hint: 'workspace_without_owner' });
        const subject = { purpose: 'lifecycle', applicationId: application.id, email: first.email } as const;
        const issued = await challenges.issueFor(unit, subject, { ...request });
        if (!issued.ok) return { ...issued, now: unit.now };
        const { challengeId, code, expiresAt } = issued;
        const content = {
          kind: request.kind,
          applicationName: application.name,
          code,
          lifetimeMinutes: CODE_LIFETIME_MS / MINUTE,
          graceDays: GRACE_MS / DAY,
        };
        for (const { email, locale, timezone } of recipients) {
          const occurrence = occurrenceOf(unit, timezone);
          const mail = lifecycleCodeMail({ locale: localeToWriteIn(locale), occurrence, ...content });
          await queueMail(unit, { to: email, ...mail, code, expiresAt, origin: fromApplication(application) });
        }
        await recordAudit(unit, {
          kind: 'application.lifecycle_requested',
          applicationId: application.id,
          workspaceId: application.workspaceId,
          targetId: application.id,
          detail: { ...request },
        });
        return { ok: true as const, sent: { challengeId, expiresAt: isoTime(expiresAt) } };
      });
      if (!outcome.ok) throw tooSoon(outcome, outcome.now);
      return outcome.sent;
    },

    /**
     * Redeems the code and carries out the change in one transaction, so that it cannot happen twice.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed, rate_limited, invalid_state
     */
    async confirm(
      actor: Actor,
      { id }: Application,
      { challengeId, code }: LifecycleConfirmInput,
    ): Promise<ApplicationRecord> {
      const outcome = await db.write(actor, async (unit) => {
        const subject = { purpose: 'lifecycle', applicationId: id } as const;
        const redeemed = await challenges.redeemFor(unit, subject, challengeId, code);
        // A throw would roll back the count of wrong tries.
        if (!redeemed.ok) return { ...redeemed, now: unit.now };
        const application = await requireApplication(unit, id);
        return { ok: true as const, record: await carryOut(unit, application, redeemed.data as Request) };
      });
      if (!outcome.ok) throw codeRefusal(outcome, outcome.now);
      return outcome.record;
    },

    /** A deleted application has to be restored first. @throws {AppError} invalid_state unless archived. */
    unarchive: (actor: Actor, application: Application) =>
      bringBack(actor, application, {
        isAway: ({ archivedAt, deletedAt }) => archivedAt !== null && deletedAt === null,
        columns: { archivedAt: null },
        audit: 'application.unarchived',
        refusal: 'application_not_archived',
      }),

    /** Makes the application active, archived before or not. @throws {AppError} invalid_state unless deleted. */
    restore: (actor: Actor, application: Application) =>
      bringBack(actor, application, {
        isAway: ({ deletedAt }) => deletedAt !== null,
        columns: { archivedAt: null, deletedAt: null, purgeAfter: null },
        audit: 'application.restored',
        refusal: 'application_not_deleted',
      }),
  };

  function bringBack(actor: Actor, { id, workspaceId }: Application, way: WayBack): Promise<ApplicationRecord> {
    return db.write(actor, async (unit) => {
      const application = await findApplication(unit, id);
      if (!application || !way.isAway(application)) throw new AppError('invalid_state', { hint: way.refusal });
      const changed = await updateApplication(unit, id, way.columns);
      await recordAudit(unit, { kind: way.audit, applicationId: id, workspaceId, targetId: id });
      return presentApplication(unit, changed, unit.now);
    });
  }
}

interface WayBack {
  readonly isAway: (application: Application) => boolean;
  readonly columns: Partial<Pick<Application, 'archivedAt' | 'deletedAt' | 'purgeAfter'>>;
  readonly audit: 'application.unarchived' | 'application.restored';
  readonly refusal: 'application_not_archived' | 'application_not_deleted';
}

async function recipientsOf(
  unit: Unit,
  principal: Principal,
  { workspaceId }: TenantApplication,
): Promise<OwnerAddress[]> {
  if (principal.kind === 'key') return listOwners(unit, workspaceId);
  return [await requireUser(unit, principal.userId)];
}

/** Implements the contract's table of transitions. @throws {AppError} invalid_state */
function changeOf({ archivedAt, deletedAt, purgeAfter }: Application, { kind, skipGrace }: Request, now: number) {
  const isHidden = deletedAt !== null && purgeAfter !== null && purgeAfter <= now;
  if (kind === 'archive') {
    if (archivedAt !== null || deletedAt !== null)
      throw new AppError('invalid_state', { hint: 'application_not_active' });
    return { audit: 'application.archived', columns: { archivedAt: now } } as const;
  }
  if (kind === 'delete' && deletedAt !== null) throw new AppError('invalid_state', { hint: 'application_deleted' });
  if (kind === 'hide_now' && (isHidden || (deletedAt === null && !skipGrace)))
    throw new AppError('invalid_state', { hint: isHidden ? 'application_hidden' : 'application_not_in_grace' });
  if (kind === 'delete' && !skipGrace)
    return { audit: 'application.deleted', columns: { deletedAt: now, purgeAfter: now + GRACE_MS } } as const;
  return { audit: 'application.hidden', columns: { deletedAt: deletedAt ?? now, purgeAfter: now } } as const;
}
