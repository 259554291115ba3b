/** The way back from an identity provider: a token or an error in this page's own fragment. */

/** Long enough to sign in over there; a link that somebody sent at another time finds nothing. */
const TRIP_MS = 20 * 60_000;
const KEY = 'gatehouse.provider-departure';

/** What came back from a provider. */
export type ProviderReturn = { token: string; expiresAt: string } | { error: string };

/** Reads the fragment, and takes it out of the address and the history at once. */
export function takeProviderReturn(): ProviderReturn | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [token, expiresAt, error] = ['token', 'expiresAt', 'error'].map((name) => fragment.get(name));
  if (!token && !error) return null;
  history.replaceState(null, '', location.pathname + location.search);
  if (token) return { token, expiresAt: expiresAt ?? '' };
  return error ? { error } : null;
}

/**
 * To be called when the reader goes to a provider. Never throws.
 *
 * @param startUrl where the trip starts; it says where the trip comes back to.
 */
export function rememberDeparture(startUrl: string): void {
  try {
    const returnTo = new URL(startUrl).searchParams.get('returnTo');
    localStorage.setItem(KEY, JSON.stringify({ returnTo, at: Date.now() }));
  } catch {
    // Storage is switched off: where it is asked for, the reader has to sign in another way.
  }
}

/**
 * Whether this browser went to a provider lately to come back to this very address; true once for each departure. A link with
 * somebody else's token does not sign the reader in without one, nor with one that was for another page.
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
