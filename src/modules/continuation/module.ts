/** Continuing a browser's sign-in in other applications, on the hosted pages. */
import type { ModuleContext } from '../module.ts';
import type { BrowserSessions } from '../page-sessions/browser-sessions.ts';
import type { Sessions } from '../sessions/service.ts';
import type { UsableIdentities } from '../sign-in/last-method.ts';
import { continuationRule } from './may-continue.ts';
import { type Continuation, continuationService } from './service.ts';

export interface ContinuationStandsOn {
  readonly browser: BrowserSessions;
  readonly sessions: Sessions;
  readonly usableIdentities: UsableIdentities;
}

export function continuationModule(
  context: ModuleContext,
  { browser, sessions, usableIdentities }: ContinuationStandsOn,
): { readonly service: Continuation } {
  const mayContinue = continuationRule(usableIdentities);
  return { service: continuationService({ ...context, sessions, browser, mayContinue }) };
}
