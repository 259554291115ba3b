/** Link from a hosted page back to its application. */
import { parseReturnUrl } from '../core/return-url.ts';
import type { Application } from '../store/applications.ts';

/** Returns the origin of the first return URL, with its slash; null where there is none, as for the console. */
export function homeOf({ returnUrls }: Pick<Application, 'returnUrls'>): string | null {
  const [first] = returnUrls;
  const url = first === undefined ? null : parseReturnUrl(first, true);
  return url && `${url.origin}/`;
}
