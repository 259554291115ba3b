/** Signing in by e-mail: asks for a code, then exchanges it. What is shown of it is the steps' affair. */
import { useState } from 'preact/hooks';
import { failureOfCode, type Outcome, post, type SignedIn } from '../browser/api.ts';
import { isReload, loadPending, type Pending, savePending } from '../browser/pending.ts';
import { browserTimezone, secondsUntil } from '../browser/timing.ts';
import type { SignInData } from './offer.ts';

interface Challenge {
  readonly challengeId: string;
  readonly expiresAt: string;
  readonly resendAfter: string;
  /** False where a code was under way already, and no other mail left. */
  readonly sent?: boolean;
}

/** The code that can be typed now. */
export interface SentCode {
  readonly pending: Pending;
  /** It was sent before: no other mail left. */
  readonly isEarlier: boolean;
  /** The code before it can still be typed as well. */
  readonly isFormerAlive: boolean;
}

/** The challenge is dead: only a new code helps. */
const SPENT = ['code_expired', 'code_exhausted', 'code_consumed', 'not_found'];

export interface EmailCode {
  /** The code that was asked for last; null before the first. */
  readonly pending: Pending | null;
  send(email: string): Promise<Outcome<SentCode>>;
  /** `isSpent` where no other try can help. */
  verify(code: string): Promise<Outcome<SignedIn> & { readonly isSpent?: boolean }>;
  forget(): void;
}

/** The code that this tab was waiting for when its page was loaded again; null else. */
export function interruptedCode(clientId: string): Pending | null {
  return isReload() ? loadPending(clientId) : null;
}

/** A code asked for again within the cool-down is the one that was sent: it still works. */
export function useEmailCode({ application, locale, wrongTriesPerCode }: SignInData): EmailCode {
  const { clientId } = application;
  const [pending, setPending] = useState<Pending | null>(null);

  function keep(next: Pending | null): void {
    setPending(next);
    savePending(clientId, next);
  }

  async function send(email: string): Promise<Outcome<SentCode>> {
    const outcome = await post<Challenge>('/api/v1/auth/otp/send', { email, clientId, locale });
    if (!outcome.ok) return outcome;
    const { challengeId, sent = true, resendAfter, expiresAt } = outcome.data;
    const wait = secondsUntil(resendAfter, outcome.answeredAt, { fallback: 30, atMost: 300 });
    const life = secondsUntil(expiresAt, outcome.answeredAt, { fallback: 600, atMost: 3_600 });
    const now = Date.now();
    // Null where it has expired or its tries are used up.
    const known = loadPending(clientId);
    const wrongTries = known?.challengeId === challengeId ? known.wrongTries : 0;
    const next = { email, challengeId, resendAt: now + wait * 1_000, expiresAt: now + life * 1_000, wrongTries };
    keep(next);
    const data = { pending: next, isEarlier: !sent, isFormerAlive: known?.email === email };
    return { ok: true, data, answeredAt: outcome.answeredAt };
  }

  async function verify(code: string): Promise<Outcome<SignedIn> & { readonly isSpent?: boolean }> {
    const current = pending ?? loadPending(clientId);
    if (!current) return { ...failureOfCode('code_expired'), isSpent: true };
    const { challengeId } = current;
    const body = { challengeId, code, timezone: browserTimezone() };
    const outcome = await post<SignedIn>('/api/v1/auth/otp/verify', body);
    if (outcome.ok) {
      keep(null);
      return outcome;
    }
    const wrongTries = (current.wrongTries ?? 0) + (outcome.code === 'code_invalid' ? 1 : 0);
    // The one that uses up the tries ends the code: a right one would be refused after it.
    const isSpent = SPENT.includes(outcome.code) || wrongTries >= wrongTriesPerCode;
    savePending(clientId, isSpent ? null : { ...current, wrongTries });
    setPending({ ...current, wrongTries });
    const isLast = outcome.code === 'code_invalid' && isSpent;
    const reason = isLast ? 'code_exhausted' : outcome.code === 'not_found' ? 'code_expired' : outcome.code;
    return { ...outcome, code: reason, isSpent };
  }

  return { pending: pending ?? null, send, verify, forget: () => keep(null) };
}
