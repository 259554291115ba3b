/** Sessions that a browser holds for the hosted pages and for the console. */
import { sessionCookie } from '../../http/session-cookie.ts';
import type { ModuleContext } from '../module.ts';
import type { Verification } from '../verification/service.ts';
import { type BrowserSessions, browserSessions } from './browser-sessions.ts';
import { type ConsoleSessions, consoleSessions } from './console-sessions.ts';

export function pageSessionsModule(
  context: ModuleContext,
  { lookAtPage, credentials }: Pick<Verification, 'lookAtPage' | 'credentials'>,
): { readonly service: BrowserSessions; readonly ofConsole: ConsoleSessions } {
  const cookie = sessionCookie(context.baseUrl());
  return {
    service: browserSessions({ ...context, cookie, lookAtPage }),
    ofConsole: consoleSessions({ cookie, credentials }),
  };
}
