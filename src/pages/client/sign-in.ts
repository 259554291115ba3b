/** Drives the sign-in page: e-mail, code, and back to the application with a session token. */

import { format } from '../../i18n/format.ts';
import type { SignInPageData } from '../page-data.ts';
import { applyAccent } from './accent.ts';
import { post, type Failure, type SignedIn, type Success } from './api.ts';
import { createBusyRunner } from './busy.ts';
import { CODE_LENGTH, codeDigits, extractCode } from './code.ts';
import { element, fillEmphasized, readPageData } from './dom.ts';
import { failureText } from './failure-text.ts';
import { createMessages } from './messages.ts';
import { isReload, loadPending, savePending, type Pending } from './pending.ts';
import { withFragment } from './return-url.ts';
import { clockText, secondsUntil, startCountdown } from './timing.ts';

interface Challenge {
  challengeId: string;
  expiresAt: string;
  resendAfter: string;
}

/** No new code helps against these: the reader is told why, and can go back. */
const REFUSALS = ['gate_closed', 'waitlist', 'user_deleted', 'email_archived', 'application_archived'];
/** The challenge is dead: only a new code helps. */
const SPENT = ['code_expired', 'code_exhausted', 'code_consumed', 'not_found'];

const data = readPageData<SignInPageData>();
const { text, errors } = data;

const steps = element('steps', HTMLElement);
const title = element('title', HTMLElement);
const lead = element('lead', HTMLElement);
const emailForm = element('email-form', HTMLFormElement);
const email = element('email', HTMLInputElement);
const emailSubmit = element('email-submit', HTMLButtonElement);
const codeForm = element('code-form', HTMLFormElement);
const code = element('code', HTMLInputElement);
const codeSubmit = element('code-submit', HTMLButtonElement);
const resend = element('resend', HTMLButtonElement);

const messages = createMessages([email, code]);
const runBusy = createBusyRunner();
let pending = loadPending(data.clientId);
let stopCountdown = () => {};

function start(): void {
  applyAccent();
  const logo = document.getElementById('logo');
  logo?.addEventListener('error', () => logo.remove());
  if (logo instanceof HTMLImageElement && logo.complete && logo.naturalWidth === 0) logo.remove();

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
  element('change-email', HTMLButtonElement).addEventListener('click', showEmailStep);
  element('refused-change-email', HTMLButtonElement).addEventListener('click', showEmailStep);
  if (pending && isReload()) showCodeStep(pending);
}

async function submitEmail(): Promise<void> {
  const address = email.value.trim();
  messages.clear();
  if (!/^\S+@\S+$/.test(address)) return messages.error(errors.invalid_request, email);
  // Asked again within the cool-down, as after "Use another e-mail" and back: the code just sent still works.
  if (pending?.email === address && pending.resendAt > Date.now()) return showCodeStep(pending);

  await runBusy(emailSubmit, async () => {
    messages.announce(text.sending);
    const outcome = await requestCode(address);
    if (!outcome.ok) return showFailure(outcome, email);
    showCodeStep(remember(address, outcome));
  });
}

async function sendAnotherCode(): Promise<void> {
  const address = pending?.email;
  if (!address) return showEmailStep();
  await runBusy(resend, async () => {
    messages.clear();
    messages.announce(text.sending);
    const outcome = await requestCode(address);
    if (outcome.ok) {
      showCodeStep(remember(address, outcome));
      return messages.note(text.resent);
    }
    showFailure(outcome);
    if (outcome.code !== 'rate_limited') return;
    countDown(outcome.retryAfterSeconds ?? 30);
    code.focus();
  });
}

async function submitCode(): Promise<void> {
  const digits = extractCode(code.value);
  const challengeId = pending?.challengeId;
  if (!digits) return messages.error(text.codeIncomplete, code);
  if (!challengeId) return showEmailStep();

  await runBusy(codeSubmit, async () => {
    messages.clear();
    messages.announce(text.verifying);
    code.readOnly = true;
    const outcome = await post<SignedIn>('/api/v1/auth/otp/verify', { challengeId, code: digits });
    code.readOnly = false;
    if (outcome.ok) return finish(outcome.data);
    if (SPENT.includes(outcome.code)) return showSpent(outcome);
    showFailure(outcome, code);
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
  const { clientId, locale } = data;
  return post<Challenge>('/api/v1/auth/otp/send', { email: address, clientId, locale });
}

function remember(address: string, { data: challenge, answeredAt }: Success<Challenge>): Pending {
  const wait = secondsUntil(challenge.resendAfter, answeredAt, { fallback: 30, atMost: 300 });
  const life = secondsUntil(challenge.expiresAt, answeredAt, { fallback: 600, atMost: 3_600 });
  const { challengeId } = challenge;
  pending = { email: address, challengeId, resendAt: Date.now() + wait * 1_000, expiresAt: Date.now() + life * 1_000 };
  savePending(data.clientId, pending);
  return pending;
}

function showCodeStep(current: Pending): void {
  messages.clear();
  title.textContent = text.codeTitle;
  fillEmphasized(lead, text.codeLead, 'email', current.email);
  email.value = current.email;
  delete codeForm.dataset['spent'];
  emailForm.hidden = true;
  codeForm.hidden = false;
  code.value = '';
  code.focus();
  countDown(Math.ceil((current.resendAt - Date.now()) / 1_000));
}

function showEmailStep(): void {
  messages.clear();
  title.textContent = document.title = format(text.title, { app: data.appName });
  lead.textContent = text.lead;
  element('refused', HTMLElement).hidden = true;
  steps.hidden = false;
  codeForm.hidden = true;
  emailForm.hidden = false;
  email.focus();
  email.select();
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

function showFailure(failure: Failure, field?: HTMLInputElement): void {
  if (REFUSALS.includes(failure.code)) return showRefused(failure.code);
  messages.error(failureText(errors, failure), field);
}

function showSpent(failure: Failure): void {
  savePending(data.clientId, null);
  const reason = failure.code === 'not_found' ? 'code_expired' : failure.code;
  code.value = '';
  messages.error(failureText(errors, { ...failure, code: reason }), code);
  codeForm.dataset['spent'] = '';
  if (!resend.disabled) resend.focus();
}

function showRefused(reason: string): void {
  forget();
  const heading = element('refused-title', HTMLElement);
  if (reason === 'waitlist') heading.textContent = text.waitlistTitle;
  else heading.textContent = format(text.refusedTitle, { app: data.appName });
  element('refused-text', HTMLElement).textContent = errors[reason as keyof typeof errors];
  const back = element('back', HTMLAnchorElement);
  const address = withFragment(data.returnTo, { error: reason });
  back.hidden = address === null;
  if (address) back.href = address;
  showEnd(element('refused', HTMLElement), heading);
}

function finish({ token, expiresAt }: SignedIn): void {
  forget();
  const address = withFragment(data.returnTo, { token, expiresAt });
  const section = element('signed-in', HTMLElement);
  if (address) element('signed-in-text', HTMLElement).textContent = format(text.returning, { app: data.appName });
  showEnd(section, section.querySelector('h1'));
  if (address) location.replace(address);
}

function showEnd(section: HTMLElement, heading: HTMLElement | null): void {
  messages.clear();
  steps.hidden = true;
  section.hidden = false;
  if (heading) document.title = heading.textContent ?? '';
  heading?.focus();
}

function forget(): void {
  stopCountdown();
  pending = null;
  savePending(data.clientId, null);
}

start();
