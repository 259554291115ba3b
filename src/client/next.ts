/** Sign-in for Next.js: routes, a proxy for pages, route handlers, and the person in server components and actions. */
import { headers } from 'next/headers';
import { notFound, redirect } from 'next/navigation';
import { createVerifier, has, type Identity, type IncomingRequest, Refusal, VerificationRefused } from './gatehouse.ts';
import type { VerifierOptions, Wanted } from './gatehouse.ts';
import { createSignIn, type SignInOptions } from './sign-in.ts';

export interface GatehouseOptions extends Omit<VerifierOptions, 'cookie'>, SignInOptions {
  /** Key of this backend, with Read access. */
  readonly apiKey: string;
  /** Address of the callback, such as `https://shop.example.com/auth/callback`; the other routes are next to it. */
  readonly redirectUri: string;
}

type Handler<Context> = (request: Request, context: Context) => Promise<Response>;

export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** Handlers of `app/auth/[...step]/route.ts`: `sign-in`, `callback`, and on POST `sign-out`. */
  readonly routes: { readonly GET: Handler<unknown>; readonly POST: Handler<unknown> };
  /**
   * Returns the function of `proxy.ts` (`middleware.ts` before Next 16). It sends visitors without a session to the
   * sign-in page and back, answers their other requests 401, and answers 403 to people without what is wanted. Its
   * `matcher` says which paths; the sign-in routes are always open.
   */
  proxy(wanted?: Wanted<Role, Scope>): (request: Request) => Promise<Response | undefined>;
  /** Wraps a route handler, which gets the `identity` in its context; answers everybody else 401, 403, 429 or 503. */
  route<Context extends object>(
    handler: (
      request: Request,
      context: Context & { readonly identity: Identity<Role, Scope> },
    ) => Response | Promise<Response>,
    wanted?: Wanted<Role, Scope>,
  ): Handler<Context>;
  /** Returns who is signed in, in server components, server actions and route handlers; null for nobody. */
  user(): Promise<Identity<Role, Scope> | null>;
  /**
   * Returns who is signed in, or sends the visitor to the sign-in page and then to `returnTo`. People without what is
   * wanted get the page for what does not exist.
   */
  requireUser(wanted?: Wanted<Role, Scope> & { readonly returnTo?: string }): Promise<Identity<Role, Scope>>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: GatehouseOptions,
): Gatehouse<Role, Scope> {
  const signIn = createSignIn(options);
  const verifier = createVerifier<Role, Scope>({ ...options, cookie: signIn.cookie });
  const folder = new URL('.', options.redirectUri).pathname;
  const own = ['sign-in', 'callback', 'sign-out'].map((step) => folder + step);

  function signInPage(returnTo: string | undefined): string {
    return `${folder}sign-in${returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo })}`}`;
  }

  /** @throws {VerificationRefused} and as `requireSession` does. */
  async function requireIdentity(request: IncomingRequest, wanted: Wanted<Role, Scope>) {
    const identity = await verifier.requireSession(request);
    if (!has(identity, wanted)) throw new VerificationRefused(wanted.scope ? 'missing_scope' : 'missing_role');
    return identity;
  }

  function answered(error: unknown): Response {
    if (error instanceof Refusal) return error.response;
    throw error;
  }

  async function user(): Promise<Identity<Role, Scope> | null> {
    const given = await headers();
    // A server action is a POST, which no other site may cause; a page may be reached from anywhere.
    const isAction = given.has('next-action') || given.has('content-type');
    return verifier.findSession({ method: isAction ? 'POST' : 'GET', headers: given });
  }

  const steps: Record<string, (request: Request) => Promise<Response>> = {
    'GET sign-in': signIn.begin,
    'GET callback': signIn.finish,
    'POST sign-out': signIn.end,
  };
  const step = async (request: Request) => {
    const name = new URL(request.url).pathname.split('/').at(-1);
    return steps[`${request.method} ${name}`]?.(request) ?? new Response('There is nothing here.', { status: 404 });
  };

  return {
    routes: { GET: step, POST: step },

    proxy:
      (wanted = {}) =>
      async (request) => {
        const { pathname, search } = new URL(request.url);
        if (own.includes(pathname)) return undefined;
        try {
          await requireIdentity(request, wanted);
          return undefined;
        } catch (error) {
          const isVisit = request.method === 'GET' && `${request.headers.get('accept')}`.includes('text/html');
          if (!isVisit || !(error instanceof VerificationRefused) || error.status !== 401) return answered(error);
          // The public address: the request may have the one behind a reverse proxy.
          return Response.redirect(new URL(signInPage(pathname + search), options.redirectUri), 307);
        }
      },

    route:
      (handler, wanted = {}) =>
      async (request, context) => {
        let identity: Identity<Role, Scope>;
        try {
          identity = await requireIdentity(request, wanted);
        } catch (error) {
          return answered(error);
        }
        return handler(request, { ...context, identity });
      },

    user,

    async requireUser({ returnTo, ...wanted } = {}) {
      const identity = await user();
      if (!identity) return redirect(signInPage(returnTo));
      return has(identity, wanted as Wanted<Role, Scope>) ? identity : notFound();
    },
  };
}
