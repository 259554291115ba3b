/**
 * One-time codes by e-mail: issued, judged and used up. A purpose and an application are part of every look-up, so a code
 * for one never serves for another. Works inside the caller's transaction: nothing can slip between check and act.
 */
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
  insertChallenge,
  listChallengesOf,
  listChallengesOfPerson,
  listChallengesTo,
} from '../../store/codes.ts';
import { LIMIT_REACHED } from '../../store/stats.ts';
import { type CodePause, guessBudgets, type PausingLimit } from './guess-budgets.ts';
import type { TooSoon } from './refusals.ts';

/** What a code can be for. */
export type CodePurpose = 'sign_in' | 'lifecycle' | 'proof' | 'email_change' | 'account_deletion';

const CODE_DIGITS = 6;
export const CODE_LIFETIME_MS = 10 * MINUTE;
const MAX_ALIVE = 3;
/** The window of the limits on sending. */
const SENT_WINDOW_MS = LIMITS.codesPerEmail.windowMs;

/** What a code is for, and whose it is. */
export interface CodeSubject {
  readonly purpose: CodePurpose;
  readonly applicationId: string;
  /** Normalised. */
  readonly email: string;
}

/** A code that was just issued. */
export interface MintedChallenge {
  readonly challengeId: string;
  /** In plain text, for the mail. */
  readonly code: string;
  readonly expiresAt: number;
}

/** A sign-in code that is under way, with when another may be asked for. */
export interface IssuedCode extends Omit<MintedChallenge, 'code'> {
  /** In plain text, for the mail; null where one was sent a moment ago, which still serves. */
  readonly code: string | null;
  readonly resendAfter: number;
  /** Where the e-mail stands in its limit, this code counted; null where there is none. */
  readonly standing: { readonly limit: number; readonly remaining: number } | null;
}

/** Times in epoch milliseconds. */
export type IssueOutcome = ({ readonly ok: true } & IssuedCode) | ({ readonly ok: false } & TooSoon);

/** Why a code is not taken; an error code of the API. */
export type CodeRefusal = 'code_invalid' | 'code_expired' | 'code_exhausted' | 'code_consumed';

/** A refusal that must be committed, since it counts the try. */
export type RedeemRefusal =
  | { readonly ok: false; readonly error: CodeRefusal }
  | ({ readonly ok: false; readonly error: 'rate_limited' } & TooSoon);

/** A code that was judged and is not right. */
export interface WrongCode {
  readonly subject: CodeSubject;
  /** Until when codes are paused from now on, in epoch milliseconds; null where they are not. */
  readonly pausedUntil: number | null;
}

/** What became of a sign-in code; `wrong` where one was judged and is not right. */
export type RedeemOutcome =
  | { readonly ok: true; readonly subject: CodeSubject; readonly data: Challenge['data'] }
  | (RedeemRefusal & { readonly wrong?: WrongCode });

/** The browser that the person behind an address is known in, by its own id; null where they are not. */
export type BrowserOf = (reader: Reader, email: string) => Promise<string | null>;

/** The outcome of a code that confirms an action, with what the action was issued with. */
export type ActionOutcome = { readonly ok: true; readonly data: unknown } | RedeemRefusal;

/** As {@link IssueOutcome}, for the code of an action. */
export type ActionIssueOutcome = ({ readonly ok: true } & MintedChallenge) | ({ readonly ok: false } & TooSoon);

export type CodeChallenges = ReturnType<typeof codeChallengeService>;

export interface CodeChallengeDependencies {
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly limits: LimitSettings;
}

