/** Says a failure in the reader's words. */

import { format } from '../../core/format.ts';
import type { SignInPageData } from '../page-data.ts';
import { waitText } from '../wait-text.ts';
import type { Failure } from './api.ts';

/** The sentence for a failure; one that only an operator can explain carries its reference. */
export function failureText(errors: SignInPageData['errors'], failure: Failure): string {
  const { code, retryAfterSeconds, requestId } = failure;
  if (code === 'rate_limited') return waitText(errors, retryAfterSeconds ?? 60);
  const known = Object.hasOwn(errors, code) ? errors[code as keyof typeof errors] : undefined;
  // A code that comes in an address is anybody's: what takes values is the text of none.
  if (known && code !== 'internal' && !known.includes('{')) return known;
  return requestId ? `${errors.internal} ${format(errors.reference, { requestId })}` : errors.internal;
}
