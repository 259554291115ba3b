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

export type CodePurpose = 'sign_in';

export const CODE_DIGITS = 6;
export const CODE_LIFETIME_MS = 10 * MINUTE;
export const RESEND_COOLDOWN_MS = 30 * SECOND;
const MAX_WRONG_TRIES = 5;
const MAX_ALIVE = 3;
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

export interface IssuedCode {
  readonly challengeId: string;
  readonly code: string;
  readonly expiresAt: number;
  readonly resendAfter: number;
  /** How many more may be sent to this e-mail in the window. */
  readonly remaining: number;
}

export type IssueOutcome =
  | ({ readonly ok: true } & IssuedCode)
  | { readonly ok: false; readonly reason: 'paused' | 'cooling_down' | 'too_many'; readonly retryAt: number };

export type CodeRefusal = 'code_invalid' | 'code_expired' | 'code_exhausted' | 'code_consumed';

export type RedeemOutcome =
  | { readonly ok: true; readonly subject: CodeSubject }
  | { readonly ok: false; readonly error: CodeRefusal }
  | { readonly ok: false; readonly error: 'rate_limited'; readonly retryAt: number };

type Challenge = typeof codeChallenges.$inferSelect;

export type CodeChallenges = ReturnType<typeof codeChallengeService>;

export function codeChallengeService({ random, instanceKey }: { random: Random; instanceKey: InstanceKey }) {
  return {
    /**
     * Issues a code. Earlier unexpired ones stay valid, at most three at a time, because mails overtake each other.
     *
     * @param perEmail how many may be sent to one e-mail in 15 minutes, whatever they are for.
     */
    issue(unit: Unit, subject: CodeSubject, perEmail: number): IssueOutcome {
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, reason: 'paused', retryAt: pausedUntil };
      const recent = sentTo(unit, subject.email);
      const last = recent.find(
        (sent) => sent.applicationId === subject.applicationId && sent.purpose === subject.purpose,
      );
      if (last && last.createdAt + RESEND_COOLDOWN_MS > unit.now)
        return { ok: false, reason: 'cooling_down', retryAt: last.createdAt + RESEND_COOLDOWN_MS };
      if (recent.length >= perEmail)
        return { ok: false, reason: 'too_many', retryAt: recent[perEmail - 1]!.createdAt + CODE_WINDOW_MS };
      const challengeId = newId('challenge', unit.now);
      const code = random.digits(CODE_DIGITS);
      const expiresAt = unit.now + CODE_LIFETIME_MS;
      for (const surplus of alive(unit, subject).slice(0, -(MAX_ALIVE - 1)))
        unit.tx.update(codeChallenges).set({ droppedAt: unit.now }).where(eq(codeChallenges.id, surplus.id)).run();
      unit.tx
        .insert(codeChallenges)
        .values({
          id: challengeId,
          ...subject,
          codeDigest: Buffer.from(instanceKey.codeDigest(challengeId, code)),
          wrongTries: 0,
          createdAt: unit.now,
          expiresAt,
        })
        .run();
      const resendAfter = unit.now + RESEND_COOLDOWN_MS;
      return { ok: true, challengeId, code, expiresAt, resendAfter, remaining: perEmail - recent.length - 1 };
    },

    /**
     * Judges a code and, when it is right, uses it up. Any code still alive for the same subject is right, since people
     * type the one that arrived; a wrong one counts against the challenge it was sent with.
     */
    redeem(unit: Unit, purpose: CodePurpose, challengeId: string, code: string): RedeemOutcome {
      const presented = unit.tx
        .select()
        .from(codeChallenges)
        .where(and(eq(codeChallenges.id, challengeId), eq(codeChallenges.purpose, purpose)))
        .get();
      if (!presented) return { ok: false, error: 'code_invalid' };
      const subject = { purpose, applicationId: presented.applicationId, email: presented.email };
      const pausedUntil = pauseOf(unit, subject);
      if (pausedUntil !== null) return { ok: false, error: 'rate_limited', retryAt: pausedUntil };
      if (presented.consumedAt !== null) return { ok: false, error: 'code_consumed' };
      if (presented.wrongTries >= MAX_WRONG_TRIES) return { ok: false, error: 'code_exhausted' };
      if (presented.droppedAt !== null || presented.expiresAt <= unit.now) return { ok: false, error: 'code_expired' };

      const matching = alive(unit, subject).filter((challenge) => isRight(challenge, code));
      const [right] = matching;
      if (!right) {
        recordFailure(unit, presented, subject);
        return { ok: false, error: 'code_invalid' };
      }
      for (const id of new Set([right.id, presented.id]))
        unit.tx.update(codeChallenges).set({ consumedAt: unit.now }).where(eq(codeChallenges.id, id)).run();
      return { ok: true, subject };
    },
  };

  function isRight({ id, codeDigest }: Challenge, code: string): boolean {
    return equalDigests(codeDigest, instanceKey.codeDigest(id, code));
  }
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

/** What was sent to this address in the window, newest first. */
function sentTo({ tx, now }: Unit, email: string) {
  const { applicationId, purpose, createdAt } = codeChallenges;
  return tx
    .select({ applicationId, purpose, createdAt })
    .from(codeChallenges)
    .where(and(eq(codeChallenges.email, email), gt(createdAt, now - CODE_WINDOW_MS)))
    .orderBy(desc(createdAt), desc(codeChallenges.id))
    .all();
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
function recordFailure({ tx, now }: Unit, presented: Challenge, subject: CodeSubject): void {
  tx.update(codeChallenges)
    .set({ wrongTries: presented.wrongTries + 1 })
    .where(eq(codeChallenges.id, presented.id))
    .run();
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
