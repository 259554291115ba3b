/** Says a failure in the reader's words: what an error says to programs is never among them. */
import type { Texts } from '../../i18n/texts.ts';
import type { Failure } from '../browser/api.ts';

/** Codes are anybody's where they come in an address: only these have a text that takes no values. */
const WITH_VALUES = ['errors.internal', 'errors.reference'];

/** The sentence for a failure; one that only an operator can explain carries its reference. */
export function failureText(text: Texts, { code, retryAfterSeconds, requestId }: Failure): string {
  if (code === 'rate_limited') return waitText(text, retryAfterSeconds ?? 60);
  const key = `errors.${code}`;
  if (/^[a-z_]+$/.test(code) && !code.startsWith('rate_limited') && !WITH_VALUES.includes(key) && text.has(key))
    return text(key);
  return requestId ? `${text('errors.internal')} ${text('errors.reference', { requestId })}` : text('errors.internal');
}

/** Says how long to wait. */
export function waitText(text: Texts, seconds: number): string {
  if (seconds > 90 * 60) return text('errors.rate_limited_hours', { hours: Math.ceil(seconds / 3600) });
  if (seconds > 90) return text('errors.rate_limited_minutes', { minutes: Math.ceil(seconds / 60) });
  return text('errors.rate_limited', { seconds: Math.max(1, seconds) });
}
