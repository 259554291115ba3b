/**
 * Signs people in to pages that a server renders: by an authorization code (OAuth 2.1, PKCE), which the server exchanges
 * for a session in a cookie. No token is in an address, and no script of a page can read it.
 */
import { ApiError, type GatehouseError, Unreachable } from './errors.ts';
import { apiErrorOf, exchange, type Fetch } from './exchange.ts';
import { headerOf } from './headers.ts';
import { baseUrl, milliseconds, required } from './options.ts';
import { VerificationRefused, VerificationUnavailable } from './not-admitted.ts';
import { cookieOf, type IncomingRequest } from './token-of.ts';

export interface SignInOptions {
  /** Base URL of the server. */
  readonly url: string;
  readonly clientId: string;
  /** Leave it out for a public client. */
  readonly clientSecret?: string;
  /** Address of your `finish` route, exactly as the application has it among its redirect URIs. */
  readonly redirectUri: string;
  /** Page for people whose sign-in failed; gets the reason as `?error=`. By default `finish` answers a plain page. */
  readonly failedPath?: string;
  /** BCP 47 language of the sign-in page. */
  readonly locale?: string;
  /** Called with why a sign-in failed, for your log. */
  readonly onError?: (error: GatehouseError) => unknown;
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
}

/** A request whose `url` is absolute, as in fetch, or a path, as in `node:http`. */
export interface RoutedRequest extends IncomingRequest {
  readonly url?: string | undefined;
}

/** Handlers of three routes. They return a response in every case. */
export interface SignIn {
  /** Name of the cookie with the session: give it to `createVerifier` as `cookie`. */
  readonly cookie: string;
  /**
   * Sends the browser to the sign-in page, and later back to `?returnTo=` of the request, else to the page it came from.
   * Both count only on your own origin. `?prompt=` is passed on, such as `select_account`.
   */
  begin(request: RoutedRequest): Promise<Response>;
  /** Exchanges the code for a session, sets its cookie and sends the browser to where it wanted to go. */
  finish(request: RoutedRequest): Promise<Response>;
  /** Ends the session of the cookie for every backend, removes the cookie and sends the browser to `/`. */
  end(request: RoutedRequest): Promise<Response>;
}

