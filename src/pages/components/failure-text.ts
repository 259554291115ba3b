/** Translates failures for readers; the API's own messages are for developers. */
import type { Texts } from '../../i18n/texts.ts';
import type { Failure } from '../browser/api.ts';

/** Texts that need values. Codes can come from an address, so these are excluded. */
const WITH_VALUES = ['errors.internal', 'errors.reference'];

/** Returns the text of a failure, with the request id if only an operator can explain it. */
export function failureText(text: Texts, { code, retryAfterSeconds, requestId }: Failure): string {
  if (code === 'rate_limited') return waitText(text, retryAfterSeconds ?? 60);
  const key = `errors.${code}`;
  if (/^[a-z_]+$/.test(code) && !code.startsWith('rate_limited') && !WITH_VALUES.includes(key) && text.has(key))
    return text(key);
  return requestId ? `${text('errors.internal')} ${text('errors.reference', { requestId })}` : text('errors.internal');
}

export function waitText(text: Texts, seconds: number): string {
  if (seconds > 90 * 60) return text('errors.rate_limited_hours', { hours: Math.ceil(seconds / 3600) });
  if (seconds > 90) return text('errors.rate_limited_minutes', { minutes: Math.ceil(seconds / 60) });
  return text('errors.rate_limited', { seconds: Math.max(1, seconds) });
}
