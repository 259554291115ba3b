/** Sets a sign-in's cookies: the console's session, the hosted pages' session, and the known browser. */
import type { Actor } from '../../core/actor.ts';
import { relyingPartyOf } from '../../core/relying-party.ts';
import { isFromOwnPage } from '../../http/csrf.ts';
import { PAGE_HEADER } from '../../http/session-cookie.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { type SessionCookie } from '../../http/session-cookie.ts';
import type { BrowserSessions, PagePlace } from '../page-sessions/browser-sessions.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { SignedIn } from './model.ts';

interface Ending {
  /** Where a provider's flow ends; omitted for a sign-in that a page has posted. */
  readonly landing?: string;
  /** False if the person was not told that the sign-in opens other applications; true by default. */
  readonly isContinuable?: boolean;
  /** False if somebody else may have signed in as the person; true by default. */
  readonly isByHolder?: boolean;
}

export type SetSignInCookies = (
  context: RequestContext,
  actor: Actor,
  session: SignedIn,
  ending?: Ending,
) => Promise<void>;

export interface SignInCookieDependencies {
  readonly cookie: SessionCookie;
  readonly knownBrowsers: KnownBrowsers;
  readonly browserSessions: Pick<BrowserSessions, 'keep'>;
  readonly baseUrl: string;
  /** Called at each sign-in: the id is known only after the first start. */
  readonly consoleId: () => string;
}

export function signInCookies(dependencies: SignInCookieDependencies): SetSignInCookies {
  const { cookie, knownBrowsers, browserSessions, baseUrl, consoleId } = dependencies;
  const origins = [new URL(baseUrl).origin, ...(relyingPartyOf(baseUrl)?.origins ?? [])];

  function placeOf({ request }: RequestContext, { landing }: Ending): PagePlace | null {
    if (landing === undefined) return placeOfPage(request, baseUrl);
    const { origin, pathname } = new URL(landing);
    if (!origins.includes(origin)) return null;
    const [, page = null] = pathname.split('/');
    // An authorization request continues in this browser, and hands out codes instead of the session's token.
    return page === 'oauth' ? 'account' : asPlace(page);
  }

  return async (context, actor, session, ending = {}) => {
    const { request, cookies } = context;
    const place = placeOf(context, ending);
    const { isContinuable = true, isByHolder = true } = ending;
    if (session.applicationId === consoleId()) cookies.push(cookie.write(session.token, Date.parse(session.expiresAt)));
    else if (place !== null) await browserSessions.keep(context, actor, session, { place, isContinuable });
    // Only a sign-in on this server's own page shows which browser the person uses.
    if (isByHolder && isFromOwnPage(request, baseUrl)) cookies.push(knownBrowsers.remember(request, session.userId));
  };
}

/** Returns the hosted page that keeps a sign-in. The device page keeps none: its session ends with the decision. */
export function placeOfPage(request: Request, baseUrl: string): PagePlace | null {
  return isFromOwnPage(request, baseUrl) ? asPlace(request.headers.get(PAGE_HEADER)) : null;
}

function asPlace(name: string | null): PagePlace | null {
  return name === 'sign-in' || name === 'account' ? name : null;
}
