/** Translates failures with the account's own texts. */
import type { Texts } from '../../i18n/texts.ts';
import type { Failure } from '../browser/api.ts';
import { failureText } from '../components/failure-text.ts';

export function accountFailureText(text: Texts, failure: Failure): string {
  const own = `account.failure.${failure.code}`;
  if (!text.has(own)) return failureText(text, failure);
  const { code, requestId } = failure;
  return code === 'internal' && requestId ? `${text(own)} ${text('errors.reference', { requestId })}` : text(own);
}
