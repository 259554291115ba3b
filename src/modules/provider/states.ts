/** Provider flows in progress, stored as hashes, from which no nonce or PKCE verifier of a flow can be derived. */
import { MINUTE } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import { hashSecret } from '../../core/secret.ts';
import type { Unit } from '../../db/database.ts';
import { consumeProviderState, insertProviderState, type ProviderState } from '../../store/provider-states.ts';

export const STATE_LIFETIME_MS = 10 * MINUTE;

/** A link belongs to a session, a sign-in to none. */
export type NewState = Pick<
  ProviderState,
  'applicationId' | 'issuer' | 'clientId' | 'returnTo' | 'locale' | 'timezone'
> & {
  /** In plain text. */
  readonly state: string;
  readonly sessionId: string | null;
  readonly browser: string;
};

/** Stores the state and the browser's secret as hashes, valid for ten minutes. */
export async function beginState(unit: Unit, { state, browser, sessionId, ...flow }: NewState): Promise<void> {
  await insertProviderState(unit, {
    stateHash: hashOf(state),
    purpose: sessionId === null ? 'sign_in' : 'link',
    sessionId,
    browserHash: hashOf(browser),
    ...flow,
    expiresAt: unit.now + STATE_LIFETIME_MS,
  });
}

/** Consumes a state atomically. @returns null if it is unknown, expired, used, or (not consumed) another browser's. */
export async function consumeState(unit: Unit, state: string, browser: string): Promise<ProviderState | null> {
  const hashes = { stateHash: hashOf(state), browserHash: hashOf(browser) };
  return (await consumeProviderState(unit, hashes)) ?? null;
}

function hashOf(secret: string): Buffer {
  return Buffer.from(hashSecret(secret));
}

/** The values that bind a provider's answer to its flow. */
export interface FlowProofs {
  /** Returned in the id_token (OpenID Connect Core 1.0 §15.5.2). */
  readonly nonce: string;
  /** 43 characters (RFC 7636 §4.1). */
  readonly codeVerifier: string;
}

/** Derives the same proofs from the same state as long as the instance keeps its key. */
export function proofsOf(state: string, instanceKey: InstanceKey): FlowProofs {
  const derive = (purpose: 'nonce' | 'code verifier') =>
    Buffer.from(instanceKey.derive(purpose, state)).toString('base64url');
  return { nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
