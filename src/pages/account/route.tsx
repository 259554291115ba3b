/** Routes of the account: one path per part, so that applications can link to it. */
import { accountView } from '../../core/account-view.ts';
import { AppError } from '../../core/error.ts';
import { isReturnUrlRegistered } from '../../core/return-url.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { renderPage } from '../document.tsx';
import { applicationOfPage, HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import type { blockedOnPages, readerOfPages } from '../reader.ts';
import { hasStepHint } from '../step-hint.ts';
import { ownAddress, signInDataFor, type SignInDataDependencies } from '../sign-in/sign-in-data.ts';
import { AccountPage } from './page.tsx';
import type { AccountPageProps } from './page-props.ts';
import { type AccountPart, isAccountPart } from './parts.ts';
import { type AccountSessionDependencies, accountSessionRoutes } from './session-routes.ts';

export interface AccountPageDependencies extends SignInDataDependencies, AccountSessionDependencies {
  readonly db: Database;
  /** Dev and ephemeral instances accept http loopback addresses as return URLs. */
  readonly isLoopbackAllowed: boolean;
  /** Ephemeral instances accept any loopback address, registered or not. */
  readonly isLoopbackOpen: boolean;
  /** Person signed in by this browser's cookie of the application, if any; provides the page's language. */
  readonly readerOf: ReturnType<typeof readerOfPages>;
  /** Returns whether the operators have blocked the person of this browser's cookie. */
  readonly isBlockedOn: ReturnType<typeof blockedOnPages>;
}

const page = { ...HOSTED_PAGE, method: 'GET', limit: 'none' } as const;

export function accountPageRoutes(dependencies: AccountPageDependencies): Operation[] {
  const { db, readerOf, isBlockedOn, continuation } = dependencies;

  /** @throws {AppError} not_found, application_archived */
  async function show(context: RequestContext, part: string): Promise<Response> {
    if (!isAccountPart(part)) throw new AppError('not_found');
    const query = queryOf(context.request);
    const application = await applicationOfPage(db.reader, query);
    const { clientId } = application;
    const view = accountView(application);
    const [first] = view.parts;
    if (!view.parts.includes(part) && first !== undefined) return redirectTo(context, first);
    const locale = localeOf(context, (await readerOf(context.request, clientId))?.locale ?? null);
    const returnTo = query.get('returnTo');
    const isReturn = returnTo !== null && isReturnUrlRegistered(returnTo, application.returnUrls, dependencies);
    const parameters = { clientId, locale: query.get('locale'), returnTo: isReturn ? returnTo : null };
    const own = ownAddress(`/account/${part}`, parameters);
    const data = await signInDataFor({ application, locale, own, request: context.request }, dependencies);
    const isBlocked = await isBlockedOn(context.request, clientId);
    const accounts = await continuation.accounts(context.request, application);
    const back = isReturn ? returnTo : data.application.homeUrl;
    const isLocaleGiven = query.has('locale');
    return pageResponse(
      context,
      renderAccountPage(
        { ...data, part, view, isBlocked, isLocaleGiven, accounts, back },
        hasStepHint(context.request),
      ),
    );
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

/** Keeps the query. A hidden part is shown again later, so nothing may remember the way. */
function redirectTo({ request, headers }: RequestContext, part: AccountPart): Response {
  const query = queryOf(request).toString();
  const location = `/account/${part}${query === '' ? '' : `?${query}`}`;
  return new Response(null, { status: 302, headers: { ...headers, Location: location } });
}

export function renderAccountPage(props: AccountPageProps, isContinued = false): string {
  return renderPage({
    locale: props.locale,
    title: textsFor(props.locale)('account.title'),
    brand: props.application,
    script: { asset: 'account.js', props, services: ['account', 'signin', 'errors'] },
    isContinued,
    body: <AccountPage {...props} />,
  });
}