/** Time for the sign-in on the page in seconds. */
const TIME_TO_SIGN_IN = 3600;

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function createSignIn(options: SignInOptions): SignIn {
  const { clientId, clientSecret, redirectUri, failedPath, locale, onError, timeoutMs = 10_000, fetch } = options;
  const url = baseUrl('createSignIn', options.url);
  required('createSignIn', 'clientId', clientId, 'CLIENT_ID');
  if ('clientSecret' in options) required('createSignIn', 'clientSecret', clientSecret, 'CLIENT_SECRET');
  required('createSignIn', 'redirectUri', redirectUri, 'REDIRECT_URI');
  milliseconds('createSignIn', 'timeoutMs', timeoutMs);
  const { origin, protocol } = new URL(redirectUri);
  // `__Host-`: no other host can set it, so nobody can prepare a sign-in for a visitor. Browsers demand https for it.
  const cookie = protocol === 'https:' ? '__Host-gatehouse' : 'gatehouse';
  const begun = `${cookie}-sign-in`;
  const server = { url, timeoutMs, fetch };

  const setCookie = (name: string, value: string, seconds: number): [string, string] => [
    'Set-Cookie',
    `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${protocol === 'https:' ? '; Secure' : ''}`,
  ];
  const goTo = (location: string, status: number, ...cookies: [string, string][]) =>
    new Response(null, { status, headers: [['Location', location], ...PRIVATE, ...cookies] });
  const parametersOf = (request: RoutedRequest) => new URL(request.url ?? '', origin).searchParams;

  /** Returns an address of this site: a path that another origin hides in, such as `//`, stays a path of this one. */
  function ownAddress(wish: string): string {
    const target = URL.canParse(wish, origin) ? new URL(wish, origin) : null;
    return target?.origin === origin ? target.href : `${origin}/`;
  }

  async function exchangeCode(code: string, verifier: string): Promise<{ token: string; seconds: number }> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const basic =
      clientSecret === undefined ? undefined : btoa([clientId, clientSecret].map(encodeURIComponent).join(':'));
    const answer = await exchange(server, {
      method: 'POST',
      path: '/oauth/token',
      ...(basic && { authorization: `Basic ${basic}` }),
      body: new URLSearchParams(basic ? form : { ...form, client_id: clientId }),
    });
    const { access_token: token, expires_in: seconds } = answer.body;
    const isGood = answer.status === 200 && typeof token === 'string' && /^\w+$/.test(token);
    if (!isGood || typeof seconds !== 'number') throw apiErrorOf(answer);
    return { token, seconds: Math.floor(seconds) };
  }

  function failed(error: GatehouseError): Response {
    onError?.(error);
    const status = error instanceof Unreachable ? 503 : error.code === 'access_denied' ? 403 : 400;
    const code = error instanceof Unreachable ? 'unavailable' : error.code.replace(/[^\w-]/g, '');
    const clear = setCookie(begun, '', 0);
    if (failedPath !== undefined) {
      const page = new URL(failedPath, origin);
      page.searchParams.set('error', code);
      return goTo(page.href, 302, clear);
    }
    const page = `<!doctype html><meta charset="utf-8"><title>Not signed in</title><p>Not signed in: ${code}</p><p><a href="/">Continue</a></p>`;
    return new Response(page, { status, headers: [['Content-Type', 'text/html; charset=utf-8'], ...PRIVATE, clear] });
  }

  return {
    cookie,

    async begin(request) {
      const given = parametersOf(request);
      const back = ownAddress(given.get('returnTo') ?? (headerOf(request.headers, 'referer') || '/'));
      const [state, verifier] = [randomText(), randomText()];
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: await challengeOf(verifier),
        code_challenge_method: 'S256',
        ...(locale && { ui_locales: locale }),
        ...(given.has('prompt') && { prompt: `${given.get('prompt')}` }),
      });
      const held = setCookie(begun, [state, verifier, encodeURIComponent(back)].join('.'), TIME_TO_SIGN_IN);
      return goTo(`${url}/oauth/authorize?${query}`, 302, held);
    },

    async finish(request) {
      const given = parametersOf(request);
      const held = cookieOf(headerOf(request.headers, 'cookie'), begun) ?? '';
      const [, state, verifier = '', back = ''] = /^([^.]+)\.([^.]+)\.(.*)$/.exec(held) ?? [];
      try {
        if (!state || given.get('state') !== state)
          throw refused('state_mismatch', 'The sign-in began in another browser, or too long ago.');
        const code = given.get('code');
        if (!code)
          throw refused(given.get('error') ?? 'invalid_request', given.get('error_description') ?? 'There is no code.');
        const { token, seconds } = await exchangeCode(code, verifier);
        return goTo(ownAddress(decoded(back)), 302, setCookie(cookie, token, seconds), setCookie(begun, '', 0));
      } catch (error) {
        if (error instanceof ApiError || error instanceof Unreachable) return failed(error);
        throw error;
      }
    },

    async end(request) {
      const site = headerOf(request.headers, 'sec-fetch-site');
      if (site !== '' && site !== 'same-origin' && site !== 'none')
        return new VerificationRefused('cross_site').response;
      const token = cookieOf(headerOf(request.headers, 'cookie'), cookie);
      try {
        // A session that has ended already is answered 401.
        if (token)
          await exchange(server, { method: 'DELETE', path: '/api/v1/session', authorization: `Bearer ${token}` });
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        // The cookie stays: the session goes on, and a later attempt can end it.
        onError?.(error);
        return new VerificationUnavailable(error.code, error.message, { cause: error }).response;
      }
      return goTo(`${origin}/`, 303, setCookie(cookie, '', 0));
    },
  };
}

/** A code is in the address: caches and other sites must not get it. */
const PRIVATE: [string, string][] = [
  ['Cache-Control', 'no-store'],
  ['Referrer-Policy', 'no-referrer'],
];

const refused = (code: string, message: string) => new ApiError(code, message, { status: 400 });

const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Decodes what `encodeURIComponent` has made, and anything else without an error. */
const decoded = (text: string) => new URLSearchParams(`text=${text.replaceAll('&', '%26')}`).get('text') ?? '';

/** Returns 256 random bits. */
const randomText = () => base64Url(crypto.getRandomValues(new Uint8Array(32)));

/** The challenge of PKCE's method S256 (RFC 7636 §4.2). */
async function challengeOf(verifier: string): Promise<string> {
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}
