import { AppError } from '../../core/error.ts';
import { isReturnUrlRegistered } from '../../core/return-url.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import { queryOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { Application } from '../../store/applications.ts';
import { renderPage } from '../document.tsx';
import { applicationOfPage, HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import { hasStepHint } from '../step-hint.ts';
import { SignInPage, type SignInPageProps } from './page.tsx';
import type { BrowserAccounts } from '../browser-accounts.ts';
import { ownAddress, signInDataFor, type SignInDataDependencies } from './sign-in-data.ts';

export interface SignInPageDependencies extends SignInDataDependencies {
  readonly continuation: BrowserAccounts;
  readonly db: Database;
  /** Dev and ephemeral instances accept http loopback addresses as return URLs. */
  readonly isLoopbackAllowed: boolean;
  /** Ephemeral instances accept any loopback address, registered or not. */
  readonly isLoopbackOpen: boolean;
  /** Returns whether a ticket opens a trial of the application. */
  readonly isTrial: (application: Application, ticket: string | null) => boolean;
}

/** @throws {AppError} not_found, application_archived, invalid_request (an unregistered return URL is refused). */
export function signInPageRoute(dependencies: SignInPageDependencies): Operation {
  return operation({
    ...HOSTED_PAGE,
    id: 'signInPage',
    method: 'GET',
    path: '/sign-in',
    summary: 'The hosted sign-in page',
    limit: 'none',
    async handle({ context }) {
      const query = queryOf(context.request);
      const application = await applicationOfPage(dependencies.db.reader, query);
      const returnTo = query.get('returnTo');
      if (returnTo !== null && !isReturnUrlRegistered(returnTo, application.returnUrls, dependencies))
        throw new AppError('invalid_request', { hint: 'return_url_unregistered' });
      const { clientId } = application;
      const locale = localeOf(context);
      const trial = query.get('trial');
      const isTrial = returnTo === null && dependencies.isTrial(application, trial);
      const own = ownAddress('/sign-in', {
        clientId,
        returnTo,
        locale: query.get('locale'),
        trial: isTrial ? trial : null,
      });
      const data = await signInDataFor({ application, locale, own, returnTo, request: context.request }, dependencies);
      const email = query.get('email');
      const all = isTrial ? [] : await dependencies.continuation.accounts(context.request, application);
      // An application that names an address wants this one.
      const accounts = email === null ? all : all.filter((account) => account.email === email.trim().toLowerCase());
      const props = { ...data, returnTo, isTrial, authorization: null, email, accounts };
      return pageResponse(context, renderSignInPage(props, hasStepHint(context.request)));
    },
  });
}

export function renderSignInPage(props: SignInPageProps, isContinued = false): string {
  const { locale, application } = props;
  return renderPage({
    locale,
    title: textsFor(locale)('signin.title', { app: application.name }),
    brand: application,
    script: { asset: 'sign-in.js', props, services: ['signin', 'errors'] },
    isContinued,
    body: <SignInPage {...props} />,
  });
}
