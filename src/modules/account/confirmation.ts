/** Codes that a person confirms an action of their own with: mailed, bound to the session that asked, used once. */
import type { Actor } from '../../core/actor.ts';
import { isoTime, MINUTE } from '../../core/clock.ts';
import type { AuditEntry } from '../../core/audit.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import { localeToWriteIn } from '../../core/locale.ts';
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
}

type Action = Confirmation['kind'];

/** An action that a person is to confirm. */
export interface Asked {
  readonly confirmation: Confirmation;
  /** Where the code goes; the address whose holder has to confirm. */
  readonly email: string;
  /** What the code stands for, handed back when it is given. */
  readonly data?: Record<string, unknown>;
  /** Sent in place of the code, where the address cannot serve but nobody may learn that from the answer. */
  readonly insteadOfCode?: (application: Application) => MailContent;
  /** Put on record once the code is on its way. */
  readonly audit?: AuditEntry['kind'];
}

export type Confirmations = ReturnType<typeof confirmationService>;

/** A code serves the session that asked for it, for the one action, once. */
export function confirmationService({ db, challenges }: ConfirmationDependencies) {
  return {
    /**
     * Queues a code.
     *
     * @param prepare judges in the same transaction whether it may be asked for at all, and says what for.
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
        const locale = localeToWriteIn((await requireUser(unit, userId)).locale);
        const lifetimeMinutes = CODE_LIFETIME_MS / MINUTE;
        const mail =
          insteadOfCode?.(application) ?? accountCodeMail({ locale, application, confirmation, code, lifetimeMinutes });
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
     * Uses the code up and carries the action out, in one transaction.
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
        // A wrong try must be counted, so it is no exception here.
        if (!redeemed.ok) return { ...redeemed, now: unit.now };
        return { ok: true as const, result: await carryOut(unit, redeemed.data) };
      });
      if (!outcome.ok) throw codeRefusal(outcome, outcome.now);
      return outcome.result;
    },
  };
}
