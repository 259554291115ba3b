/** Routes of the account: one path per part, so that applications can link to it. */
import { AppError } from '../../core/error.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { renderPage } from '../document.tsx';
import { applicationOfPage, HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import type { readerOfPages } from '../reader.ts';
import { ownAddress, signInDataFor, type SignInDataDependencies } from '../sign-in/sign-in-data.ts';
import { AccountPage } from './page.tsx';
import type { AccountPageProps } from './page-props.ts';
import { isAccountPart } from './parts.ts';
import { type AccountSessionDependencies, accountSessionRoutes } from './session-routes.ts';

export interface AccountPageDependencies extends SignInDataDependencies, AccountSessionDependencies {
  readonly db: Database;
  /** Person signed in by this browser's cookie of the application, if any; provides the page's language. */
  readonly readerOf: ReturnType<typeof readerOfPages>;
}

const page = { ...HOSTED_PAGE, method: 'GET', limit: 'none' } as const;

export function accountPageRoutes(dependencies: AccountPageDependencies): Operation[] {
  const { db, readerOf } = dependencies;

  /** @throws {AppError} not_found, application_archived */
  async function show(context: RequestContext, part: string): Promise<Response> {
    if (!isAccountPart(part)) throw new AppError('not_found');
    const query = queryOf(context.request);
    const application = await applicationOfPage(db.reader, query);
    const { clientId } = application;
    const locale = localeOf(context, (await readerOf(context.request, clientId))?.locale ?? null);
    const own = ownAddress(`/account/${part}`, { clientId, locale: query.get('locale') });
    const data = await signInDataFor({ application, locale, own }, dependencies);
    return pageResponse(context, renderAccountPage({ ...data, part, isLocaleGiven: query.has('locale') }));
  }

  return [
    operation({
      ...page,
      id: 'accountPage',
      path: '/account',
      summary: 'The account page of the person signed in to an application',
      handle: ({ context }) => show(context, 'profile'),
    }),
    ...accountSessionRoutes(dependencies),
    operation({
      ...page,
      id: 'accountPartPage',
      path: '/account/:part',
      summary: 'A part of the account, for links to it',
      handle: ({ context, params }) => show(context, params.part),
    }),
  ];
}

export function renderAccountPage(props: AccountPageProps): string {
  return renderPage({
    locale: props.locale,
    title: textsFor(props.locale)('account.title'),
    accentColor: props.application.accentColor,
    script: { asset: 'account.js', props, services: ['account', 'signin', 'errors'] },
    body: <AccountPage {...props} />,
  });
}
