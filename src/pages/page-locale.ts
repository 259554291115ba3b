import { type Locale, negotiateLocale } from '../core/locale.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';

/** Longest list of languages that is considered, so that Accept-Language still counts behind it. */
const MAX_WISH = 300;

/**
 * Prefers the address's `locale`, then the languages given, then Accept-Language. @param preferred the person's own
 * language, or those that a client asks for, separated by commas.
 */
export function localeOf({ request }: Pick<RequestContext, 'request'>, preferred: string | null = null): Locale {
  const browser = request.headers.get('accept-language');
  const asked = queryOf(request).get('locale');
  // An unsupported `locale` falls through to the next choice.
  return negotiateLocale(asked, `${preferred ? `${preferred.slice(0, MAX_WISH)},` : ''}${browser ?? ''}`);
}
