/** Offers a passkey after a sign-in by code: once per browser, and without blocking the reader. */
import { get, type Outcome, post } from '../browser/api.ts';
import { canKeepPasskeys, canUsePasskeys, createPasskey, type CreationOptions } from '../browser/webauthn.ts';

interface Challenge {
  readonly challengeId: string;
  readonly options: CreationOptions;
}

const KEY = 'gatehouse.passkey-offered';
/** Maximum wait before continuing without an offer. */
const PATIENCE_MS = 3_000;
/** Age after which an open offer requests a new challenge. */
const CHALLENGE_MS = 4 * 60_000;

export interface PasskeyOffer {
  /** Call right after a click. Resolves when the ceremony ends, with or without a passkey. Never throws. */
  accept(): Promise<void>;
}

/** @returns null if there is nothing to offer, or that cannot be determined in time. Never throws. */
export async function preparePasskeyOffer(passkeyHost: string | null, token: string): Promise<PasskeyOffer | null> {
  const { promise: impatience, resolve } = Promise.withResolvers<false>();
  setTimeout(() => resolve(false), PATIENCE_MS);
  if (!(await Promise.race([isWorthOffering(passkeyHost, token), impatience])) || !rememberOffer()) return null;
  // Requested in advance: some browsers create a passkey only right after a click.
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
/** Ignores failures: the reader is signed in and can create a passkey later. */
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

/** @returns false if storage fails; no offer is made then, as it would repeat every time. */
function rememberOffer(): boolean {
  try {
    localStorage.setItem(KEY, new Date().toISOString());
    return true;
  } catch {
    return false;
  }
}
