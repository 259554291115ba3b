/** What every part of the account stands on: who is signed in, the API, and the proof that some changes need. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Outcome } from '../browser/api.ts';
import type { SignInData } from '../sign-in/offer.ts';
import type { OwnAccount, AccountApi } from './account-api.ts';

/** What a proof is for; `target` says which one where there are several. */
export interface ProofWanted {
  readonly purpose: 'session' | 'email_change' | 'account_deletion' | 'account_export' | 'provider_removal' | 'profile';
  readonly target?: string;
}

export interface AccountWorld {
  readonly data: SignInData;
  readonly account: OwnAccount;
  readonly api: AccountApi;
  /**
   * Shows the account with a change that has been sent: at once, and as before where it fails.
   *
   * @param settle what to show by the answer, where it knows better.
   */
  change<T>(
    patch: Partial<OwnAccount>,
    send: () => Promise<Outcome<T>>,
    settle?: (answer: T) => Partial<OwnAccount>,
  ): Promise<Outcome<T>>;
  /** Asks for the account again. */
  refresh(): Promise<void>;
  /** Carries out what may need a mailed code: where it does, asks for one, and goes on. Null where the reader gives up. */
  withProof<T>(proof: ProofWanted, send: () => Promise<Outcome<T>>): Promise<Outcome<T> | null>;
  /** Says why something was not done; leads to the sign-in where the session is over. */
  fail(outcome: Outcome<unknown>): void;
  signOut(): Promise<void>;
  /** The account is closed: nothing of it can be shown any more. */
  closed(email: string): void;
  /** The code with which a trip to a provider has just failed, this once. */
  takeFailedReturn(): string | null;
}

export const AccountContext = createContext<AccountWorld | null>(null);

export function useAccount(): AccountWorld {
  const world = useContext(AccountContext);
  if (!world) throw new Error('nobody is signed in here');
  return world;
}
