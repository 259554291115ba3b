/** Sign-in by mailed code: requests a code and exchanges it for a session. */
import { useState } from 'preact/hooks';
import { failureOfCode, type Outcome, request, type SignedIn } from '../browser/api.ts';
import type { HostedPage } from '../browser/browser-accounts.ts';
import { isReload, loadPending, type Pending, savePending } from '../browser/pending.ts';
import { browserTimezone, secondsUntil } from '../browser/timing.ts';
import type { SignInData } from './offer.ts';

interface Challenge {
  readonly challengeId: string;
  readonly expiresAt: string;
  readonly resendAfter: string;
  /** False when an earlier code is still valid and no new mail was sent. */
  readonly sent?: boolean;
}

export interface SentCode {
  readonly pending: Pending;
  readonly isEarlier: boolean;
  /** The previous code is still valid too. */
  readonly isFormerAlive: boolean;
}

/** Errors after which only a new code helps. */
const SPENT = ['code_expired', 'code_exhausted', 'code_consumed', 'not_found'];

export interface EmailCode {
  /** Last requested code; null before the first. */
  readonly pending: Pending | null;
  send(email: string): Promise<Outcome<SentCode>>;
  /** `isSpent` if no further attempt can succeed. */
  verify(code: string): Promise<Outcome<SignedIn> & { readonly isSpent?: boolean }>;
  forget(): void;
}

/** Returns the code this tab was waiting for before a reload; null otherwise. */
export function interruptedCode(clientId: string): Pending | null {
  return isReload() ? loadPending(clientId) : null;
}

/** A request within the cool-down returns the code already sent, which is still valid. @param page keeps the session. */
export function useEmailCode({ application, locale, wrongTriesPerCode }: SignInData, page?: HostedPage): EmailCode {
  const { clientId } = application;
  const [pending, setPending] = useState<Pending | null>(null);

  function keep(next: Pending | null): void {
    setPending(next);
    savePending(clientId, next);
  }

  async function send(email: string): Promise<Outcome<SentCode>> {
    const outcome = await request<Challenge>('/api/v1/auth/otp/send', {
      method: 'POST',
      json: { email, clientId, locale },
      page,
    });
    if (!outcome.ok) return outcome;
    const { challengeId, sent = true, resendAfter, expiresAt } = outcome.data;
    const wait = secondsUntil(resendAfter, outcome.answeredAt, { fallback: 30, atMost: 300 });
    const life = secondsUntil(expiresAt, outcome.answeredAt, { fallback: 600, atMost: 3_600 });
    const now = Date.now();
    // Null if expired or out of attempts.
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
    const json = { challengeId, code, timezone: browserTimezone() };
    const outcome = await request<SignedIn>('/api/v1/auth/otp/verify', { method: 'POST', json, page });
    if (outcome.ok) {
      keep(null);
      return outcome;
    }
    const wrongTries = (current.wrongTries ?? 0) + (outcome.code === 'code_invalid' ? 1 : 0);
    // The last allowed wrong attempt invalidates the code: even a right one is refused after it.
    const isSpent = SPENT.includes(outcome.code) || wrongTries >= wrongTriesPerCode;
    savePending(clientId, isSpent ? null : { ...current, wrongTries });
    setPending({ ...current, wrongTries });
    const isLast = outcome.code === 'code_invalid' && isSpent;
    const reason = isLast ? 'code_exhausted' : outcome.code === 'not_found' ? 'code_expired' : outcome.code;
    return { ...outcome, code: reason, isSpent };
  }

  return { pending: pending ?? null, send, verify, forget: () => keep(null) };
}
