/** The hosted pages and their assets. */
import { isClosed } from '../core/application-state.ts';
import { AppError } from '../core/error.ts';
import { isReturnUrlRegistered } from '../core/return-url.ts';
import type { Database } from '../db/database.ts';
import { type Operation, operation } from '../http/operation.ts';
import { pageResponse } from '../http/page-response.ts';
import { queryOf } from '../http/request-url.ts';
import type { RequestContext } from '../http/request-context.ts';
import { findApplicationByClientId } from '../store/applications.ts';
import { assetResponse, findAsset } from './assets.ts';
import { type DevicePageDependencies, devicePageRoute } from './device-route.ts';
import { localeOf } from './page-locale.ts';
import { renderSetupPage } from './setup.ts';
import { renderSignInPage } from './sign-in.ts';
import { type UndoPageDependencies, undoPageRoutes } from './undo-route.ts';
import { ownAddress, waysInto, type WaysInDependencies } from './ways-in.ts';

export interface PageDependencies extends WaysInDependencies, DevicePageDependencies, UndoPageDependencies {
  readonly db: Database;
  readonly isSetupTokenValid: (token: string) => Promise<boolean>;
  readonly hasOwner: () => Promise<boolean>;
  readonly consoleClientId: string;
  /** Dev and ephemeral instances take http addresses on loopback as return URLs… */
  readonly isLoopbackAllowed: boolean;
  /** …and an ephemeral one takes any of them, registered or not. */
  readonly isLoopbackOpen: boolean;
}

const page = {
  tag: 'Pages',
  method: 'GET',
  access: 'none',
  scope: 'instance',
  style: 'page',
  isUndocumented: true,
} as const;

export function pageRoutes(dependencies: PageDependencies): Operation[] {
  const { db, isSetupTokenValid, hasOwner, consoleClientId } = dependencies;

  /** @throws {AppError} not_found, application_archived, invalid_request: nobody is ever sent to an address not checked. */
  async function signIn(context: RequestContext): Promise<Response> {
    const query = queryOf(context.request);
    const application = await findApplicationByClientId(db.reader, query.get('clientId') ?? consoleClientId);
    if (!application) throw new AppError('not_found', { hint: 'application_unknown' });
    if (isClosed(application)) throw new AppError('application_archived');
    const returnTo = query.get('returnTo');
    if (returnTo !== null && !isReturnUrlRegistered(returnTo, application.returnUrls, dependencies))
      throw new AppError('invalid_request', { hint: 'return_url_unregistered' });
    const { clientId } = application;
    const own = ownAddress('/sign-in', { clientId, returnTo, locale: query.get('locale') });
    return pageResponse(
      context,
      renderSignInPage({
        locale: localeOf(context),
        application,
        ways: await waysInto(application, { own, returnTo }, dependencies),
        returnTo,
        email: query.get('email'),
      }),
    );
  }

  return [
    operation({
      ...page,
      id: 'signInPage',
      path: '/sign-in',
      summary: 'The hosted sign-in page',
      limit: 'none',
      handle: ({ context }) => signIn(context),
    }),
    operation({
      ...page,
      id: 'setupPage',
      path: '/setup',
      summary: 'The page behind a setup link; 404 without a valid token',
      limit: 'setup',
      async handle({ context }) {
        const token = queryOf(context.request).get('token') ?? '';
        if (!(await isSetupTokenValid(token))) throw new AppError('not_found', { hint: 'setup_link_spent' });
        const page = renderSetupPage({ locale: localeOf(context), token, hasOwner: await hasOwner() });
        return pageResponse(context, page);
      },
    }),
    devicePageRoute(dependencies),
    ...undoPageRoutes(dependencies),
    operation({
      ...page,
      id: 'homePage',
      path: '/',
      summary: 'Sends people to the sign-in page',
      limit: 'none',
      handle: ({ context }) =>
        new Response(null, { status: 302, headers: { ...context.headers, Location: '/sign-in' } }),
    }),
    operation({
      ...page,
      id: 'asset',
      path: '/assets/:name',
      summary: 'A script or style of the pages, by hashed name',
      limit: 'none',
      handle({ context, params }) {
        const asset = findAsset(`/assets/${params.name}`);
        if (!asset) throw new AppError('not_found');
        const response = assetResponse(context.request, asset);
        for (const [name, value] of Object.entries(context.headers))
          if (!response.headers.has(name)) response.headers.set(name, value);
        return response;
      },
    }),
  ];
}
