/** Parts of the account, each with its own path. */
import { ACCOUNT_PARTS, type AccountPart } from '../../core/account-view.ts';

export { ACCOUNT_PARTS, type AccountPart } from '../../core/account-view.ts';

export function isAccountPart(text: string): text is AccountPart {
  return ACCOUNT_PARTS.some((part) => part === text);
}
