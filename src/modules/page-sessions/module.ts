/** Sessions that a browser holds for the hosted pages. */
import { sessionCookie } from '../../http/session-cookie.ts';
import type { ModuleContext } from '../module.ts';
import type { Verification } from '../verification/service.ts';
import { type BrowserSessions, browserSessions } from './browser-sessions.ts';

export function pageSessionsModule(
  context: ModuleContext,
  { lookAtPage }: Pick<Verification, 'lookAtPage'>,
): { readonly service: BrowserSessions } {
  return { service: browserSessions({ ...context, cookie: sessionCookie(context.baseUrl()), lookAtPage }) };
}
