/** One-time codes by e-mail, each bound to a purpose and an application; check and use are one transaction. */
import { MINUTE, SECOND } from '../../core/clock.ts';
import { newId } from '../../core/id.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { type ReportedLimit, LIMITS, type LimitSettings } from '../../http/limits.ts';
import {
  type Challenge,
  type ChallengeState,
  consumeChallenge,
  countWrongTry,
  dropChallenge,
  dropChallengesOf,
  findChallenge,
  holdChallengesOf,
  insertChallenge,
  listChallengesOfPerson,
  listChallengesTo,
} from '../../store/codes.ts';
import { LIMIT_REACHED } from '../../store/stats.ts';
import { type Lockout, codeLockouts, type LockoutLimit } from './lockout.ts';
import type { CodeRefusal, RedeemRefusal, TooSoon } from './refusals.ts';

export type CodePurpose = 'sign_in' | 'lifecycle' | 'proof' | 'email_change' | 'account_deletion';

const CODE_DIGITS = 6;
export const CODE_LIFETIME_MS = 10 * MINUTE;
const MAX_ALIVE = 3;
const SENT_WINDOW_MS = LIMITS.codesPerEmail.windowMs;

export interface CodeSubject {
  readonly purpose: CodePurpose;
  readonly applicationId: string;
  /** Normalised. */
  readonly email: string;
}

export interface MintedChallenge {
  readonly challengeId: string;
  /** Plain text, for the mail. */
  readonly code: string;
  readonly expiresAt: number;
}

export interface IssuedCode extends Omit<MintedChallenge, 'code'> {
  /** Plain text, for the mail; null within the cool-down, when the code sent before stays valid. */
  readonly code: string | null;
  readonly resendAfter: number;
  /** Usage of the e-mail's limit, this code included; null without a limit. */
  readonly standing: { readonly limit: number; readonly remaining: number } | null;
}

/** Times in epoch milliseconds. */
export type IssueOutcome = ({ readonly ok: true } & IssuedCode) | ({ readonly ok: false } & TooSoon);

export interface WrongCode {
  readonly subject: CodeSubject;
  /** End of the lockout that follows, in epoch milliseconds; null without one. */
  readonly pausedUntil: number | null;
}

/** Outcome of redeeming a sign-in code; `wrong` if it was checked and is wrong. */
export type RedeemOutcome =
  | { readonly ok: true; readonly subject: CodeSubject; readonly data: Challenge['data'] }
  | (RedeemRefusal & { readonly wrong?: WrongCode });

/** Returns the id of the client's browser if it is known for the person with this address; null if not. */
export type BrowserOf = (reader: Reader, email: string) => Promise<string | null>;

/** Outcome of a code that confirms an action, with the data it was issued with. */
export type ActionOutcome = { readonly ok: true; readonly data: unknown } | RedeemRefusal;

export type ActionIssueOutcome = ({ readonly ok: true } & MintedChallenge) | ({ readonly ok: false } & TooSoon);

export type CodeChallenges = ReturnType<typeof codeChallengeService>;

export interface CodeChallengeDependencies {
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly limits: LimitSettings;
}