/** Codes are kept as keyed digests alone. A wrong one is counted, so the caller has to commit the refusal too. */
export function codeChallengeService({ random, instanceKey, limits }: CodeChallengeDependencies) {
  const cooldownMs = (limits.codeCooldownSeconds ?? 0) * SECOND;
  const perEmail = limits.codesPerEmail;
  const budgets = guessBudgets(limits);

  return {
    /**
     * Issues a code. Earlier unexpired ones stay valid, at most three at a time, because mails overtake each other. How
     * many may be sent to one e-mail is counted over all applications. Asked again within the cool-down, the live one is given.
     *
     * @param data is given back with the code.
     */
    async issue(
      unit: Unit,
      subject: CodeSubject,
      browserOf: BrowserOf,
      data: Challenge['data'] = null,
    ): Promise<IssueOutcome> {
      const pause = await budgets.findPause(unit, subject, await browserOf(unit, subject.email));
      if (pause !== null) return refuse(unit, subject, pause.limit, tooSoonBy(pause));
      const recent = await sentTo(unit, subject);
      const own = recent.filter(({ applicationId }) => applicationId === subject.applicationId);
      const alive = own.filter((challenge) => refusalOf(challenge, subject.purpose, unit.now) === null);
      const standing = (sent: number) =>
        perEmail === null ? null : { limit: perEmail, remaining: Math.max(0, perEmail - sent) };
      // One that was used, or can serve no more, is nothing to wait for.
      const [last] = alive;
      if (last && last.createdAt + cooldownMs > unit.now) {
        const { id: challengeId, expiresAt, createdAt } = last;
        const resendAfter = createdAt + cooldownMs;
        return { ok: true, challengeId, code: null, expiresAt, resendAfter, standing: standing(recent.length) };
      }
      const inTheWay = perEmail === null ? undefined : recent[perEmail - 1];
      if (perEmail !== null && inTheWay) return refuse(unit, subject, 'codesPerEmail', tooMany(perEmail, inTheWay));
      for (const surplus of alive.slice(MAX_ALIVE - 1)) await dropChallenge(unit, surplus.id);
      return {
        ok: true,
        ...(await insert(unit, subject, { data, sessionId: null })),
        resendAfter: unit.now + cooldownMs,
        standing: standing(recent.length + 1),
      };
    },

    /**
     * Issues a code that confirms one action, described by `data`. It may be asked for more freely than a sign-in code,
     * since the caller is known, but not without end: whoever is to confirm must not be flooded, nor the code guessed.
     *
     * @param sessionId the only session that may give it; null where anyone who may act at all may.
     */
    async issueFor(
      unit: Unit,
      subject: CodeSubject,
      data: Record<string, unknown>,
      sessionId: string | null = null,
    ): Promise<ActionIssueOutcome> {
      const pause = await budgets.findPause(unit, subject, null);
      if (pause !== null) return refuse(unit, subject, pause.limit, tooSoonBy(pause));
      const recent = sessionId === null ? await sentFrom(unit, subject) : await sentFor(unit, subject, sessionId);
      const limit = sessionId === null ? 'actionCodesPerEmail' : 'accountCodesPerPerson';
      const oldest = recent[limits[limit] - 1];
      if (oldest) return refuse(unit, subject, limit, tooMany(limits[limit], oldest));
      return { ok: true, ...(await insert(unit, subject, { data, sessionId })) };
    },

    /**
     * Judges the code of one action and uses it up, with all others that the person has for the same. Only the code of this
     * very challenge is right.
     *
     * @returns what the action was issued with.
     */
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
      await consumeChallenge(unit, challenge.id);
      await dropChallengesOf(unit, subject);
      await budgets.forgiveClient(unit, subject);
      return { ok: true, data: challenge.data };
    },

    /**
     * Judges a code and, when it is right, uses it up, with all others for the same subject. Any code still alive for it is
     * right, since people type the one that arrived; a wrong one counts against the challenge it was sent with.
     */
    async redeem(
      unit: Unit,
      purpose: CodePurpose,
      { challengeId, code }: { readonly challengeId: string; readonly code: string },
      browserOf: BrowserOf,
    ): Promise<RedeemOutcome> {
      const presented = await findChallenge(unit, purpose, challengeId);
      if (!presented) return { ok: false, error: 'code_invalid' };
      const subject = { purpose, applicationId: presented.applicationId, email: presented.email };
      const browser = await browserOf(unit, subject.email);
      const refusal = await refusalOfTry(unit, presented, subject, browser);
      if (refusal !== null) return refusal;
      const sent = await listChallengesOf(unit, subject, unit.now - CODE_LIFETIME_MS);
      const right = sent.find(
        (challenge) => refusalOf(challenge, purpose, unit.now) === null && isRight(challenge, code),
      );
      if (!right) {
        const pause = await recordFailure(unit, presented.id, subject, browser);
        return { ok: false, error: 'code_invalid', wrong: { subject, pausedUntil: pause?.until ?? null } };
      }
      for (const id of new Set([right.id, presented.id])) await consumeChallenge(unit, id);
      await dropChallengesOf(unit, subject);
      await budgets.forgiveClient(unit, subject);
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

  /** @param code as it was typed: spaces and hyphens do not count. */
  function isRight({ id, codeDigest }: Challenge, code: string): boolean {
    return equalDigests(codeDigest, instanceKey.codeDigest(id, code.replace(/[\s-]/g, '')));
  }

  /** Why no code can serve for this challenge any more, or null. */
  function refusalOf(challenge: ChallengeState, purpose: CodePurpose, now: number): CodeRefusal | null {
    const { consumedAt, wrongTries, droppedAt, expiresAt, isOutdated } = challenge;
    if (consumedAt !== null) return 'code_consumed';
    if (wrongTries >= limits.wrongTriesPerCode) return 'code_exhausted';
    // Nobody signs in with a code that was sent before the application was closed.
    if (purpose === 'sign_in' && isOutdated === 1) return 'code_expired';
    return droppedAt !== null || expiresAt <= now ? 'code_expired' : null;
  }

  async function refusalOfTry(
    unit: Unit,
    challenge: ChallengeState,
    subject: CodeSubject,
    browser: string | null,
  ): Promise<RedeemRefusal | null> {
    const pause = await budgets.findPause(unit, subject, browser);
    if (pause !== null) return { error: 'rate_limited', ...refuse(unit, subject, pause.limit, tooSoonBy(pause)) };
    const error = refusalOf(challenge, subject.purpose, unit.now);
    return error && { ok: false, error };
  }

  /** Counts a wrong code against its challenge and against whoever gave it. @returns the pause that follows. */
  async function recordFailure(
    unit: Unit,
    challengeId: string,
    subject: CodeSubject,
    browser: string | null,
  ): Promise<CodePause | null> {
    await countWrongTry(unit, challengeId);
    await budgets.recordFailure(unit, subject, browser);
    return budgets.findPause(unit, subject, browser);
  }
}

/** Counts in the application, where the caller commits the refusal. */
function refuse<Why extends TooSoon>(unit: Unit, { applicationId }: CodeSubject, limit: ReportedLimit, why: Why) {
  unit.tell(LIMIT_REACHED, { applicationId, limit });
  return { ok: false, ...why } as const;
}

function tooMany(allowed: number, { createdAt }: Pick<ChallengeState, 'createdAt'>): TooSoon {
  return { reason: 'too_many', allowed, retryAt: createdAt + SENT_WINDOW_MS };
}

function tooSoonBy({ limit, allowed, until }: CodePause): TooSoon & { readonly reason: PausingLimit } {
  return { reason: limit, allowed, retryAt: until };
}

/** What was sent to this address for this purpose in the window, of all applications, newest first. */
async function sentTo(unit: Unit, subject: CodeSubject): Promise<ChallengeState[]> {
  return uptoNow(unit, await listChallengesTo(unit, subject, unit.now - SENT_WINDOW_MS));
}

/** What was sent before the clock went back would count until the clock is there again. */
function uptoNow<Sent extends { readonly createdAt: number }>({ now }: Unit, sent: readonly Sent[]): Sent[] {
  return sent.filter(({ createdAt }) => createdAt <= now);
}

/** The same of this application alone. */
async function sentFrom(unit: Unit, subject: CodeSubject): Promise<ChallengeState[]> {
  return (await sentTo(unit, subject)).filter(({ applicationId }) => applicationId === subject.applicationId);
}

/**
 * What counts in the window against a further code for an action of the person's own, newest first. A new address can be
 * anybody's, so for its change the longer list counts: what the person's sessions have asked for, or what the address was
 * sent. Else it is what the person was sent from this application, so that one application cannot use up another's.
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
  const ofPerson = uptoNow(unit, await listChallengesOfPerson(unit, { sessionId, purpose }, since));
  return ofPerson.length > toAddress.length ? ofPerson : toAddress;
}
