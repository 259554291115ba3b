/** Codes that confirm an action on one's own account: mailed, bound to the requesting session, and single-use. */
import type { Actor } from '../../core/actor.ts';
import { isoTime, MINUTE } from '../../core/clock.ts';
import type { AuditEntry } from '../../core/audit.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import type { MailContent } from '../../mail/letter.tsx';
import { type Confirmation, accountCodeMail } from '../../mail/messages/account.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { fromApplication, queueMail } from '../../store/mails.ts';
import { requireUser } from '../../store/people.ts';
import { CODE_LIFETIME_MS, type CodeChallenges } from '../codes/code-challenge.ts';
import { codeRefusal, tooSoon } from '../codes/refusals.ts';
import type { CodeAsked, CodeGiven } from './model.ts';

export interface ConfirmationDependencies {
  readonly db: Database;
  readonly challenges: CodeChallenges;
  readonly notices: AccountNotices;
}

type Action = Confirmation['kind'];

export interface Asked {
  readonly confirmation: Confirmation;
  /** Address that gets the code; its holder has to confirm. */
  readonly email: string;
  /** Data stored with the code and handed to `carryOut` on success. */
  readonly data?: Record<string, unknown>;
  /** Mail sent in place of the code when the address cannot be used but the answer must not reveal that. */
  readonly insteadOfCode?: (application: Application) => Promise<MailContent>;
  /** Audit record written once the code is queued. */
  readonly audit?: AuditEntry['kind'];
}

export type Confirmations = ReturnType<typeof confirmationService>;

/** A code is valid once, for one action, in the session that asked for it. */
export function confirmationService({ db, challenges, notices }: ConfirmationDependencies) {
  return {
    /**
     * Queues a code.
     *
     * @param prepare runs in the same transaction; refuses by throwing, or returns the action to confirm.
     * @throws {AppError} rate_limited, unauthenticated
     */
    async ask(actor: Actor, principal: SessionPrincipal, prepare: (unit: Unit) => Promise<Asked>): Promise<CodeAsked> {
      const { applicationId, sessionId, userId } = principal;
      const outcome = await db.write(actor, async (unit) => {
        const { confirmation, email, data = {}, insteadOfCode, audit } = await prepare(unit);
        const subject = { purpose: confirmation.kind, applicationId, email };
        const issued = await challenges.issueFor(unit, subject, data, sessionId);
        if (!issued.ok) return { ...issued, now: unit.now };
        const { code, challengeId, expiresAt } = issued;
        const application = await requireApplication(unit, applicationId);
        const context = await notices.contextOf(unit, await requireUser(unit, userId), application, {
          mail: 'confirmation_code',
        });
        const lifetimeMinutes = CODE_LIFETIME_MS / MINUTE;
        const mail =
          (await insteadOfCode?.(application)) ?? accountCodeMail(context, { confirmation, code, lifetimeMinutes });
        await queueMail(unit, {
          to: email,
          ...mail,
          code: insteadOfCode ? null : code,
          expiresAt,
          origin: fromApplication(application),
        });
        if (audit) await recordAudit(unit, { kind: audit, applicationId, userId });
        return { ok: true as const, asked: { challengeId, expiresAt: isoTime(expiresAt) } };
      });
      if (!outcome.ok) throw tooSoon(outcome, outcome.now);
      return outcome.asked;
    },

    /**
     * Redeems the code and carries out the action in one transaction.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed, rate_limited, unauthenticated
     */
    async give<Result>(
      actor: Actor,
      principal: SessionPrincipal,
      { action, challengeId, code }: CodeGiven & { action: Action },
      carryOut: (unit: Unit, data: unknown) => Promise<Result>,
    ): Promise<Result> {
      const { applicationId, sessionId } = principal;
      const outcome = await db.write(actor, async (unit) => {
        const redeemed = await challenges.redeemFor(
          unit,
          { purpose: action, applicationId },
          challengeId,
          code,
          sessionId,
        );
        // A throw would roll back the count of wrong tries.
        if (!redeemed.ok) return { ...redeemed, now: unit.now };
        return { ok: true as const, result: await carryOut(unit, redeemed.data) };
      });
      if (!outcome.ok) throw codeRefusal(outcome, outcome.now);
      return outcome.result;
    },
  };
}
