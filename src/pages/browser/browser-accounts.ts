/** Accounts that are signed in in this browser, and how a press continues one. */
import { type Outcome, request } from './api.ts';

export interface BrowserAccount {
  readonly userId: string;
  readonly email: string;
  /** Signed in to this application's pages. */
  readonly isCurrent: boolean;
  /** Neither the application nor its workspace knows the person yet. */
  readonly isNewElsewhere: boolean;
}

/** The hosted page that asks: the sign-in page receives a token for its application, the account page none. */
export type HostedPage = 'sign-in' | 'account';

export interface Continued {
  readonly session: { readonly token: string; readonly expiresAt: string } | null;
}

const PATH = '/account/session';

export function continueAs(clientId: string, userId: string, page: HostedPage): Promise<Outcome<Continued>> {
  return request(PATH, { method: 'POST', json: { clientId, userId, page } });
}

/** Returns no accounts where they cannot be told; then the reader signs in. */
export async function browserAccounts(clientId: string): Promise<readonly BrowserAccount[]> {
  const outcome = await request<{ accounts: BrowserAccount[] }>(`${PATH}?${new URLSearchParams({ clientId })}`, {
    method: 'GET',
  });
  return outcome.ok ? outcome.data.accounts : [];
}
