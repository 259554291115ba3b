/**
 * Flows under way at a provider. Each is a `state`, of which only the hash is stored; nonce and PKCE verifier are derived
 * from it, so that nothing in the database can finish a flow. Used up once, by the browser it began in.
 */
import { MINUTE } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import { hashSecret } from '../../core/secret.ts';
import type { Unit } from '../../db/database.ts';
import { consumeProviderState, insertProviderState, type ProviderState } from '../../store/provider-states.ts';

export const STATE_LIFETIME_MS = 10 * MINUTE;

/** A flow that begins: whose, at which provider, and where it ends. A link belongs to a session, a sign-in to none. */
export type NewState = Pick<
  ProviderState,
  'applicationId' | 'issuer' | 'clientId' | 'returnTo' | 'locale' | 'timezone'
> & {
  /** In plain text. */
  readonly state: string;
  readonly sessionId: string | null;
  /** The browser's secret. */
  readonly browser: string;
};

/** Keeps hashes alone of `state` and of the browser's secret. It can be used for ten minutes. */
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

/**
 * Uses a state up, in one statement.
 *
 * @returns null for one that is unknown, expired or used, or was begun in another browser; the last does not use it up.
 */
export async function consumeState(unit: Unit, state: string, browser: string): Promise<ProviderState | null> {
  const hashes = { stateHash: hashOf(state), browserHash: hashOf(browser) };
  return (await consumeProviderState(unit, hashes)) ?? null;
}

function hashOf(secret: string): Buffer {
  return Buffer.from(hashSecret(secret));
}

/** What proves to the provider, and to us, that the answer belongs to this very flow. */
export interface FlowProofs {
  /** Stands in the id_token (OpenID Connect Core 1.0 §15.5.2). */
  readonly nonce: string;
  /** RFC 7636 §4.1: 43 characters. */
  readonly codeVerifier: string;
}

/** The same state gives the same proofs, as long as the instance keeps its key. */
export function proofsOf(state: string, instanceKey: InstanceKey): FlowProofs {
  const derive = (purpose: 'nonce' | 'code verifier') =>
    Buffer.from(instanceKey.derive(purpose, state)).toString('base64url');
  return { nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
