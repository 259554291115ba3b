/** Builds the address that a finished or refused sign-in goes back to. */

import { withFragment } from '../../core/return-url.ts';

/**
 * The return address with the values in its fragment; null for anything but an http(s) address: a `javascript:` one must
 * never be followed.
 */
export function addressBack(returnTo: string | null, values: Record<string, string>): string | null {
  if (!returnTo || !URL.canParse(returnTo)) return null;
  const { protocol } = new URL(returnTo);
  return protocol === 'https:' || protocol === 'http:' ? withFragment(returnTo, values) : null;
}
