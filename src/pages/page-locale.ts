/** The language a page is shown in. */

import { type Locale, negotiateLocale } from '../core/locale.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';

/** The one its address asks for, else the reader's own. */
export function localeOf({ request }: Pick<RequestContext, 'request'>): Locale {
  return negotiateLocale(queryOf(request).get('locale'), request.headers.get('accept-language'));
}
