/** Signing in with a passkey: by its button, or from the suggestions of the e-mail field. */

import type { SignInData } from '../page-data.ts';
import { post, type Outcome, type SignedIn } from './api.ts';
import { createBusyRunner } from './busy.ts';
import { element } from './dom.ts';
import type { SignInView } from './sign-in-view.ts';
import { secondsUntil } from './timing.ts';
import { canSuggestPasskeys, reportUnknownPasskey, stopCeremony, usePasskey, type RequestOptions } from './webauthn.ts';

interface Challenge {
  challengeId: string;
  expiresAt: string;
  options: RequestOptions;
}

interface HeldChallenge extends Challenge {
  /** This device's epoch milliseconds; some time before the server drops it. */
  usableUntil: number;
}

/** The challenge was answered too late, or twice: another one will do. */
const STALE = ['code_expired', 'code_consumed'];
/** Left for touching the sensor and for the answer's way. */
const MARGIN_SECONDS = 45;

/** The way in by passkey, as the page steers it. */
export interface PasskeyPrompt {
  /** Offers passkeys among the suggestions of the e-mail field, as long as the page is open. */
  suggest(): Promise<void>;
  /** Ends what the button has started, as the reader chose another way. */
  cancel(): void;
}

/** A challenge that is at hand serves until it has been answered, so that a click need not wait for another. */
export function createPasskeySignIn(
  data: SignInData,
  view: SignInView,
  onSignedIn: (signedIn: SignedIn) => Promise<void>,
): PasskeyPrompt {
  const { text, clientId } = data;
  const { messages } = view;
  const button = element('passkey', HTMLButtonElement);
  // Apart from the form's: an e-mail address can be sent while the browser still shows its passkeys.
  const runBusy = createBusyRunner();
  let held: HeldChallenge | null = null;
  let isAsking = false;

  button.addEventListener('click', () => void runBusy(button, () => ask(false)));

  async function ask(isRetry: boolean): Promise<void> {
    messages.clear();
    messages.announce(text.passkeyWaiting);
    isAsking = true;
    const challenge = await holdChallenge();
    if (!isAsking) return;
    if (!challenge.ok) {
      isAsking = false;
      return view.showFailure(challenge);
    }
    let ceremony = await usePasskey(challenge.data.options, false);
    // A suggestion that was just being set up ends what the button has begun; it cannot do so twice.
    if (isAsking && !ceremony.ok && ceremony.reason === 'aborted')
      ceremony = await usePasskey(challenge.data.options, false);
    isAsking = false;
    if (ceremony.ok) return verify(challenge.data, ceremony.credential, isRetry);
    if (ceremony.reason === 'refused') messages.hint(text.passkeyUnused);
    if (ceremony.reason === 'failed') messages.error(data.errors.passkey_invalid);
    void suggest();
  }

  async function suggest(): Promise<void> {
    if (!(await canSuggestPasskeys()) || isAsking) return;
    const challenge = await holdChallenge();
    if (!challenge.ok || isAsking) return;
    let isStale = false;
    const renewal = setTimeout(
      () => {
        isStale = true;
        stopCeremony();
      },
      Math.max(0, challenge.data.usableUntil - Date.now()),
    );
    const ceremony = await usePasskey(challenge.data.options, true);
    clearTimeout(renewal);
    if (ceremony.ok) return runBusy(button, () => verify(challenge.data, ceremony.credential, false));
    if (!isStale) return;
    await untilVisible();
    return suggest();
  }

  async function verify(challenge: Challenge, credential: { id: string }, isRetry: boolean): Promise<void> {
    // Right or wrong, an answer uses it up.
    held = null;
    messages.clear();
    messages.announce(text.passkeyChecking);
    const { challengeId, options } = challenge;
    const outcome = await post<SignedIn>('/api/v1/auth/passkey/verify', { challengeId, credential });
    if (outcome.ok) return onSignedIn(outcome.data);
    const isStale = STALE.includes(outcome.code);
    if (isStale && !isRetry) return ask(true);
    if (outcome.code === 'passkey_unknown') reportUnknownPasskey(options.rpId ?? location.hostname, credential.id);
    const isOfPasskey = isStale || outcome.code === 'invalid_request';
    view.showFailure(isOfPasskey ? { ...outcome, code: 'passkey_invalid' } : outcome);
  }

  /** The challenge at hand, as a click should not wait for another; or a new one. */
  async function holdChallenge(): Promise<Outcome<HeldChallenge>> {
    if (held && held.usableUntil > Date.now()) return { ok: true, data: held, answeredAt: null };
    const outcome = await post<Challenge>('/api/v1/auth/passkey/options', { clientId });
    if (!outcome.ok) return outcome;
    const life = secondsUntil(outcome.data.expiresAt, outcome.answeredAt, { fallback: 120, atMost: 3_600 });
    held = { ...outcome.data, usableUntil: Date.now() + Math.max(life - MARGIN_SECONDS, MARGIN_SECONDS) * 1_000 };
    return { ...outcome, data: held };
  }

  return {
    suggest,
    cancel() {
      if (isAsking) stopCeremony();
      isAsking = false;
    },
  };
}

/** A page in the background needs no fresh challenge until it is looked at. */
function untilVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true }));
}
