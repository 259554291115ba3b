/** Sign-in with a passkey, by its button or from suggestions in the e-mail field. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Failure, failureOfCode, type Outcome, post, request, type SignedIn } from '../browser/api.ts';
import type { HostedPage } from '../browser/browser-accounts.ts';
import { secondsUntil } from '../browser/timing.ts';
import {
  canSuggestPasskeys,
  canUsePasskeys,
  reportUnknownPasskey,
  type RequestOptions,
  stopCeremony,
  askForPasskey,
} from '../browser/webauthn.ts';
import type { SignInData } from './offer.ts';

interface Challenge {
  readonly challengeId: string;
  readonly expiresAt: string;
  readonly options: RequestOptions;
}

interface HeldChallenge extends Challenge {
  /** Epoch milliseconds of this device, safely before the server's expiry. */
  readonly usableUntil: number;
}

/** Errors of an expired or used challenge, after which a new one works. */
const STALE = ['code_expired', 'code_consumed'];
/** Reserve for user verification and network latency. */
const MARGIN_SECONDS = 45;

export interface PasskeyEvents {
  readonly onSignedIn: (signedIn: SignedIn) => void;
  readonly onFailure: (failure: Failure) => void;
  /** The reader cancelled, or has no matching passkey. */
  readonly onUnused: () => void;
  readonly onBegin: () => void;
}

/** The page of a prompt, and its application. */
interface PromptOf {
  readonly clientId: string;
  readonly page: HostedPage | undefined;
}

export interface PasskeyWay {
  /** Whether this browser supports passkeys at this address; assumed true until checked in the browser. */
  readonly isUsable: boolean;
  readonly busy: 'waiting' | 'checking' | null;
  ask(): void;
  cancel(): void;
}

/**
 * @param isSuggested offers passkeys in the e-mail field while the page is open.
 * @param page keeps the session.
 */
export function usePasskey(
  data: SignInData,
  isSuggested: boolean,
  events: PasskeyEvents,
  page?: HostedPage,
): PasskeyWay {
  const latest = useRef(events);
  latest.current = events;
  const [isUsable, setIsUsable] = useState(data.methods.passkeyHost !== null);
  const [busy, setBusy] = useState<PasskeyWay['busy']>(null);
  const prompt = useMemo(
    () => createPrompt({ clientId: data.application.clientId, page }, () => latest.current, setBusy),
    [],
  );
  useLayoutEffect(() => {
    if (!canUsePasskeys(data.methods.passkeyHost)) return setIsUsable(false);
    if (isSuggested) void prompt.suggest();
    return prompt.cancel;
  }, []);
  return { isUsable, busy, ask: () => void prompt.ask(), cancel: prompt.cancel };
}

/** Keeps a challenge until it is answered, so that a click need not wait for a new one. */
function createPrompt(
  { clientId, page }: PromptOf,
  events: () => PasskeyEvents,
  setBusy: (busy: PasskeyWay['busy']) => void,
) {
  let held: HeldChallenge | null = null;
  let isAsking = false;
  let isAtWork = false;

  async function ask(isRetry = false): Promise<void> {
    if (isAtWork && !isRetry) return;
    isAtWork = true;
    events().onBegin();
    setBusy('waiting');
    try {
      await carryOut(isRetry);
    } finally {
      isAtWork = false;
      setBusy(null);
    }
  }

  async function carryOut(isRetry: boolean): Promise<void> {
    isAsking = true;
    const challenge = await holdChallenge();
    if (!isAsking) return;
    if (!challenge.ok) {
      isAsking = false;
      return events().onFailure(challenge);
    }
    let ceremony = await askForPasskey(challenge.data.options, false);
    // A suggestion that was still starting aborts this ceremony; that can happen only once.
    if (isAsking && !ceremony.ok && ceremony.reason === 'aborted')
      ceremony = await askForPasskey(challenge.data.options, false);
    isAsking = false;
    if (ceremony.ok) return verify(challenge.data, ceremony.credential, isRetry);
    if (ceremony.reason === 'refused') events().onUnused();
    if (ceremony.reason === 'failed') events().onFailure(failureOfCode('passkey_invalid'));
    void suggest();
  }

  async function suggest(): Promise<void> {
    if (!(await canSuggestPasskeys()) || isAsking) return;
    const challenge = await holdChallenge();
    if (!challenge.ok || isAsking) return;
    let isStale = false;
    const renew = () => {
      isStale = true;
      stopCeremony();
    };
    const renewal = setTimeout(renew, Math.max(0, challenge.data.usableUntil - Date.now()));
    const ceremony = await askForPasskey(challenge.data.options, true);
    clearTimeout(renewal);
    if (ceremony.ok) {
      setBusy('checking');
      return verify(challenge.data, ceremony.credential, false).finally(() => setBusy(null));
    }
    if (!isStale) return;
    await untilVisible();
    return suggest();
  }

  async function verify(challenge: Challenge, credential: { id: string }, isRetry: boolean): Promise<void> {
    // Any answer uses up the challenge.
    held = null;
    setBusy('checking');
    const { challengeId, options } = challenge;
    const outcome = await request<SignedIn>('/api/v1/auth/passkey/verify', {
      method: 'POST',
      json: { challengeId, credential },
      page,
    });
    if (outcome.ok) return events().onSignedIn(outcome.data);
    const isStale = STALE.includes(outcome.code);
    if (isStale && !isRetry) return ask(true);
    if (outcome.code === 'passkey_unknown') reportUnknownPasskey(options.rpId ?? location.hostname, credential.id);
    const isOfPasskey = isStale || outcome.code === 'invalid_request';
    events().onFailure(isOfPasskey ? { ...outcome, code: 'passkey_invalid' } : outcome);
  }

  async function holdChallenge(): Promise<Outcome<HeldChallenge>> {
    if (held && held.usableUntil > Date.now()) return { ok: true, data: held, answeredAt: null };
    const outcome = await post<Challenge>('/api/v1/auth/passkey/options', { clientId });
    if (!outcome.ok) return outcome;
    const life = secondsUntil(outcome.data.expiresAt, outcome.answeredAt, { fallback: 120, atMost: 3_600 });
    held = { ...outcome.data, usableUntil: Date.now() + Math.max(life - MARGIN_SECONDS, MARGIN_SECONDS) * 1_000 };
    return { ...outcome, data: held };
  }

  function cancel(): void {
    if (isAsking) stopCeremony();
    isAsking = false;
  }

  return { ask, suggest, cancel };
}

/** A background page needs no fresh challenge until it becomes visible. */
function untilVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true }));
}
