/** Says how long to wait, for both the server's pages and their scripts. */

import { format } from '../core/format.ts';
import type { Catalogue } from '../i18n/catalogue.ts';

/** Never says "1 seconds": a plural of at least two suits every language better. */
export function waitText(errors: Catalogue['errors'], seconds: number): string {
  if (seconds > 90 * 60) return format(errors.rate_limited_hours, { hours: Math.ceil(seconds / 3600) });
  if (seconds > 90) return format(errors.rate_limited_minutes, { minutes: Math.ceil(seconds / 60) });
  return format(errors.rate_limited, { seconds: Math.max(2, seconds) });
}
