/** Sign-in by an e-mailed code: sends codes, and exchanges them through `completeSignIn`. */
import type { Actor } from '../../core/actor.ts';
import { isoTime, MINUTE, SECOND } from '../../core/clock.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { canonicalLocale, canonicalTimeZone } from '../../core/language.ts';
import { localeToWriteIn, preferredLocale } from '../../core/locale.ts';
import type { Database, Unit, WriteOptions } from '../../db/database.ts';
import { LIMITS } from '../../http/limits.ts';
import type { LimitState } from '../../http/rate-limit.ts';
import { applicationSender } from '../../mail/application-sender.ts';
import { occurrenceOf } from '../../mail/occurrence.ts';
import { signInCodeMail } from '../../mail/messages/sign-in-code.ts';
import { type Application, findApplicationByClientId, requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findChallenge } from '../../store/codes.ts';
import { fromApplication, queueMail } from '../../store/mails.ts';
import { findMailLine } from '../../store/mail-lines.ts';
import { findUserIdByEmail } from '../../store/members.ts';
import { localeAndZoneShownTo } from '../../store/reservations.ts';
import { findUserByEmail } from '../../store/people.ts';
import type { WaitlistStandings } from '../beta/standing.ts';
import type { Sessions } from '../sessions/service.ts';
import { type BrowserOf, CODE_LIFETIME_MS, type CodeChallenges, type WrongCode } from '../codes/code-challenge.ts';
import { codeRefusal, tooSoon } from '../codes/refusals.ts';
import { completeSignIn } from './complete.ts';
import { mayWait, signInRefused } from './refused.ts';
import { openApplication } from './open-application.ts';
import type { CodeSent, SendCodeInput, SignedIn, VerifyCodeInput } from './model.ts';

export interface OtpDependencies {
  readonly db: Database;
  readonly challenges: CodeChallenges;
  readonly sessions: Sessions;
  readonly standings: Pick<WaitlistStandings, 'ofProvedAddress'>;
  readonly baseUrl: () => string;
}

export interface SendResult {
  readonly data: CodeSent;
  /** The state of the e-mail's rate limit; null if there is none. */
  readonly limit: LimitState | null;
}

export interface AskingForCode {
  readonly browserOf: BrowserOf;
  /** Asked for by a hosted page, so that other applications may continue the sign-in. */
  readonly isOfPage: boolean;
}

/** A sign-in by code, and whether the code's mail said that it opens other applications too. */
export interface CodeSignIn {
  readonly signedIn: SignedIn;
  readonly isOfPage: boolean;
}

export interface SigningIn {
  readonly userAgent: string | null;
  readonly acceptLanguage: string | null;
  readonly browserOf: BrowserOf;
  readonly pageBrowser: BrowserOf | null;
}

/**
 * Codes are limited by address, so only changes for the same address need wait for each other. As `serializable`
 * changes, those for all addresses would conflict: new rows share few pages of their indexes.
 */
const withCodesTo = (email: string): WriteOptions => ({
  isolation: 'read committed',
  isDurable: true,
  lock: `codes to ${email}`,
});

export type Otp = ReturnType<typeof otpService>;

