/** The language a page is shown in. */
import { type Locale, negotiateLocale } from '../core/locale.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';

/** The one its address asks for, else the person's, else the nearest to those that the browser asks for. */
export function localeOf({ request }: Pick<RequestContext, 'request'>, ofPerson: string | null = null): Locale {
  const browser = request.headers.get('accept-language');
  const asked = queryOf(request).get('locale');
  // What is asked for and not spoken leaves the choice to the next.
  return negotiateLocale(asked, `${ofPerson ? `${ofPerson},` : ''}${browser ?? ''}`);
}
