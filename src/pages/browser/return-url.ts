import { withFragment } from '../../core/return-url.ts';

/** Returns the address with the values in its fragment; null unless http(s): never follow a `javascript:` URL. */
export function addressBack(returnTo: string | null, values: Record<string, string>): string | null {
  if (!returnTo || !URL.canParse(returnTo)) return null;
  const { protocol } = new URL(returnTo);
  return protocol === 'https:' || protocol === 'http:' ? withFragment(returnTo, values) : null;
}
