/** Serves the message catalogues: one service in one language each. */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../core/error.ts';
import { LOCALES, type Locale } from '../../core/locale.ts';
import { answerTagged, type Tagged, tagged } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { CATALOGUES, SERVICES } from '../../i18n/catalogues.ts';
import type { Catalogue, Service } from '../../i18n/texts.ts';

/** The router needs the parameter to be a whole path segment; the API description names it up to the dot. */
const FILE = 'locale.json';
const SUFFIX = '.json';

/** Clients cache for an hour, then revalidate. */
const CACHE_CONTROL = 'public, max-age=3600';

interface Sent extends Tagged {
  /** Actual language of the messages. */
  readonly language: Locale;
}

export function i18nRoutes(): Operation[] {
  /** Built at the first call and cached for good: catalogues do not change while the process runs. */
  const sent = new Map<string, Sent>();

  return [
    operation({
      id: 'getCatalogue',
      method: 'GET',
      path: '/api/v1/i18n/:service/:locale.json',
      summary: 'Read the messages of one service in one language',
      description:
        'Flat keys with ICU messages: the texts of the hosted pages and mails, for applications with pages ' +
        'of their own. `Content-Language` is the language of the answer.',
      tag: 'Texts',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      pathValues: { service: SERVICES, locale: LOCALES },
      data: Type.Record(Type.String(), Type.String(), { $id: 'Catalogue', description: 'ICU messages by key.' }),
      isRevalidated: true,
      errors: ['not_found'],
      handle({ params: { service, [FILE]: file }, context }) {
        const locale = LOCALES.find((known) => known + SUFFIX === file);
        if (!isService(service) || !locale) throw new AppError('not_found', { hint: 'catalogue_unknown' });
        const address = `${service}/${locale}`;
        let catalogue = sent.get(address);
        if (!catalogue) sent.set(address, (catalogue = catalogueOf(service, locale)));
        const headers = { 'Cache-Control': CACHE_CONTROL, 'Content-Language': catalogue.language };
        return answerTagged(context, catalogue, { mediaType: 'application/json', headers });
      },
    }),
  ];
}

function isService(name: string): name is Service {
  return SERVICES.some((service) => service === name);
}

function catalogueOf(service: Service, locale: Locale): Sent {
  const own: Catalogue | undefined = CATALOGUES[locale];
  const language = own ? locale : 'en';
  return { ...tagged(JSON.stringify((own ?? CATALOGUES.en)[service]), `${language}-`), language };
}
