/** The way to the hosted sign-in page and back, for pages in a browser. */

export interface SignInUrlOptions {
  /** Where the server is. */
  readonly url: string;
  readonly clientId: string;
  /** At or below one of the application's return URLs. */
  readonly returnTo: string;
  /**
   * What proves that the sign-in was begun here: without it, a link could sign somebody in to another one's account. In a
   * browser one is made and kept until the way back; elsewhere give one of your own, kept with the visitor. `null` goes without.
   */
  readonly state?: string | null;
  /** BCP 47; the language of the page. */
  readonly locale?: string;
}

/** What somebody came back with. */
export type SignInReturn =
  | { readonly token: string; readonly expiresAt: string; readonly error?: undefined }
  | {
      /** The server's word, such as `access_denied`; `state_mismatch` where the sign-in was not begun here. */
      readonly error: string;
      readonly token?: undefined;
    };

const KEPT_AS = 'gatehouse.state';

/** The address to send somebody to. */
export function signInUrl({ url, clientId, returnTo, state = keptState(), locale }: SignInUrlOptions): string {
  const back = new URL(returnTo);
  if (state !== null) {
    keep(state);
    back.searchParams.set('state', state);
  }
  const page = new URL(`${url.replace(/\/+$/, '')}/sign-in`);
  page.search = String(new URLSearchParams({ clientId, returnTo: back.href, ...(locale && { locale }) }));
  return page.href;
}

/**
 * Takes what a sign-in has left in the address of the page, and takes it out of there and of the history. A token counts
 * once, in the tab where the sign-in was begun.
 *
 * @param address by default the page's own.
 * @param state what must have come back, where the page keeps it itself; `null` where it goes without one.
 * @returns null where nobody comes back.
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

/** One for all links of a tab, so that any of them may be followed. */
function keptState(): string | null {
  return storage((kept) => kept.getItem(KEPT_AS) ?? crypto.randomUUID());
}

function keep(state: string): void {
  storage((kept) => kept.setItem(KEPT_AS, state));
}

/**
 * Null where it is switched off: then nothing comes back that would be taken. A server has none to use, even where its
 * runtime offers one: all its visitors would share it.
 */
function storage<Result>(use: (kept: Storage) => Result): Result | null {
  if (typeof document === 'undefined') return null;
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}
