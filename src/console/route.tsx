/** Routes of the console: one document for all views, or the sign-in page without a session. */
import type { Database } from '../db/database.ts';
import { type Operation, operation } from '../http/operation.ts';
import { pageResponse } from '../http/page-response.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';
import { textsFor } from '../i18n/catalogue.ts';
import { renderPage } from '../pages/document.tsx';
import { applicationOfPage, HOSTED_PAGE } from '../pages/hosted-page.ts';
import { localeOf } from '../pages/page-locale.ts';
import { hasStepHint } from '../pages/step-hint.ts';
import { ownAddress, signInDataFor, type SignInDataDependencies } from '../pages/sign-in/sign-in-data.ts';
import type { Opening } from './opening.ts';
import { ConsoleSignInPage } from './sign-in-page.tsx';

interface ConsoleDependencies extends SignInDataDependencies {
  readonly db: Database;
  /** Returns the records for who is signed in to the console; null without a session. */
  readonly openingOf: (request: Request) => Promise<Opening | null>;
}

const page = { ...HOSTED_PAGE, method: 'GET', limit: 'none' } as const;

export function consoleRoutes(dependencies: ConsoleDependencies): Operation[] {
  const { db, openingOf } = dependencies;

  async function show(context: RequestContext): Promise<Response> {
    const { request } = context;
    const opening = await openingOf(request);
    if (opening) return pageResponse(context, renderConsole(opening), 'framing');
    const query = queryOf(request);
    const application = await applicationOfPage(db.reader, new URLSearchParams());
    const locale = localeOf(context);
    const own = ownAddress(new URL(request.url).pathname, { locale: query.get('locale') });
    const data = await signInDataFor({ application, locale, own, request }, dependencies);
    const html = renderPage({
      locale,
      title: textsFor(locale)('signin.title', { app: application.name }),
      script: { asset: 'console-sign-in.js', props: data, services: ['account', 'signin', 'errors'] },
      isContinued: hasStepHint(request),
      body: <ConsoleSignInPage {...data} />,
    });
    return pageResponse(context, html);
  }

  return [
    operation({
      ...page,
      id: 'consolePage',
      path: '/console',
      summary: 'The console, for those who administer applications',
      handle: ({ context }) => show(context),
    }),
    operation({
      ...page,
      id: 'consoleViewPage',
      path: '/console/*',
      summary: 'A view of the console, for links to it',
      handle: ({ context }) => show(context),
    }),
  ];
}

/** Renders placeholders that the script replaces. */
function renderConsole(opening: Opening): string {
  return renderPage({
    locale: 'en',
    title: 'Gatehouse',
    style: 'console.css',
    module: 'console.js',
    data: opening,
    body: (
      <div class="console" aria-busy="true">
        <div class="rail" />
        <main class="view">
          <noscript>
            <p class="note">The console needs JavaScript.</p>
          </noscript>
        </main>
      </div>
    ),
  });
}
