/** Handles the return from an identity provider, which puts a token or an error into the fragment. */

import { expectLaterStep } from './later-step.ts';

/** Time allowed for signing in at the provider; a link opened outside it is ignored. */
const TRIP_MS = 20 * 60_000;
const KEY = 'gatehouse.provider-departure';

export type ProviderReturn = { token: string; expiresAt: string } | { error: string };

/** Returns whether the address brings a provider's answer, without taking it. */
export const isProviderReturn = () => /[#&](?:token|error)=/.test(location.hash);

/** Reads the fragment, and removes it from the address and the history at once. */
export function takeProviderReturn(): ProviderReturn | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [token, expiresAt, error] = ['token', 'expiresAt', 'error'].map((name) => fragment.get(name));
  if (!token && !error) return null;
  expectLaterStep(0);
  history.replaceState(null, '', location.pathname + location.search);
  if (token) return { token, expiresAt: expiresAt ?? '' };
  return error ? { error } : null;
}

/** Call when the reader goes to a provider. Never throws. @param startUrl of the flow, contains the return address. */
export function rememberDeparture(startUrl: string): void {
  expectLaterStep(TRIP_MS / 1_000);
  try {
    const returnTo = new URL(startUrl).searchParams.get('returnTo');
    localStorage.setItem(KEY, JSON.stringify({ returnTo, at: Date.now() }));
  } catch {
    // Storage is disabled: where a departure is required, the provider cannot be used.
  }
}

/**
 * Returns whether this browser recently went to a provider with this address to return to; true once per departure.
 * Login CSRF protection: a link with somebody else's token signs nobody in.
 */
export function takeDeparture(): boolean {
  try {
    const departure = JSON.parse(localStorage.getItem(KEY) ?? 'null') as { returnTo: unknown; at: unknown } | null;
    if (departure?.returnTo !== location.origin + location.pathname + location.search) return false;
    localStorage.removeItem(KEY);
    return typeof departure.at === 'number' && departure.at > Date.now() - TRIP_MS;
  } catch {
    return false;
  }
}
