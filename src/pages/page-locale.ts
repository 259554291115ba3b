import { type Locale, negotiateLocale } from '../core/locale.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';

/** Prefers the address's `locale`, then the person's language, then Accept-Language. */
export function localeOf({ request }: Pick<RequestContext, 'request'>, ofPerson: string | null = null): Locale {
  const browser = request.headers.get('accept-language');
  const asked = queryOf(request).get('locale');
  // An unsupported `locale` falls through to the next choice.
  return negotiateLocale(asked, `${ofPerson ? `${ofPerson},` : ''}${browser ?? ''}`);
}
