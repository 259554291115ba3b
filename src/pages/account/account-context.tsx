/** Context of the account pages: the signed-in person, the API and reauthentication. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AccountField } from '../../core/account-view.ts';
import type { Outcome } from '../browser/api.ts';
import type { SignInData } from '../sign-in/offer.ts';
import type { OwnAccount, AccountApi } from './account-api.ts';
import type { Drafts } from './drafts.ts';

/** Purpose of a reauthentication; `target` names the item if there are several. */
export interface ProofWanted {
  readonly purpose: 'session' | 'email_change' | 'account_deletion' | 'account_export' | 'provider_removal' | 'profile';
  readonly target?: string;
}

export interface AccountSession {
  readonly data: SignInData;
  /** Returns whether the application shows the field. */
  isShown(field: AccountField): boolean;
  readonly account: OwnAccount;
  readonly api: AccountApi;
  readonly drafts: Drafts;
  /** Updates the account optimistically; a failure rolls it back. @param settle returns values of the response. */
  change<T>(
    patch: Partial<OwnAccount>,
    send: () => Promise<Outcome<T>>,
    settle?: (answer: T) => Partial<OwnAccount>,
  ): Promise<Outcome<T>>;
  refresh(): Promise<void>;
  /** Sends a request and, if it needs reauthentication, asks for a mailed code and retries. Null when cancelled. */
  withProof<T>(proof: ProofWanted, send: () => Promise<Outcome<T>>): Promise<Outcome<T> | null>;
  /** Shows a failure; goes to the sign-in when the session has ended. */
  fail(outcome: Outcome<unknown>): void;
  signOut(): Promise<void>;
  closed(email: string): void;
  /** Returns the error code of a failed return from a provider, once. */
  takeFailedReturn(): string | null;
}

export const AccountContext = createContext<AccountSession | null>(null);

export function useAccount(): AccountSession {
  const session = useContext(AccountContext);
  if (!session) throw new Error('nobody is signed in here');
  return session;
}
