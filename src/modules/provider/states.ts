/**
 * Flows under way at a provider. Each is a `state`, of which only the hash is stored; nonce and PKCE verifier are derived
 * from it, so that nothing in the database can finish a flow. Used up once, by the browser it began in.
 */
import { and, eq, gt, isNull } from 'drizzle-orm';
import { MINUTE } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import { providerStates } from '../../db/schema/providers.ts';
import type { Unit } from '../../db/unit-of-work.ts';

export const STATE_LIFETIME_MS = 10 * MINUTE;

export type ProviderState = typeof providerStates.$inferSelect;

/** A flow that begins: whose, at which provider, and where it ends. A link belongs to a session, a sign-in to none. */
export type NewState = Pick<ProviderState, 'applicationId' | 'issuer' | 'clientId' | 'returnTo'> & {
  readonly sessionId: string | null;
  /** The browser's secret. */
  readonly browser: string;
};

/** @returns the state in plain text. */
export function beginState({ tx, now }: Unit, random: Random, { browser, sessionId, ...flow }: NewState): string {
  const state = mintSecret('providerState', random);
  tx.insert(providerStates)
    .values({
      stateHash: Buffer.from(hashSecret(state)),
      purpose: sessionId === null ? 'sign_in' : 'link',
      sessionId,
      browserHash: Buffer.from(hashSecret(browser)),
      ...flow,
      createdAt: now,
      expiresAt: now + STATE_LIFETIME_MS,
    })
    .run();
  return state;
}

/**
 * Uses a state up, in one statement.
 *
 * @returns null for one that is unknown, expired or used, or was begun in another browser; the last does not use it up.
 */
export function consumeState({ tx, now }: Unit, state: string, browser: string): ProviderState | null {
  const [consumed] = tx
    .update(providerStates)
    .set({ consumedAt: now })
    .where(
      and(
        eq(providerStates.stateHash, Buffer.from(hashSecret(state))),
        eq(providerStates.browserHash, Buffer.from(hashSecret(browser))),
        isNull(providerStates.consumedAt),
        gt(providerStates.expiresAt, now),
      ),
    )
    .returning()
    .all();
  return consumed ?? null;
}

/** What proves to the provider, and to us, that the answer belongs to this very flow. */
export interface FlowProofs {
  /** Stands in the id_token (OpenID Connect Core 1.0 §15.5.2). */
  readonly nonce: string;
  /** RFC 7636 §4.1: 43 characters. */
  readonly codeVerifier: string;
}

export function proofsOf(state: string, instanceKey: InstanceKey): FlowProofs {
  const derive = (purpose: 'nonce' | 'code verifier') =>
    Buffer.from(instanceKey.derive(purpose, state)).toString('base64url');
  return { nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
