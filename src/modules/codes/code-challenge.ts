/**
 * One-time codes by e-mail: issued, judged and used up. A purpose and an application are part of every look-up, so a code
 * for one never serves for another. Works inside the caller's transaction: nothing can slip between check and act.
 */
import { and, asc, desc, eq, gt, isNull, sql } from 'drizzle-orm';
import { HOUR, MINUTE, SECOND } from '../../core/clock.ts';
import { newId } from '../../core/id.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { codeChallenges, codeFailures, codePauses } from '../../db/schema/credentials.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { CODE_WINDOW_MS } from '../../http/limits.ts';

export type CodePurpose = 'sign_in' | 'lifecycle' | 'proof' | 'email_change' | 'account_deletion';

const CODE_DIGITS = 6;
export const CODE_LIFETIME_MS = 10 * MINUTE;
const RESEND_COOLDOWN_MS = 30 * SECOND;
const MAX_WRONG_TRIES = 5;
const MAX_ALIVE = 3;
/** Codes for actions in one application and window. */
const MAX_ACTIONS = 20;
/** Codes for actions of one's own in the window. */
const MAX_OWN_ACTIONS = 5;
const FAILURE_WINDOW_MS = 24 * HOUR;
const FAILURES_UNTIL_PAUSE = 20;
const PAUSE_MS = HOUR;

/** What a code is for, and whose it is. */
export interface CodeSubject {
  readonly purpose: CodePurpose;
  readonly applicationId: string;
  /** Normalised. */
  readonly email: string;
}

export interface NewChallenge {
  readonly challengeId: string;
  /** In plain text, for the mail. */
  readonly code: string;
  readonly expiresAt: number;
}

export interface IssuedCode extends NewChallenge {
  readonly resendAfter: number;
  /** How many more may be sent to this e-mail in the window. */
  readonly remaining: number;
}

export type IssueOutcome =
  | ({ readonly ok: true } & IssuedCode)
  | { readonly ok: false; readonly reason: 'paused' | 'cooling_down' | 'too_many'; readonly retryAt: number };

export type CodeRefusal = 'code_invalid' | 'code_expired' | 'code_exhausted' | 'code_consumed';

export type RedeemRefusal =
  | { readonly ok: false; readonly error: CodeRefusal }
  | { readonly ok: false; readonly error: 'rate_limited'; readonly retryAt: number };

export type RedeemOutcome = { readonly ok: true; readonly subject: CodeSubject } | RedeemRefusal;

/** The outcome of a code that confirms an action, with what the action was issued with. */
export type ActionOutcome = { readonly ok: true; readonly data: unknown } | RedeemRefusal;

export type ActionIssueOutcome =
  | ({ readonly ok: true } & NewChallenge)
  | { readonly ok: false; readonly reason: 'paused' | 'too_many'; readonly retryAt: number };

type Challenge = typeof codeChallenges.$inferSelect;

export type CodeChallenges = ReturnType<typeof codeChallengeService>;

