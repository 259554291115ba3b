/** Drives the page behind a device's code: signs the reader in, shows what is asked for, and takes their decision. */

import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import type { DevicePageData } from '../page-data.ts';
import { failureOfCode, get, post, signOut, type Failure } from './api.ts';
import { showApplicationLook } from './application-look.ts';
import { fillDeviceRequest, type DeviceRequest } from './device-request.ts';
import { forgetDeviceSession, keepDeviceSession, keptDeviceSession } from './device-session.ts';
import { element, readPageData } from './dom.ts';
import { failureText } from './failure-text.ts';
import { takeDeparture, takeProviderReturn } from './provider-return.ts';
import { createSignIn } from './sign-in-methods.ts';

type Status = DeviceRequest['status'];

/** The session is of no use any more, was none, or is too old for this. */
const SIGNED_OUT = ['unauthenticated', 'invalid_token', 'expired', 'revoked', 'reauthentication_required'];
/** Trying again may help. */
const PASSING = ['network', 'internal', 'unavailable', 'rate_limited'];

const data = readPageData<DevicePageData>();
const { userCode, device: text, errors } = data;
const confirm = element('confirm', HTMLElement);
const approve = element('approve', HTMLButtonElement);
const deny = element('deny', HTMLButtonElement);
const failed = element('failed', HTMLElement);
const retry = element('retry', HTMLButtonElement);

let token: string | null = null;

const { view, start } = createSignIn(data, {
  backTo: () => null,
  onSignedIn: (signedIn) => lookUp(signedIn.token),
});

approve.addEventListener('click', () => void decide('approve', approve, text.confirming));
deny.addEventListener('click', () => void decide('deny', deny, text.declining));
retry.addEventListener('click', () => void lookUpAgain());
element('change-account', HTMLButtonElement).addEventListener('click', () => {
  endSession();
  view.showWays();
});

async function lookUp(sessionToken: string): Promise<void> {
  token = sessionToken;
  keepDeviceSession(userCode, sessionToken);
  view.messages.announce(text.checking);
  const path = `/api/account/device?user_code=${encodeURIComponent(userCode)}`;
  const outcome = await get<DeviceRequest>(path, sessionToken);
  if (!outcome.ok) return showFailure(outcome);
  if (outcome.data.status !== 'pending') return showDecided(outcome.data.status);
  fillDeviceRequest(outcome.data, data);
  view.showOnly(confirm);
}

async function lookUpAgain(): Promise<void> {
  const sessionToken = token;
  if (sessionToken === null) return view.showWays();
  await view.runBusy(retry, () => lookUp(sessionToken));
}

async function decide(decision: 'approve' | 'deny', button: HTMLButtonElement, announcement: string): Promise<void> {
  const sessionToken = token;
  if (sessionToken === null) return view.showWays();
  await view.runBusy(button, async () => {
    view.messages.announce(announcement);
    const path = `/api/account/device/${decision}`;
    const outcome = await post<{ status: Status }>(path, { user_code: userCode }, sessionToken);
    if (outcome.ok) return showDecided(outcome.data.status);
    // Answered elsewhere meanwhile, as in another tab: what it has come to is what counts.
    if (outcome.code === 'invalid_state') return lookUp(sessionToken);
    showFailure(outcome);
  });
}

function showDecided(status: Status): void {
  endSession();
  view.showOnly(element(status === 'denied' ? 'declined' : 'approved', HTMLElement));
}

function showFailure(failure: Failure): void {
  if (SIGNED_OUT.includes(failure.code)) {
    endSession();
    view.showWays();
    return view.messages.error(text.sessionEnded);
  }
  const isPassing = PASSING.includes(failure.code);
  const isGone = failure.code === 'not_found' || failure.code === 'invalid_state';
  if (!isPassing) endSession();
  retry.hidden = !isPassing;
  element('failed-text', HTMLElement).textContent = isGone ? text.expired : failureText(errors, failure);
  view.showOnly(failed);
}

/** The session was for this decision alone; but that of the console is in the browser's cookie as well, and stays. */
function endSession(): void {
  if (token !== null && data.clientId !== CONSOLE_CLIENT_ID) signOut(token);
  token = null;
  forgetDeviceSession();
}

function resume(): void {
  const back = takeProviderReturn();
  const isExpected = takeDeparture();
  const kept = back && 'token' in back && isExpected ? back.token : keptDeviceSession(userCode);
  if (kept !== null) {
    view.showOnly(element('checking', HTMLElement));
    return void lookUp(kept);
  }
  start();
  if (back) view.showFailure(failureOfCode('error' in back ? back.error : 'provider_failed'));
}

showApplicationLook();
resume();
