/** The sign-in part of a page as its reader sees it: one of its steps at a time, a refusal, and what is said there. */

import { format } from '../../core/format.ts';
import type { SignInData } from '../page-data.ts';
import type { Failure } from './api.ts';
import { createBusyRunner } from './busy.ts';
import { element, fillEmphasized, findElement } from './dom.ts';
import { failureText } from './failure-text.ts';
import { createMessages, type Messages } from './messages.ts';

/** No other way helps against these: the reader is told why, and can go back. */
const REFUSALS = [
  'gate_closed',
  'waitlist',
  'user_deleted',
  'email_archived',
  'membership_blocked',
  'application_archived',
];

/** What the ways to sign in share of the page. */
export interface SignInView {
  readonly messages: Messages;
  readonly runBusy: ReturnType<typeof createBusyRunner>;
  /** The first step: e-mail address, passkey, provider. */
  showWays(): void;
  showCodeStep(email: string): void;
  /** Says a failure beside the field it is about; a refusal takes the place of the steps. */
  showFailure(failure: Failure, field?: HTMLInputElement): void;
  /** Shows a section of the page in place of everything else. */
  showOnly(section: HTMLElement): void;
}

/** What becomes of a person who is refused. */
export interface SignInViewOptions {
  /** Where a refused person can go back to. */
  readonly backTo: (reason: string) => string | null;
  readonly onRefused: () => void;
}

/** Moves the focus with each step, so that keyboards and screen readers follow. */
export function createSignInView(data: SignInData, { backTo, onRefused }: SignInViewOptions): SignInView {
  const { text, errors, appName } = data;
  const steps = element('steps', HTMLElement);
  const title = element('title', HTMLElement);
  const lead = element('lead', HTMLElement);
  const ways = element('ways', HTMLElement);
  const refused = element('refused', HTMLElement);
  const email = findElement('email', HTMLInputElement);
  const codeForm = findElement('code-form', HTMLFormElement);
  const code = findElement('code', HTMLInputElement);
  const messages = createMessages([email, code].filter((field) => field !== null));
  const parts = [steps, ...document.querySelectorAll<HTMLElement>('.card > section')];
  const first = { pageTitle: document.title, title: title.textContent, lead: [...lead.childNodes] };

  element('refused-change-email', HTMLButtonElement).addEventListener('click', showWays);

  function showWays(): void {
    messages.clear();
    document.title = first.pageTitle;
    title.textContent = first.title;
    lead.replaceChildren(...first.lead);
    showPart(steps);
    ways.hidden = false;
    if (codeForm) codeForm.hidden = true;
    email?.focus();
    email?.select();
  }

  function showPart(part: HTMLElement): void {
    for (const other of parts) other.hidden = other !== part;
  }

  function showCodeStep(address: string): void {
    messages.clear();
    title.textContent = text.codeTitle;
    fillEmphasized(lead, text.codeLead, 'email', address);
    ways.hidden = true;
    if (codeForm) codeForm.hidden = false;
  }

  function showRefused(reason: string): void {
    onRefused();
    const heading = element('refused-title', HTMLElement);
    heading.textContent = reason === 'waitlist' ? text.waitlistTitle : format(text.refusedTitle, { app: appName });
    element('refused-text', HTMLElement).textContent = errors[reason as keyof typeof errors];
    const back = element('back', HTMLAnchorElement);
    const address = backTo(reason);
    back.hidden = address === null;
    if (address) back.href = address;
    showOnly(refused);
  }

  function showOnly(section: HTMLElement): void {
    messages.clear();
    showPart(section);
    const heading = section.querySelector('h1');
    document.title = heading?.textContent ?? document.title;
    heading?.focus();
  }

  return {
    messages,
    runBusy: createBusyRunner(),
    showWays,
    showCodeStep,
    showFailure(failure, field) {
      if (REFUSALS.includes(failure.code)) return showRefused(failure.code);
      messages.error(failureText(errors, failure), field);
    },
    showOnly,
  };
}