export function codeChallengeService({ random, instanceKey }: { random: Random; instanceKey: InstanceKey }) {
  return {
    /**
     * Issues a code. Earlier unexpired ones stay valid, at most three at a time, because mails overtake each other.
     *
     * @param perEmail how many may be sent to one e-mail in 15 minutes, whatever the application.
     */
    issue(unit: Unit, subject: CodeSubject, perEmail: number): IssueOutcome {
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, reason: 'paused', retryAt: pausedUntil };
      const recent = sentTo(unit, subject);
      const last = recent.find(({ applicationId }) => applicationId === subject.applicationId);
      if (last && last.createdAt + RESEND_COOLDOWN_MS > unit.now)
        return { ok: false, reason: 'cooling_down', retryAt: last.createdAt + RESEND_COOLDOWN_MS };
      if (recent.length >= perEmail)
        return { ok: false, reason: 'too_many', retryAt: recent[perEmail - 1]!.createdAt + CODE_WINDOW_MS };
      for (const surplus of alive(unit, subject).slice(0, -(MAX_ALIVE - 1)))
        unit.tx.update(codeChallenges).set({ droppedAt: unit.now }).where(eq(codeChallenges.id, surplus.id)).run();
      const resendAfter = unit.now + RESEND_COOLDOWN_MS;
      return {
        ok: true,
        ...insert(unit, subject, { data: null, sessionId: null }),
        resendAfter,
        remaining: perEmail - recent.length - 1,
      };
    },

    /**
     * Issues a code that confirms one action, described by `data`. It may be asked for more freely than a sign-in code,
     * since the caller is known, but not without end: whoever is to confirm must not be flooded, nor the code guessed.
     *
     * @param sessionId the only session that may give it; null where anyone who may act at all may.
     */
    issueFor(
      unit: Unit,
      subject: CodeSubject,
      data: Record<string, unknown>,
      sessionId: string | null = null,
    ): ActionIssueOutcome {
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, reason: 'paused', retryAt: pausedUntil };
      const recent =
        sessionId === null
          ? sentTo(unit, subject).filter(({ applicationId }) => applicationId === subject.applicationId)
          : sentFor(unit, subject, sessionId);
      const oldest = recent[(sessionId === null ? MAX_ACTIONS : MAX_OWN_ACTIONS) - 1];
      if (oldest) return { ok: false, reason: 'too_many', retryAt: oldest.createdAt + CODE_WINDOW_MS };
      return { ok: true, ...insert(unit, subject, { data, sessionId }) };
    },

    /**
     * Judges the code of one action and uses it up. Only the code of this very challenge is right.
     *
     * @returns what the action was issued with.
     */
    redeemFor(
      unit: Unit,
      { purpose, applicationId }: Pick<CodeSubject, 'purpose' | 'applicationId'>,
      challengeId: string,
      code: string,
      sessionId: string | null = null,
    ): ActionOutcome {
      const challenge = find(unit, purpose, challengeId);
      if (challenge?.applicationId !== applicationId || challenge.sessionId !== sessionId)
        return { ok: false, error: 'code_invalid' };
      const subject = { purpose, applicationId, email: challenge.email };
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, error: 'rate_limited', retryAt: pausedUntil };
      const refusal = refusalOf(challenge, unit.now);
      if (refusal !== null) return { ok: false, error: refusal };
      if (!isRight(challenge, code)) {
        recordFailure(unit, challenge, subject);
        return { ok: false, error: 'code_invalid' };
      }
      consume(unit, challenge.id);
      return { ok: true, data: challenge.data };
    },

    /**
     * Judges a code and, when it is right, uses it up. Any code still alive for the same subject is right, since people
     * type the one that arrived; a wrong one counts against the challenge it was sent with.
     */
    redeem(unit: Unit, purpose: CodePurpose, challengeId: string, code: string): RedeemOutcome {
      const presented = find(unit, purpose, challengeId);
      if (!presented) return { ok: false, error: 'code_invalid' };
      const subject = { purpose, applicationId: presented.applicationId, email: presented.email };
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, error: 'rate_limited', retryAt: pausedUntil };
      const refusal = refusalOf(presented, unit.now);
      if (refusal !== null) return { ok: false, error: refusal };

      const matching = alive(unit, subject).filter((challenge) => isRight(challenge, code));
      const [right] = matching;
      if (!right) {
        recordFailure(unit, presented, subject);
        return { ok: false, error: 'code_invalid' };
      }
      for (const id of new Set([right.id, presented.id])) consume(unit, id);
      return { ok: true, subject };
    },
  };

  function insert(unit: Unit, subject: CodeSubject, bound: Pick<Challenge, 'data' | 'sessionId'>): NewChallenge {
    const challengeId = newId('challenge', unit.now);
    const code = random.digits(CODE_DIGITS);
    const expiresAt = unit.now + CODE_LIFETIME_MS;
    unit.tx
      .insert(codeChallenges)
      .values({
        id: challengeId,
        ...subject,
        codeDigest: Buffer.from(instanceKey.codeDigest(challengeId, code)),
        wrongTries: 0,
        createdAt: unit.now,
        expiresAt,
        ...bound,
      })
      .run();
    return { challengeId, code, expiresAt };
  }

  /** @param code as it was typed: spaces and hyphens do not count. */
  function isRight({ id, codeDigest }: Challenge, code: string): boolean {
    return equalDigests(codeDigest, instanceKey.codeDigest(id, code.replace(/[\s-]/g, '')));
  }
}

function find({ tx }: Unit, purpose: CodePurpose, challengeId: string): Challenge | undefined {
  return tx
    .select()
    .from(codeChallenges)
    .where(and(eq(codeChallenges.id, challengeId), eq(codeChallenges.purpose, purpose)))
    .get();
}

/** Why no code can serve for this challenge any more, or null. */
function refusalOf({ consumedAt, wrongTries, droppedAt, expiresAt }: Challenge, now: number): CodeRefusal | null {
  if (consumedAt !== null) return 'code_consumed';
  if (wrongTries >= MAX_WRONG_TRIES) return 'code_exhausted';
  return droppedAt !== null || expiresAt <= now ? 'code_expired' : null;
}

function consume({ tx, now }: Unit, challengeId: string): void {
  tx.update(codeChallenges).set({ consumedAt: now }).where(eq(codeChallenges.id, challengeId)).run();
}

function countWrongTry({ tx }: Unit, { id, wrongTries }: Challenge): void {
  tx.update(codeChallenges)
    .set({ wrongTries: wrongTries + 1 })
    .where(eq(codeChallenges.id, id))
    .run();
}

/** Nobody signs in with a code that was sent before the application was closed. */
export function dropOpenCodes({ tx, now }: Unit, applicationId: string, purpose: CodePurpose): void {
  tx.update(codeChallenges)
    .set({ droppedAt: now })
    .where(
      and(
        eq(codeChallenges.applicationId, applicationId),
        eq(codeChallenges.purpose, purpose),
        isNull(codeChallenges.consumedAt),
        isNull(codeChallenges.droppedAt),
      ),
    )
    .run();
}

