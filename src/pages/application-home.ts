/** Link from a hosted page back to its application. */
import { parseReturnUrl } from '../core/return-url.ts';
import type { Application } from '../store/applications.ts';

/** Returns the home set, else the origin of the first return URL; null where neither is set, as for the console. */
export function homeOf({ homeUrl, returnUrls }: Pick<Application, 'homeUrl' | 'returnUrls'>): string | null {
  if (homeUrl !== null) return homeUrl;
  const [first] = returnUrls;
  const url = first === undefined ? null : parseReturnUrl(first, true);
  return url && `${url.origin}/`;
}