/** Stores codes only as keyed digests. Callers must commit refusals too, since a wrong code is counted. */
export function codeChallengeService({ random, instanceKey, limits }: CodeChallengeDependencies) {
  const cooldownMs = (limits.codeCooldownSeconds ?? 0) * SECOND;
  const perEmail = limits.codesPerEmail;
  const budgets = codeLockouts(limits);

  return {
    /**
     * Issues a code; up to three earlier ones stay valid, because mails overtake each other. The limit per e-mail
     * counts over all applications. Within the cool-down, returns the code sent before.
     *
     * @param data returned when the code is redeemed.
     */
    async issue(
      unit: Unit,
      subject: CodeSubject,
      browserOf: BrowserOf,
      data: Challenge['data'] = null,
    ): Promise<IssueOutcome> {
      const browser = await browserOf(unit, subject.email);
      const [pause, recent] = await Promise.all([budgets.findLockout(unit, subject, browser), sentTo(unit, subject)]);
      if (pause !== null) return refuse(unit, subject, pause.limit, tooSoonBy(pause));
      const own = recent.filter(({ applicationId }) => applicationId === subject.applicationId);
      const alive = own.filter((challenge) => refusalOf(challenge, subject.purpose, unit.now) === null);
      const standing = (sent: number) =>
        perEmail === null ? null : { limit: perEmail, remaining: Math.max(0, perEmail - sent) };
      // Used or invalid codes do not start a cool-down.
      const [last] = alive;
      if (last && last.createdAt + cooldownMs > unit.now) {
        const { id: challengeId, expiresAt, createdAt } = last;
        const resendAfter = createdAt + cooldownMs;
        return { ok: true, challengeId, code: null, expiresAt, resendAfter, standing: standing(recent.length) };
      }
      const inTheWay = perEmail === null ? undefined : recent[perEmail - 1];
      if (perEmail !== null && inTheWay) return refuse(unit, subject, 'codesPerEmail', tooMany(perEmail, inTheWay));
      for (const surplus of alive.slice(MAX_ALIVE - 1)) await dropChallenge(unit, { ...subject, id: surplus.id });
      return {
        ok: true,
        ...(await insert(unit, subject, { data, sessionId: null })),
        resendAfter: unit.now + cooldownMs,
        standing: standing(recent.length + 1),
      };
    },

    /**
     * Issues a code that confirms the action described by `data`. Limits are looser than for sign-in, since the caller
     * is authenticated, but prevent flooding and guessing.
     *
     * @param sessionId the only session that may redeem it; null for anyone allowed to act.
     */
    async issueFor(
      unit: Unit,
      subject: CodeSubject,
      data: Record<string, unknown>,
      sessionId: string | null = null,
    ): Promise<ActionIssueOutcome> {
      const pause = await budgets.findLockout(unit, subject, null);
      if (pause !== null) return refuse(unit, subject, pause.limit, tooSoonBy(pause));
      const recent = sessionId === null ? await sentFrom(unit, subject) : await sentFor(unit, subject, sessionId);
      const limit = sessionId === null ? 'actionCodesPerEmail' : 'accountCodesPerPerson';
      const oldest = recent[limits[limit] - 1];
      if (oldest) return refuse(unit, subject, limit, tooMany(limits[limit], oldest));
      return { ok: true, ...(await insert(unit, subject, { data, sessionId })) };
    },

    /** Checks and consumes an action's code, and all others for its subject. Only this challenge's code is right. */
    async redeemFor(
      unit: Unit,
      { purpose, applicationId }: Pick<CodeSubject, 'purpose' | 'applicationId'>,
      challengeId: string,
      code: string,
      sessionId: string | null = null,
    ): Promise<ActionOutcome> {
      const challenge = await findChallenge(unit, purpose, challengeId);
      if (challenge?.applicationId !== applicationId || challenge.sessionId !== sessionId)
        return { ok: false, error: 'code_invalid' };
      const subject = { purpose, applicationId, email: challenge.email };
      const refusal = await refusalOfTry(unit, challenge, subject, null);
      if (refusal !== null) return refusal;
      if (!isRight(challenge, code)) {
        await recordFailure(unit, challenge.id, subject, null);
        return { ok: false, error: 'code_invalid' };
      }
      await consumeChallenge(unit, { ...subject, id: challenge.id });
      await dropChallengesOf(unit, subject);
      await budgets.clearFailuresOfClient(unit, subject);
      return { ok: true, data: challenge.data };
    },

    /**
     * Checks a code and consumes it, with all others for the same subject. Any valid one is right, since people type
     * the one that arrived; a wrong one counts against the given challenge.
     *
     * @param presented as read before the change, for its owner, who never changes. Its state is read again here.
     */
    async redeem(
      unit: Unit,
      purpose: CodePurpose,
      presented: Pick<Challenge, 'id' | 'applicationId' | 'email'>,
      code: string,
      browserOf: BrowserOf,
    ): Promise<RedeemOutcome> {
      const subject = { purpose, applicationId: presented.applicationId, email: presented.email };
      const browser = await browserOf(unit, subject.email);
      const [lockedOut, sent] = await Promise.all([
        refusalOfClient(unit, subject, browser),
        holdChallengesOf(unit, subject, unit.now - CODE_LIFETIME_MS),
      ]);
      if (lockedOut !== null) return lockedOut;
      const given = sent.find(({ id }) => id === presented.id) ?? (await findChallenge(unit, purpose, presented.id));
      const error = given ? refusalOf(given, purpose, unit.now) : 'code_invalid';
      if (error !== null) return { ok: false, error };
      const alive = sent.filter((challenge) => refusalOf(challenge, purpose, unit.now) === null);
      const right = alive.find((challenge) => isRight(challenge, code));
      if (!right) {
        const pause = await recordFailure(unit, presented.id, subject, browser);
        return { ok: false, error: 'code_invalid', wrong: { subject, pausedUntil: pause?.until ?? null } };
      }
      for (const { id } of alive) {
        const isUsed = id === right.id || id === presented.id;
        await (isUsed ? consumeChallenge : dropChallenge)(unit, { ...subject, id });
      }
      await budgets.clearFailuresOfClient(unit, subject);
      return { ok: true, subject, data: right.data };
    },
  };

  async function insert(
    unit: Unit,
    subject: CodeSubject,
    bound: Pick<Challenge, 'data' | 'sessionId'>,
  ): Promise<MintedChallenge> {
    const challengeId = newId('challenge', unit.now);
    const code = random.digits(CODE_DIGITS);
    const expiresAt = unit.now + CODE_LIFETIME_MS;
    const codeDigest = instanceKey.codeDigest(challengeId, code);
    await insertChallenge(unit, { id: challengeId, ...subject, codeDigest, expiresAt, ...bound });
    return { challengeId, code, expiresAt };
  }

  /** @param code as typed: spaces and hyphens are ignored. */
  function isRight({ id, codeDigest }: Challenge, code: string): boolean {
    return equalDigests(codeDigest, instanceKey.codeDigest(id, code.replace(/[\s-]/g, '')));
  }

  /** Returns why a challenge accepts no code any more, or null. */
  function refusalOf(challenge: ChallengeState, purpose: CodePurpose, now: number): CodeRefusal | null {
    const { consumedAt, wrongTries, droppedAt, expiresAt, isOutdated } = challenge;
    if (consumedAt !== null) return 'code_consumed';
    if (wrongTries >= limits.wrongTriesPerCode) return 'code_exhausted';
    // Sign-in codes sent before the application was closed are invalid.
    if (purpose === 'sign_in' && isOutdated) return 'code_expired';
    return droppedAt !== null || expiresAt <= now ? 'code_expired' : null;
  }

  async function refusalOfTry(
    unit: Unit,
    challenge: ChallengeState,
    subject: CodeSubject,
    browser: string | null,
  ): Promise<RedeemRefusal | null> {
    const lockedOut = await refusalOfClient(unit, subject, browser);
    if (lockedOut !== null) return lockedOut;
    const error = refusalOf(challenge, subject.purpose, unit.now);
    return error && { ok: false, error };
  }

  /** Returns the refusal by a lockout in force, or null. */
  async function refusalOfClient(
    unit: Unit,
    subject: CodeSubject,
    browser: string | null,
  ): Promise<RedeemRefusal | null> {
    const pause = await budgets.findLockout(unit, subject, browser);
    return pause && { error: 'rate_limited', ...refuse(unit, subject, pause.limit, tooSoonBy(pause)) };
  }

  /** Counts a wrong code against its challenge and its client. @returns the lockout that follows. */
  async function recordFailure(
    unit: Unit,
    challengeId: string,
    subject: CodeSubject,
    browser: string | null,
  ): Promise<Lockout | null> {
    await countWrongTry(unit, { ...subject, id: challengeId });
    await budgets.recordFailure(unit, subject, browser);
    return budgets.findLockout(unit, subject, browser);
  }
}

