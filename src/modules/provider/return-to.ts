/** Checks where a provider flow may redirect to: a registered return URL, or a page of this server. */
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { AUTHORIZATION_PATH } from '../../core/openid-paths.ts';
import { isReturnUrlRegistered, withFragment } from '../../core/return-url.ts';
import type { Application } from '../../store/applications.ts';

export interface ReturnRules {
  readonly baseUrl: () => string;
  readonly isLoopbackAllowed: boolean;
  readonly isLoopbackOpen: boolean;
}

const SIGN_IN_PATH = '/sign-in';
const OWN_PATHS = /^(?:\/sign-in|\/device|\/console|\/account(?:\/[a-z-]{1,30})?|\/oauth\/authorize)$/;
/** An authorization request has the state and nonce of its client. */
const MAX_LENGTH = 4096;

/** Checked when a flow starts and again when it ends, because the registered URLs may change in between. */
export function isReturnAllowed(
  returnTo: string,
  application: Pick<Application, 'clientId' | 'returnUrls'>,
  rules: ReturnRules,
): boolean {
  if (isReturnUrlRegistered(returnTo, application.returnUrls, rules)) return true;
  if (returnTo.length > MAX_LENGTH || /[\s\\#\u0000-\u001f\u007f]/.test(returnTo)) return false;
  const { path, query } = ownPart(returnTo, rules.baseUrl());
  if (!OWN_PATHS.test(path)) return false;
  // The sign-in page forwards the session, so it must be the page of the same application.
  if (path === SIGN_IN_PATH) return only(query, 'clientId', CONSOLE_CLIENT_ID) === application.clientId;
  // Clients of the console have ids of their own.
  const isOfAnyClient = path !== AUTHORIZATION_PATH || application.clientId === CONSOLE_CLIENT_ID;
  return isOfAnyClient || only(query, 'client_id') === application.clientId;
}

/** Returns path and query of an address of this server; an empty path for any other. */
function ownPart(address: string, base: string): { readonly path: string; readonly query: URLSearchParams } {
  const [start = '', query = ''] = address.split(/\?(.*)/s);
  return {
    path: start.startsWith(`${base}/`) ? start.slice(base.length) : '',
    query: new URLSearchParams(query),
  };
}

/** Returns the value of a parameter that is given once. */
function only(query: URLSearchParams, name: string, otherwise: string | null = null): string | null {
  const given = query.getAll(name);
  return given.length > 1 ? null : (given[0] ?? otherwise);
}

/**
 * Returns where a flow lands, with its outcome in the fragment. An authorization request has the session in its cookie
 * already, and gets no token: it answers by a redirect, to which browsers would carry the fragment along.
 */
export function landingOf(returnTo: string, outcome: Readonly<Record<string, string>>, baseUrl: string): string {
  const isAuthorization = ownPart(returnTo, baseUrl).path === AUTHORIZATION_PATH;
  return isAuthorization && 'token' in outcome ? returnTo : withFragment(returnTo, outcome);
}

export function ownPage(baseUrl: string, { clientId }: Pick<Application, 'clientId'>): string {
  return `${baseUrl}${SIGN_IN_PATH}?clientId=${encodeURIComponent(clientId)}`;
}
