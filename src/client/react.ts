/**
 * Components and a hook for React: the person who is signed in, what only they see, and a menu for their account.
 * They render on servers, and come without styles.
 */
import {
  type AnchorHTMLAttributes,
  type ButtonHTMLAttributes,
  createContext,
  createElement,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { has, type Identity, readReturn, signInUrl, type Wanted } from './gatehouse.ts';
import { baseUrl, required } from './options.ts';

export interface GatehouseProps {
  /** Base URL of the server. */
  readonly url: string;
  readonly clientId: string;
  /**
   * The person who is signed in, or null, if your own server knows from a cookie: then nothing is asked here, and signing
   * in and out are pages of that server. Leave it out in a page without such a server.
   */
  readonly user?: Identity | null;
  /** Page of your own server that begins a sign-in, with `user`; `/auth/sign-in` by default. */
  readonly signInPath?: string;
  /** Address of your own server that ends the session on POST, with `user`; `/auth/sign-out` by default. */
  readonly signOutPath?: string;
  /** Where a sign-in returns to, without `user`; the current page by default. At or below one of the return URLs. */
  readonly returnTo?: string;
  /** BCP 47 language of the sign-in page. */
  readonly locale?: string;
  readonly children?: ReactNode;
}

interface Status {
  /** `loading` on servers without `user`, and until the server has said who has the token. */
  readonly status: 'loading' | 'signed-in' | 'signed-out';
  readonly user: Identity | null;
  /** For `Authorization: Bearer …` to your backend; null if your own server keeps it in a cookie. */
  readonly token: string | null;
  /** Why the last sign-in ended without a session, such as `access_denied`; `unavailable` if the server is away. */
  readonly error: string | null;
}

export interface UserState<Role extends string = string, Scope extends string = string> extends Status {
  readonly user: Identity<Role, Scope> | null;
  /** Goes to the sign-in page. */
  signIn(): void;
  /** Ends the session, here and for every backend. */
  signOut(): Promise<void>;
  /** Asks the server again who has the token, as happens each time the tab is shown again. */
  refresh(): Promise<void>;
}

interface Store {
  subscribe(listener: () => void): () => void;
  read(): Status;
  start(): () => void;
  readonly actions: Pick<UserState, 'signIn' | 'signOut' | 'refresh'>;
}

const KEPT_AS = 'gatehouse.token';
const SIGN_IN_PATH = '/auth/sign-in';
const SIGN_OUT_PATH = '/auth/sign-out';
const LOADING: Status = { status: 'loading', user: null, token: null, error: null };
const SIGNED_OUT: Status = { ...LOADING, status: 'signed-out' };

const Current = createContext<{ readonly props: GatehouseProps; readonly store: Store } | null>(null);

/**
 * Provides who is signed in to everything inside it. Put one around the application.
 * @throws {TypeError} without a `url` or `clientId`.
 */
export function Gatehouse(given: GatehouseProps): ReactElement {
  const props = { ...given, url: baseUrl('<Gatehouse>', given.url) };
  required('<Gatehouse>', 'clientId', props.clientId, 'CLIENT_ID');
  const latest = useRef(props);
  const [store] = useState(() => createStore(() => latest.current));
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => store.start(), [store]);
  return createElement(Current.Provider, { value: { props, store } }, props.children);
}

/** Returns who is signed in. @throws {TypeError} outside of `Gatehouse`. */
export function useUser<Role extends string = string, Scope extends string = string>(): UserState<Role, Scope> {
  const { props, store } = useCurrent();
  const held = useSyncExternalStore(store.subscribe, store.read, () => LOADING);
  const { user } = props;
  const state: Status = user === undefined ? held : { ...SIGNED_OUT, status: user ? 'signed-in' : 'signed-out', user };
  return { ...state, ...store.actions } as UserState<Role, Scope>;
}

export interface SignedInProps extends Wanted {
  readonly children?: ReactNode;
  /** Rendered for people who are signed in without what is wanted. */
  readonly fallback?: ReactNode;
}

/** Renders its children for people who are signed in, and have the role, scope or group if one is named. */
export function SignedIn({ children, fallback = null, ...wanted }: SignedInProps): ReactNode {
  const { user } = useUser();
  if (user === null) return null;
  return has(user, wanted) ? children : fallback;
}

/** Renders its children once it is known that nobody is signed in. */
export function SignedOut({ children }: { readonly children?: ReactNode }): ReactNode {
  return useUser().status === 'signed-out' ? children : null;
}

export type SignInButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & AnchorHTMLAttributes<HTMLAnchorElement>;

/** Renders a button to the sign-in page, or a link if your own server begins the sign-in. */
export function SignInButton({ children = 'Sign in', ...attributes }: SignInButtonProps): ReactElement {
  const { props, store } = useCurrent();
  if (props.user !== undefined)
    return createElement('a', { href: props.signInPath ?? SIGN_IN_PATH, ...attributes }, children);
  return createElement('button', { type: 'button', onClick: store.actions.signIn, ...attributes }, children);
}