export function otpService({ db, challenges, sessions, standings, baseUrl }: OtpDependencies) {
  return {
    /** Answers alike for known and unknown addresses. Says `sent` only if the mail was queued in the same change. */
    async send(
      actor: Actor,
      { email: text, clientId = CONSOLE_CLIENT_ID, locale }: SendCodeInput,
      { browserOf, isOfPage }: AskingForCode,
    ): Promise<SendResult> {
      const email = normalizeEmail(text);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      const application = openApplication(await findApplicationByClientId(db.reader, clientId), 'otp');
      const outcome = await db.write(
        actor,
        async (unit) => {
          const subject = { purpose: 'sign_in', applicationId: application.id, email } as const;
          const issued = await challenges.issue(unit, subject, browserOf, {
            locale: canonicalLocale(locale ?? ''),
            ...(isOfPage && { isOfPage }),
          });
          if (!issued.ok) return { ...issued, now: unit.now };
          if (issued.code === null) return issued;
          const person = await findUserByEmail(unit, email);
          const shown = await localeAndZoneShownTo(unit, application.workspaceId, person);
          const language = localeToWriteIn(shown.locale, locale);
          const place = { applicationId: application.id, mail: 'sign_in_code', locale: language } as const;
          const mail = signInCodeMail({
            locale: language,
            line: (await findMailLine(unit, place)) ?? null,
            occurrence: occurrenceOf(unit, shown.timezone),
            application: applicationSender(application, baseUrl()),
            code: issued.code,
            lifetimeMinutes: CODE_LIFETIME_MS / MINUTE,
            host: new URL(baseUrl()).hostname,
            isOfPage: isOfPage && application.workspaceId !== null,
          });
          const { code, expiresAt } = issued;
          await queueMail(unit, { to: email, ...mail, code, expiresAt, origin: fromApplication(application) });
          await recordAudit(unit, {
            kind: 'signin.code_sent',
            applicationId: application.id,
            workspaceId: application.workspaceId,
            email,
          });
          return issued;
        },
        withCodesTo(email),
      );
      if (!outcome.ok) throw tooSoon(outcome, outcome.now);
      return {
        data: {
          challengeId: outcome.challengeId,
          expiresAt: isoTime(outcome.expiresAt),
          resendAfter: isoTime(outcome.resendAfter),
          sent: outcome.code !== null,
        },
        limit: outcome.standing && {
          isAllowed: true,
          ...outcome.standing,
          resetSeconds: LIMITS.codesPerEmail.windowMs / SECOND,
        },
      };
    },

    /**
     * Exchanges a right code for a session, exactly once even for concurrent calls.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed, rate_limited, or a sign-in refusal.
     */
    async verify(actor: Actor, given: VerifyCodeInput, browser: SigningIn): Promise<CodeSignIn> {
      const { userAgent, acceptLanguage, browserOf, pageBrowser } = browser;
      const timezone = canonicalTimeZone(given.timezone ?? '');
      const presented = await findChallenge(db.reader, 'sign_in', given.challengeId);
      if (!presented) throw new AppError('code_invalid');
      const outcome = await db.write(
        actor,
        async (unit) => {
          const [redeemed, application] = await Promise.all([
            challenges.redeem(unit, 'sign_in', presented, given.code, browserOf),
            requireApplication(unit, presented.applicationId),
          ]);
          if (!redeemed.ok) {
            if (redeemed.wrong) await recordWrongCode(unit, application, redeemed.wrong);
            return { redeemed, now: unit.now };
          }
          const person = { email: redeemed.subject.email, isEmailProven: true };
          const sent = redeemed.data?.['locale'];
          const locale = typeof sent === 'string' ? sent : preferredLocale(acceptLanguage);
          const browserLocale = { locale, timezone };
          const identity = { person, method: 'otp', userAgent, pageBrowser, browserLocale } as const;
          const isOfPage = redeemed.data?.['isOfPage'] === true;
          return { signIn: await completeSignIn(unit, sessions, application, identity), application, isOfPage };
        },
        withCodesTo(presented.email),
      );
      if (outcome.redeemed) throw codeRefusal(outcome.redeemed, outcome.now);
      if (!outcome.signIn.ok) {
        const { signIn, application } = outcome;
        const interest = mayWait(signIn.refusal, application)
          ? await standings.ofProvedAddress(application.id, presented.email)
          : undefined;
        throw signInRefused(signIn.refusal, application, interest);
      }
      const { token, expiresAt, userId, applicationId } = outcome.signIn;
      const { isOfPage } = outcome;
      return { signedIn: { token, expiresAt: isoTime(expiresAt), userId, applicationId }, isOfPage };
    },
  };
}

/** Names the person only to an application they are a member of: others must not learn that the address exists. */
async function recordWrongCode(
  unit: Unit,
  application: Application,
  { subject, pausedUntil }: WrongCode,
): Promise<void> {
  const userId = await findUserIdByEmail(unit, { applicationId: application.id, email: subject.email });
  await recordAudit(unit, {
    kind: 'signin.code_refused',
    ok: false,
    applicationId: application.id,
    workspaceId: application.workspaceId,
    ...(userId !== undefined && { userId, email: subject.email }),
    detail: { reason: 'code_invalid', ...(pausedUntil !== null && { pausedUntil: isoTime(pausedUntil) }) },
  });
}
