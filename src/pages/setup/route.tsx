import type { Operation } from '../../http/operation.ts';
import { operation } from '../../http/operation.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { AppError } from '../../core/error.ts';
import { pageResponse } from '../../http/page-response.ts';
import { queryOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { renderPage } from '../document.tsx';
import { HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import type { readerOfPages } from '../reader.ts';
import { SetupPage, type SetupPageProps } from './page.tsx';

export interface SetupPageDependencies {
  readonly isSetupTokenValid: (token: string) => Promise<boolean>;
  readonly hasOwner: () => Promise<boolean>;
  readonly readerOf: ReturnType<typeof readerOfPages>;
}

export function setupPageRoute({ isSetupTokenValid, hasOwner, readerOf }: SetupPageDependencies): Operation {
  return operation({
    ...HOSTED_PAGE,
    id: 'setupPage',
    method: 'GET',
    path: '/setup',
    summary: 'The page behind a setup link; 404 without a valid token but for whom it has just signed in',
    limit: 'setup',
    async handle({ context }) {
      const token = queryOf(context.request).get('token');
      const isValid = token !== null && (await isSetupTokenValid(token));
      // After the setup a reload has no token in its address; the signed-in owner can still create the key.
      const owner = token === null ? await readerOf(context.request, CONSOLE_CLIENT_ID) : null;
      if (!isValid && !owner) throw new AppError('not_found', { hint: 'setup_link_spent' });
      const ownerEmail = owner?.email ?? null;
      const props = { locale: localeOf(context), token, ownerEmail, hasOwner: await hasOwner() };
      return pageResponse(context, renderSetupPage(props));
    },
  });
}

export function renderSetupPage(props: SetupPageProps): string {
  const text = textsFor(props.locale);
  return renderPage({
    locale: props.locale,
    title: text(props.hasOwner ? 'signin.setup.recoverTitle' : 'signin.setup.title'),
    script: { asset: 'setup.js', props, services: ['signin', 'errors'] },
    body: <SetupPage {...props} />,
  });
}
