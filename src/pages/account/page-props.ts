/** Props of the account page, which the server writes into the document. */
import type { AccountPart } from './parts.ts';
import type { SignInData } from '../sign-in/offer.ts';

export interface AccountPageProps extends SignInData {
  readonly part: AccountPart;
  /** The language comes from the address, so the person's own does not apply. */
  readonly isLocaleGiven: boolean;
}
