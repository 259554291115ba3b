/** Offers a passkey after a sign-in by code: once in a browser, and never in the way of going on. */
import { get, type Outcome, post } from '../browser/api.ts';
import { canKeepPasskeys, canUsePasskeys, createPasskey, type CreationOptions } from '../browser/webauthn.ts';

interface Challenge {
  readonly challengeId: string;
  readonly options: CreationOptions;
}

const KEY = 'gatehouse.passkey-offered';
/** Nobody waits longer for an offer they did not ask for. */
const PATIENCE_MS = 3_000;
/** After that an offer that was left standing asks for another challenge. */
const CHALLENGE_MS = 4 * 60_000;

/** An offer that is shown. */
export interface PasskeyOffer {
  /** To be called right after a click. Resolves when it is over, made or not. Never throws. */
  accept(): Promise<void>;
}

/** @returns null where there is nothing to offer, or it cannot be known soon enough. Never throws. */
export async function preparePasskeyOffer(passkeyHost: string | null, token: string): Promise<PasskeyOffer | null> {
  const { promise: impatience, resolve } = Promise.withResolvers<false>();
  setTimeout(() => resolve(false), PATIENCE_MS);
  if (!(await Promise.race([isWorthOffering(passkeyHost, token), impatience])) || !rememberOffer()) return null;
  // Asked for beforehand: some browsers make a passkey only right after a click.
  let challenge = requestChallenge(token);
  const shownAt = Date.now();
  return {
    async accept() {
      if (Date.now() > shownAt + CHALLENGE_MS) challenge = requestChallenge(token);
      await create(await challenge, token);
    },
  };
}

async function isWorthOffering(passkeyHost: string | null, token: string): Promise<boolean> {
  if (wasOffered() || !canUsePasskeys(passkeyHost) || !(await canKeepPasskeys())) return false;
  const own = await get<{ items: unknown[] }>('/api/account/passkeys', token);
  return own.ok && own.data.items.length === 0;
}

function requestChallenge(token: string): Promise<Outcome<Challenge>> {
  return post('/api/account/passkeys/options', {}, token);
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
