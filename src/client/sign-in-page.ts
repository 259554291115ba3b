/** Sends browsers to the hosted sign-in page and reads the result on return. */
import { baseUrl, required } from './options.ts';

export interface SignInUrlOptions {
  /** Base URL of the server. */
  readonly url: string;
  readonly clientId: string;
  /** At or below one of the application's return URLs. */
  readonly returnTo: string;
  /**
   * CSRF protection: without it, a link could sign somebody in to another person's account.
   * Browsers generate and keep one; a server has to pass its own, bound to the visitor. `null` goes without.
   */
  readonly state?: string | null;
  /** BCP 47 language of the page. */
  readonly locale?: string;
}

export type SignInReturn =
  | { readonly token: string; readonly expiresAt: string; readonly error?: undefined }
  | {
      /** Error code of the server, such as `access_denied`; `state_mismatch` when the sign-in began elsewhere. */
      readonly error: string;
      readonly token?: undefined;
    };

const KEPT_AS = 'gatehouse.state';

/** @throws {TypeError} for wrong addresses, and on a server without `state`. */
export function signInUrl({ url, clientId, returnTo, state = keptState(), locale }: SignInUrlOptions): string {
  const server = baseUrl('signInUrl', url);
  required('signInUrl', 'clientId', clientId, 'CLIENT_ID');
  const back = new URL(returnTo);
  if (state !== null) {
    keep(state);
    back.searchParams.set('state', state);
  }
  return `${server}/sign-in?${new URLSearchParams({ clientId, returnTo: back.href, ...(locale && { locale }) })}`;
}

/**
 * Reads the result of a sign-in from the page's address and removes it there and from the history.
 * A token is accepted once, in the tab in which the sign-in began.
 * @param state expected value if the page keeps it itself; `null` if it uses none.
 * @returns null when the address holds no result.
 */
export function readReturn(
  address: { readonly href: string } = location,
  { state = storage((kept) => kept.getItem(KEPT_AS)) ?? '' }: { readonly state?: string | null } = {},
): SignInReturn | null {
  const url = new URL(address.href);
  const given = new URLSearchParams(url.hash.slice(1));
  const [token, expiresAt, error] = ['token', 'expiresAt', 'error'].map((name) => given.get(name));
  if (!token && !error) return null;
  const returned = url.searchParams.get('state');
  storage((kept) => kept.removeItem(KEPT_AS));
  url.hash = '';
  if (state !== null) url.searchParams.delete('state');
  if (address === globalThis.location) history.replaceState(history.state, '', url.href.replace(/#$/, ''));
  if (!token) return { error: error ?? 'unexpected' };
  if (state !== null && (state === '' || returned !== state)) return { error: 'state_mismatch' };
  return { token, expiresAt: expiresAt ?? '' };
}

/**
 * Shares one state among all links of a tab, so that any of them works.
 * @throws {TypeError} on a server, where each visitor needs a state of their own.
 */
function keptState(): string | null {
  if (typeof document === 'undefined')
    throw new TypeError('signInUrl: on a server give state, kept in a cookie of the visitor; null goes without.');
  return storage((kept) => kept.getItem(KEPT_AS) ?? crypto.randomUUID());
}

function keep(state: string): void {
  storage((kept) => kept.setItem(KEPT_AS, state));
}

/**
 * Returns null when storage is disabled; every returning sign-in is then refused.
 * Never uses a server runtime's storage, which all visitors would share.
 */
function storage<Result>(use: (kept: Storage) => Result): Result | null {
  if (typeof document === 'undefined') return null;
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}
