/** Where a flow through a provider may end: a registered return URL, or one of the pages of this server. */
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { isReturnUrlRegistered } from '../../core/return-url.ts';
import type { Application } from '../../store/applications.ts';

/** What an instance takes as an address to return to. */
export interface ReturnRules {
  readonly baseUrl: () => string;
  readonly isLoopbackAllowed: boolean;
  readonly isLoopbackOpen: boolean;
}

const SIGN_IN_PATH = '/sign-in';
const OWN_PATHS = /^(?:\/sign-in|\/device|\/console|\/account(?:\/[a-z-]{1,30})?)$/;
const MAX_LENGTH = 2000;

/** Judged when a flow begins and again when it ends, as the registered addresses may have changed. */
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
  // The sign-in page hands on what it gets: it must be the page of the same application, not another's.
  return path !== SIGN_IN_PATH || clientIdIn(query) === application.clientId;
}

function clientIdIn(query: string): string | null {
  const given = new URLSearchParams(query).getAll('clientId');
  return given.length > 1 ? null : (given[0] ?? CONSOLE_CLIENT_ID);
}

/** The sign-in page of an application, for who gave no address to return to. */
export function ownPage(baseUrl: string, { clientId }: Pick<Application, 'clientId'>): string {
  return `${baseUrl}${SIGN_IN_PATH}?clientId=${encodeURIComponent(clientId)}`;
}
