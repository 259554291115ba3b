/** Drives the setup page: makes the owner, then on request a workspace API key that is shown once. */

import type { SetupPageData } from '../page-data.ts';
import { post, type Failure, type SignedIn } from './api.ts';
import { createBusyRunner } from './busy.ts';
import { copyText } from './clipboard.ts';
import { element, fillEmphasized, readPageData } from './dom.ts';
import { failureText } from './failure-text.ts';
import { createMessages } from './messages.ts';
import { browserTimezone } from './timing.ts';

const data = readPageData<SetupPageData>();
const { text, errors } = data;

const form = element('setup-form', HTMLFormElement);
const email = element('email', HTMLInputElement);
const createKey = element('create-key', HTMLButtonElement);
const key = element('key', HTMLElement);
const example = element('example', HTMLElement);

const messages = createMessages([email], 'message');
const keyMessages = createMessages([], 'key-message');
const runBusy = createBusyRunner();

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void makeOwner();
});

async function makeOwner(): Promise<void> {
  const address = email.value.trim();
  messages.clear();
  if (!/^\S+@\S+$/.test(address)) return messages.error(errors.invalid_request, email);
  await runBusy(element('setup-submit', HTMLButtonElement), async () => {
    messages.announce(text.working);
    const outcome = await post<SignedIn>('/api/setup', {
      token: data.token,
      email: address,
      timezone: browserTimezone(),
    });
    if (!outcome.ok) return messages.error(setupFailureText(outcome), email);
    showDone(address, outcome.data.token);
  });
}

/** Everything that says "this token is not good" means one thing to the reader: the link is spent. */
function setupFailureText(failure: Failure): string {
  const isLinkSpent = /^(?:not_found|unauthenticated|forbidden|invalid_state|code_\w+)$/.test(failure.code);
  return isLinkSpent ? text.linkSpent : failureText(errors, failure);
}

function showDone(address: string, sessionToken: string): void {
  // The link has done its work; it should not stay in the history.
  history.replaceState(null, '', location.pathname);
  messages.clear();
  fillEmphasized(element('done-lead', HTMLElement), text.doneLead, 'email', address);
  element('ask', HTMLElement).hidden = true;
  element('done', HTMLElement).hidden = false;
  const heading = element('done-title', HTMLElement);
  document.title = heading.textContent ?? '';
  heading.focus();
  createKey.addEventListener('click', () => void makeKey(sessionToken));
}

async function makeKey(sessionToken: string): Promise<void> {
  await runBusy(createKey, async () => {
    keyMessages.clear();
    keyMessages.announce(text.creatingKey);
    const body = { name: text.keyName, access: 'full' };
    const outcome = await post<{ token: string }>('/api/workspace/api-keys', body, sessionToken);
    if (!outcome.ok) return keyMessages.error(failureText(errors, outcome));
    showKey(outcome.data.token);
  });
}

function showKey(token: string): void {
  keyMessages.clear();
  key.textContent = token;
  example.textContent = `curl ${location.origin}/api/applications \\\n  -H 'Authorization: Bearer ${token}'`;
  createKey.hidden = true;
  element('key-lead', HTMLElement).hidden = true;
  element('key-result', HTMLElement).hidden = false;
  const heading = element('key-title', HTMLElement);
  heading.textContent = text.keyReady;
  heading.focus();
  const copyKey = element('copy-key', HTMLButtonElement);
  copyKey.hidden = false;
  offerCopy(copyKey, key);
  offerCopy(element('copy-example', HTMLButtonElement), example);
}

function offerCopy(button: HTMLButtonElement, source: HTMLElement): void {
  button.addEventListener('click', async () => {
    const isCopied = await copyText(source);
    keyMessages.clear();
    if (!isCopied) return keyMessages.error(text.copyFailed);
    button.textContent = text.copied;
    keyMessages.announce(text.copied);
    setTimeout(() => {
      button.textContent = text.copy;
    }, 2_000);
  });
}
