/** Routes of the end session endpoint: signs out at once, or by the button of a confirmation. */
import { Type } from '@sinclair/typebox';
import { END_SESSION_PATH, SIGN_OUT_PATH } from '../../core/openid-paths.ts';
import type { Author } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { formResponse, pageResponse, redirectResponse } from '../../http/page-response.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { Input } from '../../http/schemas.ts';
import { HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import { renderSignedOutPage, renderSignOutPage, type ShownSignOut } from './page.tsx';

interface Wish {
  /** Languages that the client asks for, separated by commas. */
  readonly locales: string | null;
}

type Outcome =
  | { readonly at: 'redirect'; readonly location: string }
  | { readonly at: 'asked'; readonly asked: ShownSignOut & Wish & { readonly formTarget: string | null } }
  | ({ readonly at: 'done'; readonly client: ShownSignOut['client'] } & Wish);

export interface SignOutPageDependencies {
  readonly endSession: {
    begin(context: RequestContext, actor: Author): Promise<Outcome>;
    confirm(
      context: RequestContext,
      actor: Author,
      given: { readonly request: string; readonly confirmation: string },
    ): Promise<Outcome>;
  };
}

/** Parameters of a form, which any client may send. */
const Parameters = Type.Record(Type.String(), Type.String(), { remedy: 'Send the parameters as a form.' });

export function signOutPageRoutes({ endSession }: SignOutPageDependencies): Operation[] {
  function answer(context: RequestContext, outcome: Outcome): Response {
    if (outcome.at === 'redirect') return redirectResponse(context, outcome.location, 303);
    if (outcome.at === 'done') {
      const locale = localeOf(context, outcome.locales);
      return pageResponse(context, renderSignedOutPage({ locale, client: outcome.client }));
    }
    const { asked } = outcome;
    const page = renderSignOutPage({ ...asked, locale: localeOf(context, asked.locales) });
    return formResponse(context, page, asked.formTarget);
  }

  return [
    operation({
      ...HOSTED_PAGE,
      id: 'endSession',
      method: 'GET',
      path: END_SESSION_PATH,
      summary: 'Sign out on behalf of an OpenID client, or ask the person first',
      limit: 'none',
      handle: async ({ context, actor }) => answer(context, await endSession.begin(context, actor)),
    }),
    operation({
      ...HOSTED_PAGE,
      id: 'endSessionByForm',
      method: 'POST',
      path: END_SESSION_PATH,
      summary: 'Take a sign-out request from a form, and go on by GET',
      limit: 'oauth_page',
      body: Parameters,
      isFormAccepted: true,
      // Browsers send no cookies with another site's form, but do with the GET that follows.
      handle: ({ context, body }) => redirectResponse(context, `${END_SESSION_PATH}?${new URLSearchParams(body)}`, 303),
    }),
    operation({
      ...HOSTED_PAGE,
      id: 'confirmSignOut',
      method: 'POST',
      path: SIGN_OUT_PATH,
      summary: 'Sign out after the confirmation',
      limit: 'oauth_page',
      body: Input({
        request: Type.String({ maxLength: 16_000, remedy: 'Give the request of the page.' }),
        confirmation: Type.String({ maxLength: 100, remedy: 'Give the confirmation of the page.' }),
      }),
      isFormAccepted: true,
      handle: async ({ context, actor, body }) => answer(context, await endSession.confirm(context, actor, body)),
    }),
  ];
}
