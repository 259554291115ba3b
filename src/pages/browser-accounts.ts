/** Types of the accounts in a browser, as the hosted pages use them. */
import type { Actor } from '../core/actor.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Application } from '../store/applications.ts';
import type { BrowserAccount, HostedPage } from './browser/browser-accounts.ts';

export interface BrowserAccounts {
  /** Returns whom this browser may continue as in an application, who is signed in there first. */
  accounts(request: Request, application: Application): Promise<BrowserAccount[]>;
  /** @returns the session made; null after a switch. */
  continueAs(
    context: RequestContext,
    actor: Actor,
    wanted: { readonly clientId: string; readonly userId: string; readonly place: HostedPage },
  ): Promise<{ readonly token: string; readonly expiresAt: string } | null>;
}
