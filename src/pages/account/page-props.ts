/** Props of the account page, which the server writes into the document. */
import type { AccountView } from '../../core/account-view.ts';
import type { BrowserAccount } from '../browser/browser-accounts.ts';
import type { AccountPart } from './parts.ts';
import type { SignInData } from '../sign-in/offer.ts';

export interface AccountPageProps extends SignInData {
  readonly part: AccountPart;
  /** Parts and fields that the application shows. */
  readonly view: AccountView;
  /** The operators have blocked whoever was signed in here, whose session has ended. */
  readonly isBlocked: boolean;
  /** The language comes from the address, so the person's own does not apply. */
  readonly isLocaleGiven: boolean;
  /** Accounts of this browser that are signed in here or may continue here. */
  readonly accounts: readonly BrowserAccount[];
  /** Checked address of the application to go back to; null if unknown. */
  readonly back: string | null;
}
