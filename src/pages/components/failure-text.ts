/** Translates failures for readers; the API's own messages are for developers. */
import type { Texts } from '../../i18n/texts.ts';
import type { Failure } from '../browser/api.ts';

/** Texts that need values. Codes can come from an address, so these are excluded. */
const WITH_VALUES = ['errors.internal', 'errors.reference', 'errors.network_limited'];

/** Returns the text of a failure, with the request id if only an operator can explain it. */
export function failureText(text: Texts, { code, retryAfterSeconds, requestId, isOfNetwork }: Failure): string {
  if (isOfNetwork) return text('errors.network_limited', { time: shortTime(text.locale, retryAfterSeconds ?? 60) });
  if (code === 'rate_limited') return waitText(text, retryAfterSeconds ?? 60);
  const key = `errors.${code}`;
  if (/^[a-z_]+$/.test(code) && !code.startsWith('rate_limited') && !WITH_VALUES.includes(key) && text.has(key))
    return text(key);
  return requestId ? `${text('errors.internal')} ${text('errors.reference', { requestId })}` : text('errors.internal');
}

/** Returns an abbreviated time such as `12 min`, which no grammar inflects. */
function shortTime(locale: string, seconds: number): string {
  const [unit, length] = seconds > 90 * 60 ? (['hour', 3_600] as const) : (['minute', 60] as const);
  return new Intl.NumberFormat(locale, { style: 'unit', unit }).format(Math.ceil(seconds / length));
}

export function waitText(text: Texts, seconds: number): string {
  if (seconds > 90 * 60) return text('errors.rate_limited_hours', { hours: Math.ceil(seconds / 3600) });
  if (seconds > 90) return text('errors.rate_limited_minutes', { minutes: Math.ceil(seconds / 60) });
  return text('errors.rate_limited', { seconds: Math.max(1, seconds) });
}
