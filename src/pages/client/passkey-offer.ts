/** Offers a passkey after a sign-in by code: once in a browser, and never in the way of going on. */

import type { SignInData } from '../page-data.ts';
import { get, post, type Outcome } from './api.ts';
import { createBusyRunner } from './busy.ts';
import { element } from './dom.ts';
import type { SignInView } from './sign-in-view.ts';
import { canKeepPasskeys, canUsePasskeys, createPasskey, type CreationOptions } from './webauthn.ts';

interface Challenge {
  challengeId: string;
  options: CreationOptions;
}

const KEY = 'gatehouse.passkey-offered';
/** Nobody waits longer for an offer they did not ask for. */
const PATIENCE_MS = 3_000;
/** After that an offer that was left standing asks for another challenge. */
const CHALLENGE_MS = 4 * 60_000;

/** Resolves when the reader can go on: at once where there is nothing to offer. Never throws. */
export async function offerPasskey(data: SignInData, view: SignInView, token: string): Promise<void> {
  const { promise: impatience, resolve } = Promise.withResolvers<false>();
  setTimeout(() => resolve(false), PATIENCE_MS);
  if (!(await Promise.race([isWorthOffering(data, token), impatience])) || !rememberOffer()) return;

  // Asked for beforehand: some browsers make a passkey only right after a click.
  let challenge = requestChallenge(token);
  const shownAt = Date.now();
  view.showOnly(element('offer', HTMLElement));
  await answer(async () => {
    if (Date.now() > shownAt + CHALLENGE_MS) challenge = requestChallenge(token);
    view.messages.announce(data.text.offerCreating);
    await create(await challenge, token);
  });
}

async function isWorthOffering({ passkeyHost }: SignInData, token: string): Promise<boolean> {
  if (wasOffered() || !canUsePasskeys(passkeyHost) || !(await canKeepPasskeys())) return false;
  const own = await get<{ items: unknown[] }>('/api/account/passkeys', token);
  return own.ok && own.data.items.length === 0;
}

function requestChallenge(token: string): Promise<Outcome<Challenge>> {
  return post('/api/account/passkeys/options', {}, token);
}

/** Resolves once the reader has declined, or has accepted and `work` is done. */
function answer(work: () => Promise<void>): Promise<void> {
  const accept = element('offer-create', HTMLButtonElement);
  const runBusy = createBusyRunner();
  return new Promise((resolve) => {
    accept.addEventListener('click', () => void runBusy(accept, work).then(resolve));
    element('offer-skip', HTMLButtonElement).addEventListener('click', () => resolve());
  });
}

/** Whatever goes wrong here, the reader is signed in and goes on; they can make a passkey later. */
async function create(challenge: Outcome<Challenge>, token: string): Promise<void> {
  if (!challenge.ok) return;
  const { challengeId, options } = challenge.data;
  const ceremony = await createPasskey(options);
  if (ceremony.ok) await post('/api/account/passkeys', { challengeId, credential: ceremony.credential }, token);
}

function wasOffered(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true;
  }
}

/** @returns false where it cannot be remembered; no offer is made then, as it would come back every time. */
function rememberOffer(): boolean {
  try {
    localStorage.setItem(KEY, new Date().toISOString());
    return true;
  } catch {
    return false;
  }
}