export interface UserButtonProps extends HTMLAttributes<HTMLDetailsElement> {
  /** Words of the menu. */
  readonly labels?: { readonly account?: string; readonly signOut?: string };
  /** Content of the button; by default picture and name. */
  readonly button?: ReactNode;
  /** Further items of the menu, above signing out. */
  readonly children?: ReactNode;
}

/** Renders a button with a menu for whoever is signed in: their account on the server, and signing out. */
export function UserButton({ labels = {}, button, children, ...attributes }: UserButtonProps): ReactNode {
  const { props, store } = useCurrent();
  const { user } = useUser();
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => closingMenu(menu), []);
  if (user === null) return null;
  const { url, clientId, locale, signOutPath = SIGN_OUT_PATH } = props;
  const account = `${url}/account?${new URLSearchParams({ clientId, ...(locale && { locale }) })}`;
  const word = labels.signOut ?? 'Sign out';
  return createElement(
    'details',
    { ...attributes, ref: menu },
    createElement('summary', null, button ?? nameOf(user)),
    createElement('a', { href: account }, labels.account ?? 'Account'),
    children,
    props.user
      ? createElement('form', { method: 'post', action: signOutPath }, createElement('button', null, word))
      : createElement('button', { type: 'button', onClick: store.actions.signOut }, word),
  );
}

function nameOf({ avatarUrl, fullName, email }: Identity): ReactNode {
  const name = fullName || email;
  if (avatarUrl === null) return name;
  return [createElement('img', { key: 0, src: avatarUrl, alt: '', width: 32, height: 32 }), ' ', name];
}

/** Closes an open menu by Escape and by a press elsewhere, which `details` alone does not. */
function closingMenu(menu: { readonly current: HTMLDetailsElement | null }): () => void {
  const close = (event: Event) => {
    const { current } = menu;
    if (!current?.open) return;
    const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
    if (!isEscape && (event instanceof KeyboardEvent || current.contains(event.target as Node))) return;
    current.open = false;
    if (isEscape) current.querySelector('summary')?.focus();
  };
  for (const type of ['keydown', 'pointerdown']) document.addEventListener(type, close);
  return () => {
    for (const type of ['keydown', 'pointerdown']) document.removeEventListener(type, close);
  };
}

function useCurrent() {
  const current = useContext(Current);
  if (!current) throw new TypeError('Put <Gatehouse url=… clientId=…> around the application.');
  return current;
}

function createStore(props: () => GatehouseProps): Store {
  const listeners = new Set<() => void>();
  let held = LOADING;
  let token: string | null = null;

  function set(next: Status): void {
    held = next;
    for (const listener of listeners) listener();
  }

  function keep(next: string | null): void {
    token = next;
    storage((kept) => (next ? kept.setItem(KEPT_AS, next) : kept.removeItem(KEPT_AS)));
  }

  const call = (method: string, bearer: string) =>
    fetch(`${props().url}/api/v1/session`, { method, headers: { Authorization: `Bearer ${bearer}` } });

  async function refresh(): Promise<void> {
    if (props().user !== undefined) return;
    const asked = token;
    if (!asked) return set({ ...SIGNED_OUT, error: held.error });
    let next: Status;
    try {
      const answer = await call('POST', asked);
      const { ok, error, ...user } = (await answer.json()) as Identity & { ok?: unknown; error?: unknown };
      if (ok === true) next = { status: 'signed-in', user, token: asked, error: null };
      else if (ok === false && [401, 403].includes(answer.status)) next = { ...SIGNED_OUT, error: String(error) };
      else throw answer;
    } catch {
      // Keeps who was there: backends verify each call anyway.
      next = { ...held, status: held.user ? 'signed-in' : 'signed-out', error: 'unavailable' };
    }
    // A late answer does not undo a sign-out.
    if (token !== asked) return;
    if (next.status === 'signed-out' && next.error !== 'unavailable') keep(null);
    set(next);
  }

  const actions: Store['actions'] = {
    refresh,
    signIn() {
      const { user, url, clientId, locale, returnTo = location.href.replace(/#.*/, ''), signInPath } = props();
      if (user !== undefined) location.assign(signInPath ?? SIGN_IN_PATH);
      else location.assign(signInUrl({ url, clientId, returnTo, ...(locale && { locale }) }));
    },
    async signOut() {
      const { signOutPath, user } = props();
      if (user !== undefined) {
        await fetch(signOutPath ?? SIGN_OUT_PATH, { method: 'POST', redirect: 'manual' });
        return location.reload();
      }
      const ended = token;
      keep(null);
      set(SIGNED_OUT);
      if (ended) await call('DELETE', ended).catch(() => set({ ...held, error: 'unavailable' }));
    },
  };

  return {
    actions,
    read: () => held,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      const returned = props().user === undefined ? readReturn() : null;
      if (returned?.token) keep(returned.token);
      else token ??= storage((kept) => kept.getItem(KEPT_AS));
      if (returned?.error) held = { ...held, error: returned.error };
      void refresh();
      const onShown = () => void (document.visibilityState === 'visible' && refresh());
      document.addEventListener('visibilitychange', onShown);
      return () => document.removeEventListener('visibilitychange', onShown);
    },
  };
}

/** Returns null where storage is disabled; a sign-in then lasts until the page is left. */
function storage<Result>(use: (kept: Storage) => Result): Result | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}
