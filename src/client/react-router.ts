/** Sign-in for React Router in framework mode: routes, middleware, and the person in loaders and actions. */
import { createVerifier, has, type Identity, Refusal, VerificationRefused } from './gatehouse.ts';
import type { VerifierOptions, Wanted } from './gatehouse.ts';
import { createSignIn, type SignInOptions } from './sign-in.ts';

export interface GatehouseOptions extends Omit<VerifierOptions, 'cookie'>, SignInOptions {
  /** Key of this backend, with Read access. */
  readonly apiKey: string;
  /** Address of the callback, such as `https://shop.example.com/auth/callback`. */
  readonly redirectUri: string;
  /** Path of the route that begins a sign-in; `sign-in` next to the callback by default. */
  readonly signInPath?: string;
}

/** The part of the arguments of loaders, actions and middleware that is used. */
export interface RouteArguments {
  readonly request: Request;
}

/** The part of a router context provider that is used. */
export interface ContextProvider<Key> {
  readonly context: { set(key: Key, identity: never): void };
}

export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** The `loader` of the route that begins a sign-in. */
  signIn(route: RouteArguments): Promise<Response>;
  /** The `loader` of the redirect URI's route. */
  callback(route: RouteArguments): Promise<Response>;
  /** The `action` of the route that signs out. */
  signOut(route: RouteArguments): Promise<Response>;
  /** Returns who is signed in; null for nobody. */
  user(route: RouteArguments): Promise<Identity<Role, Scope> | null>;
  /**
   * Returns who is signed in.
   * @throws {Response} which the router sends: to the sign-in page and back for a page without a session, 401 for an
   *   action, 403 for people without what is wanted, 503 without a verdict.
   */
  requireUser(route: RouteArguments, wanted?: Wanted<Role, Scope>): Promise<Identity<Role, Scope>>;
  /**
   * Returns middleware that requires a person for a route and all below it, before any loader runs.
   * @param key result of `createContext<Identity | null>(null)`, by which loaders read the identity from `context`.
   */
  middleware<Key>(
    key: Key,
    wanted?: Wanted<Role, Scope>,
  ): (route: RouteArguments & ContextProvider<Key>) => Promise<void>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: GatehouseOptions,
): Gatehouse<Role, Scope> {
  const signIn = createSignIn(options);
  const verifier = createVerifier<Role, Scope>({ ...options, cookie: signIn.cookie });
  const { signInPath = new URL('sign-in', options.redirectUri).pathname } = options;

  function refuse(error: unknown, { method, url }: Request): never {
    if (!(error instanceof Refusal)) throw error;
    if (error.status !== 401 || (method !== 'GET' && method !== 'HEAD')) throw error.response;
    const { pathname, search } = new URL(url);
    const location = `${signInPath}?${new URLSearchParams({ returnTo: pathname + search })}`;
    // The route of the sign-in leads to another site and sets a cookie: the browser has to load it as a document.
    throw new Response(null, { status: 302, headers: { Location: location, 'X-Remix-Reload-Document': 'true' } });
  }

  async function requireUser({ request }: RouteArguments, wanted: Wanted<Role, Scope> = {}) {
    try {
      const identity = await verifier.requireSession(request);
      if (!has(identity, wanted)) throw new VerificationRefused(wanted.scope ? 'missing_scope' : 'missing_role');
      return identity;
    } catch (error) {
      return refuse(error, request);
    }
  }

  return {
    signIn: ({ request }) => signIn.begin(request),
    callback: ({ request }) => signIn.finish(request),
    signOut: ({ request }) => signIn.end(request),
    requireUser,

    user: ({ request }) => verifier.findSession(request).catch((error: unknown) => refuse(error, request)),

    middleware: (key, wanted) => async (route) => {
      route.context.set(key, (await requireUser(route, wanted)) as never);
    },
  };
}
