/** Checks where a provider flow may redirect to: a registered return URL, or a page of this server. */
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { isReturnUrlRegistered } from '../../core/return-url.ts';
import type { Application } from '../../store/applications.ts';

export interface ReturnRules {
  readonly baseUrl: () => string;
  readonly isLoopbackAllowed: boolean;
  readonly isLoopbackOpen: boolean;
}

const SIGN_IN_PATH = '/sign-in';
const OWN_PATHS = /^(?:\/sign-in|\/device|\/console|\/account(?:\/[a-z-]{1,30})?)$/;
const MAX_LENGTH = 2000;

/** Checked when a flow starts and again when it ends, because the registered URLs may change in between. */
export function isReturnAllowed(
  returnTo: string,
  application: Pick<Application, 'clientId' | 'returnUrls'>,
  rules: ReturnRules,
): boolean {
  if (isReturnUrlRegistered(returnTo, application.returnUrls, rules)) return true;
  if (returnTo.length > MAX_LENGTH || /[\s\\#\u0000-\u001f\u007f]/.test(returnTo)) return false;
  const [address, query = ''] = returnTo.split(/\?(.*)/s);
  const base = rules.baseUrl();
  const path = address?.startsWith(`${base}/`) ? address.slice(base.length) : '';
  if (!OWN_PATHS.test(path)) return false;
  // The sign-in page forwards the session, so it must be the page of the same application.
  return path !== SIGN_IN_PATH || clientIdIn(query) === application.clientId;
}

function clientIdIn(query: string): string | null {
  const given = new URLSearchParams(query).getAll('clientId');
  return given.length > 1 ? null : (given[0] ?? CONSOLE_CLIENT_ID);
}

export function ownPage(baseUrl: string, { clientId }: Pick<Application, 'clientId'>): string {
  return `${baseUrl}${SIGN_IN_PATH}?clientId=${encodeURIComponent(clientId)}`;
}
