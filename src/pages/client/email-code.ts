/** Signing in by e-mail: asks for the address, then for the code sent to it. */

import { format } from '../../core/format.ts';
import type { SignInData } from '../page-data.ts';
import { post, type Failure, type SignedIn, type Success } from './api.ts';
import { CODE_LENGTH, codeDigits, extractCode } from './code.ts';
import { element } from './dom.ts';
import { failureText } from './failure-text.ts';
import { isReload, loadPending, savePending, type Pending } from './pending.ts';
import type { SignInView } from './sign-in-view.ts';
import { browserTimezone, clockText, secondsUntil, startCountdown } from './timing.ts';

interface Challenge {
  challengeId: string;
  expiresAt: string;
  resendAfter: string;
}

/** The challenge is dead: only a new code helps. */
const SPENT = ['code_expired', 'code_exhausted', 'code_consumed', 'not_found'];

/** The way in by e-mail, as the page steers it. */
export interface EmailCode {
  /** Goes on with a code that was sent before this page was loaded again. @returns whether there is one. */
  resume(): boolean;
  /** Drops the code that is under way. */
  forget(): void;
}

/** What the page wants to know of this way in. */
export interface EmailCodeOptions {
  readonly onSignedIn: (signedIn: SignedIn) => Promise<void>;
  /** The reader has chosen this way. */
  readonly onChosen: () => void;
}

/** A code that is complete is sent at once; a spent one leads to a new one. */
export function createEmailCode(data: SignInData, view: SignInView, options: EmailCodeOptions): EmailCode {
  const { text, errors, clientId, locale } = data;
  const { messages, runBusy } = view;
  const emailForm = element('email-form', HTMLFormElement);
  const email = element('email', HTMLInputElement);
  const emailSubmit = element('email-submit', HTMLButtonElement);
  const codeForm = element('code-form', HTMLFormElement);
  const code = element('code', HTMLInputElement);
  const codeSubmit = element('code-submit', HTMLButtonElement);
  const resend = element('resend', HTMLButtonElement);
  let pending = loadPending(clientId);
  let stopCountdown = () => {};

  emailForm.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitEmail();
  });
  codeForm.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitCode();
  });
  code.addEventListener('input', takeTypedCode);
  code.addEventListener('paste', takePastedCode);
  resend.addEventListener('click', () => void sendAnotherCode());
  element('change-email', HTMLButtonElement).addEventListener('click', view.showWays);

  async function submitEmail(): Promise<void> {
    const address = email.value.trim();
    messages.clear();
    if (!/^\S+@\S+$/.test(address)) return messages.error(errors.invalid_request, email);
    options.onChosen();
    // Asked again within the cool-down, as after "Use another e-mail" and back: the code just sent still works.
    if (pending?.email === address && pending.resendAt > Date.now()) return showCode(pending);

    await runBusy(emailSubmit, async () => {
      messages.announce(text.sending);
      const outcome = await requestCode(address);
      if (!outcome.ok) return view.showFailure(outcome, email);
      showCode(remember(address, outcome));
    });
  }

  async function sendAnotherCode(): Promise<void> {
    const address = pending?.email;
    if (!address) return view.showWays();
    await runBusy(resend, async () => {
      messages.clear();
      messages.announce(text.sending);
      const outcome = await requestCode(address);
      if (outcome.ok) {
        showCode(remember(address, outcome));
        return messages.note(text.resent);
      }
      view.showFailure(outcome);
      if (outcome.code !== 'rate_limited') return;
      countDown(outcome.retryAfterSeconds ?? 30);
      code.focus();
    });
  }

  async function submitCode(): Promise<void> {
    const digits = extractCode(code.value);
    const challengeId = pending?.challengeId;
    if (!digits) return messages.error(text.codeIncomplete, code);
    if (!challengeId) return view.showWays();

    await runBusy(codeSubmit, async () => {
      messages.clear();
      messages.announce(text.verifying);
      code.readOnly = true;
      const outcome = await post<SignedIn>('/api/v1/auth/otp/verify', {
        challengeId,
        code: digits,
        timezone: browserTimezone(),
      });
      code.readOnly = false;
      if (outcome.ok) {
        forget();
        return options.onSignedIn(outcome.data);
      }
      if (SPENT.includes(outcome.code)) return showSpent(outcome);
      view.showFailure(outcome, code);
      code.select();
    });
  }

  function takeTypedCode(event: Event): void {
    if (code.readOnly || (event instanceof InputEvent && event.isComposing)) return;
    const digits = codeDigits(code.value);
    if (digits !== code.value) code.value = digits;
    if (digits.length === CODE_LENGTH) void submitCode();
  }

  /** A pasted sentence may be longer than the field takes, so that it is read from the clipboard. */
  function takePastedCode(event: ClipboardEvent): void {
    const digits = extractCode(event.clipboardData?.getData('text') ?? '');
    if (!digits || code.readOnly) return;
    event.preventDefault();
    code.value = digits;
    void submitCode();
  }

  function requestCode(address: string) {
    return post<Challenge>('/api/v1/auth/otp/send', { email: address, clientId, locale });
  }

  function remember(address: string, { data: challenge, answeredAt }: Success<Challenge>): Pending {
    const { challengeId } = challenge;
    const wait = secondsUntil(challenge.resendAfter, answeredAt, { fallback: 30, atMost: 300 });
    const life = secondsUntil(challenge.expiresAt, answeredAt, { fallback: 600, atMost: 3_600 });
    const now = Date.now();
    pending = { email: address, challengeId, resendAt: now + wait * 1_000, expiresAt: now + life * 1_000 };
    savePending(clientId, pending);
    return pending;
  }

  function showCode(current: Pending): void {
    view.showCodeStep(current.email);
    email.value = current.email;
    delete codeForm.dataset['spent'];
    code.value = '';
    code.focus();
    countDown(Math.ceil((current.resendAt - Date.now()) / 1_000));
  }

  function countDown(seconds: number): void {
    stopCountdown();
    resend.disabled = seconds > 0;
    stopCountdown = startCountdown(Math.max(0, seconds), (secondsLeft) => {
      resend.textContent = secondsLeft > 0 ? format(text.resendIn, { time: clockText(secondsLeft) }) : text.resend;
      if (secondsLeft > 0 || !resend.disabled) return;
      resend.disabled = false;
      if (!codeForm.hidden) messages.announce(text.resendReady);
    });
  }

  function showSpent(failure: Failure): void {
    savePending(clientId, null);
    const reason = failure.code === 'not_found' ? 'code_expired' : failure.code;
    code.value = '';
    messages.error(failureText(errors, { ...failure, code: reason }), code);
    codeForm.dataset['spent'] = '';
    if (!resend.disabled) resend.focus();
  }

  function forget(): void {
    stopCountdown();
    pending = null;
    savePending(clientId, null);
  }

  return {
    resume() {
      if (!pending || !isReload()) return false;
      showCode(pending);
      return true;
    },
    forget,
  };
}