/** Counts the refusal in the application's metrics, if the caller commits. */
function refuse<Why extends TooSoon>(unit: Unit, { applicationId }: CodeSubject, limit: ReportedLimit, why: Why) {
  unit.publish(LIMIT_REACHED, { applicationId, limit });
  return { ok: false, ...why } as const;
}

function tooMany(allowed: number, { createdAt }: Pick<ChallengeState, 'createdAt'>): TooSoon {
  return { reason: 'too_many', allowed, retryAt: createdAt + SENT_WINDOW_MS };
}

function tooSoonBy({ limit, allowed, until }: Lockout): TooSoon & { readonly reason: LockoutLimit } {
  return { reason: limit, allowed, retryAt: until };
}

/** Returns codes sent to this address for this purpose within the window, over all applications, newest first. */
async function sentTo(unit: Unit, subject: CodeSubject): Promise<ChallengeState[]> {
  return uptoNow(unit, await listChallengesTo(unit, { ...subject, since: unit.now - SENT_WINDOW_MS }));
}

/** Drops codes dated after now: once the clock has gone back, they would count until it catches up. */
function uptoNow<Sent extends { readonly createdAt: number }>({ now }: Unit, sent: readonly Sent[]): Sent[] {
  return sent.filter(({ createdAt }) => createdAt <= now);
}

/** Returns codes sent by this application only. */
async function sentFrom(unit: Unit, subject: CodeSubject): Promise<ChallengeState[]> {
  return (await sentTo(unit, subject)).filter(({ applicationId }) => applicationId === subject.applicationId);
}

/**
 * Returns what counts against another code for a person's own action, newest first. An email change may name anyone's
 * address, so the longer list counts: codes requested by the person, or sent to the address. Otherwise only this
 * application's codes count, so that none uses up another's limit.
 */
async function sentFor(
  unit: Unit,
  subject: CodeSubject,
  sessionId: string,
): Promise<readonly { readonly createdAt: number }[]> {
  const { purpose } = subject;
  if (purpose !== 'email_change') return sentFrom(unit, subject);
  const toAddress = await sentTo(unit, subject);
  const since = unit.now - SENT_WINDOW_MS;
  const ofPerson = uptoNow(unit, await listChallengesOfPerson(unit, { sessionId, purpose, since }));
  return ofPerson.length > toAddress.length ? ofPerson : toAddress;
}