/** Nothing that was mailed to an address serves any more, as when its holder gives it up. */
export function dropCodesTo({ tx, now }: Unit, email: string): void {
  tx.update(codeChallenges)
    .set({ droppedAt: now })
    .where(and(eq(codeChallenges.email, email), isNull(codeChallenges.consumedAt), isNull(codeChallenges.droppedAt)))
    .run();
}

/** Oldest first. */
function alive({ tx, now }: Unit, { purpose, applicationId, email }: CodeSubject): Challenge[] {
  return tx
    .select()
    .from(codeChallenges)
    .where(
      and(
        eq(codeChallenges.email, email),
        eq(codeChallenges.purpose, purpose),
        eq(codeChallenges.applicationId, applicationId),
        gt(codeChallenges.createdAt, now - CODE_LIFETIME_MS),
        gt(codeChallenges.expiresAt, now),
        isNull(codeChallenges.consumedAt),
        isNull(codeChallenges.droppedAt),
        sql`${codeChallenges.wrongTries} < ${MAX_WRONG_TRIES}`,
      ),
    )
    .orderBy(asc(codeChallenges.createdAt), asc(codeChallenges.id))
    .all();
}

/** What was sent to this address for this purpose in the window, of all applications, newest first. */
function sentTo({ tx, now }: Unit, { email, purpose }: CodeSubject) {
  const { applicationId, createdAt } = codeChallenges;
  return tx
    .select({ applicationId, createdAt })
    .from(codeChallenges)
    .where(
      and(eq(codeChallenges.email, email), eq(codeChallenges.purpose, purpose), gt(createdAt, now - CODE_WINDOW_MS)),
    )
    .orderBy(desc(createdAt), desc(codeChallenges.id))
    .all();
}

/**
 * What counts in the window against another code for an action of one's own, newest first. Where one names the address
 * oneself, that is all that the person's sessions have asked for and all that the address was sent; else what the person
 * was sent from this application, so that one application cannot use up another's.
 */
function sentFor(unit: Unit, subject: CodeSubject, sessionId: string): { createdAt: number }[] {
  const toAddress = sentTo(unit, subject);
  if (subject.purpose !== 'email_change')
    return toAddress.filter(({ applicationId }) => applicationId === subject.applicationId);
  const { createdAt, purpose } = codeChallenges;
  const ofPerson = unit.tx
    .select({ createdAt })
    .from(codeChallenges)
    .where(
      and(
        sql`${codeChallenges.sessionId} IN (SELECT s.id FROM sessions s JOIN application_users m ON m.id = s.application_user_id
              WHERE m.user_id = (SELECT o.user_id FROM sessions t JOIN application_users o ON o.id = t.application_user_id
                                 WHERE t.id = ${sessionId}))`,
        eq(purpose, subject.purpose),
        gt(createdAt, unit.now - CODE_WINDOW_MS),
      ),
    )
    .orderBy(desc(createdAt))
    .all();
  return ofPerson.length > toAddress.length ? ofPerson : toAddress;
}

function pauseOf({ tx, now }: Unit, { purpose, applicationId, email }: CodeSubject): number | null {
  const pause = tx
    .select({ until: codePauses.pausedUntil })
    .from(codePauses)
    .where(
      and(
        eq(codePauses.applicationId, applicationId),
        eq(codePauses.email, email),
        eq(codePauses.purpose, purpose),
        gt(codePauses.pausedUntil, now),
      ),
    )
    .get();
  return pause?.until ?? null;
}

/** Counts a wrong code against its challenge and against the address, wherever it came from. */
function recordFailure(unit: Unit, presented: Challenge, subject: CodeSubject): void {
  const { tx, now } = unit;
  countWrongTry(unit, presented);
  tx.insert(codeFailures)
    .values({ ...subject, failedAt: now })
    .run();
  const ofSubject = and(
    eq(codeFailures.applicationId, subject.applicationId),
    eq(codeFailures.email, subject.email),
    eq(codeFailures.purpose, subject.purpose),
  );
  const recent = tx
    .select({ id: codeFailures.id })
    .from(codeFailures)
    .where(and(ofSubject, gt(codeFailures.failedAt, now - FAILURE_WINDOW_MS)))
    .all();
  if (recent.length < FAILURES_UNTIL_PAUSE) return;
  const pausedUntil = now + PAUSE_MS;
  tx.insert(codePauses)
    .values({ ...subject, pausedUntil })
    .onConflictDoUpdate({
      target: [codePauses.applicationId, codePauses.email, codePauses.purpose],
      set: { pausedUntil },
    })
    .run();
  // After the pause the count starts anew.
  tx.delete(codeFailures).where(ofSubject).run();
}
