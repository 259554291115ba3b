/** Routes of the authorization endpoint: to the client, to the sign-in page, or to the consent of a console client. */
import { Type } from '@sinclair/typebox';
import { AUTHORIZATION_PATH, CONSENT_PATH } from '../../core/openid-paths.ts';
import type { Author } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { formResponse, pageResponse, redirectResponse } from '../../http/page-response.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { Choice, Input } from '../../http/schemas.ts';
import type { Application } from '../../store/applications.ts';
import type { BrowserAccount } from '../browser/browser-accounts.ts';
import { HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import { renderSignInPage } from '../sign-in/route.tsx';
import { signInDataFor, type SignInDataDependencies } from '../sign-in/sign-in-data.ts';
import { hasStepHint } from '../step-hint.ts';
import { type ShownConsent, renderConsentPage } from './page.tsx';

/** A sign-in that an authorization request needs first. */
interface PrecedingSignIn {
  readonly client: { readonly application: Application };
  /** Path and query of this request, to which the sign-in leads back. */
  readonly own: string;
  /** Address that takes a refused person back to the client. */
  readonly deniedAt: string;
  readonly accounts: readonly BrowserAccount[];
  readonly email: string | null;
  readonly isPasskeyFirst: boolean;
  /** Languages that the client asks for, separated by commas. */
  readonly locales: string | null;
}

type Outcome =
  | { readonly at: 'redirect'; readonly location: string }
  | { readonly at: 'page'; readonly page: PrecedingSignIn }
  | {
      readonly at: 'consent';
      readonly consent: ShownConsent & Pick<PrecedingSignIn, 'locales'> & { formTarget: string };
    };

export interface AuthorizePageDependencies extends SignInDataDependencies {
  readonly authorization: { begin(context: RequestContext, actor: Author): Promise<Outcome> };
  readonly consents: {
    /** @returns where to go; null if the person has to be asked again. */
    decide(
      context: RequestContext,
      actor: Author,
      given: { readonly request: string; readonly confirmation: string; readonly decision: 'allow' | 'deny' },
    ): Promise<string | null>;
  };
}

/** Parameters of a form, which any client may send. */
const Parameters = Type.Record(Type.String(), Type.String(), { remedy: 'Send the parameters as a form.' });

export function authorizePageRoutes(dependencies: AuthorizePageDependencies): Operation[] {
  const { authorization, consents } = dependencies;

  async function signInPage(context: RequestContext, asked: PrecedingSignIn): Promise<Response> {
    const { client, own, deniedAt, accounts, email, isPasskeyFirst, locales } = asked;
    const { application } = client;
    const locale = localeOf(context, locales);
    const data = await signInDataFor({ application, locale, own, request: context.request }, dependencies);
    const props = {
      ...data,
      isPasskeyFirst: data.isPasskeyFirst || (isPasskeyFirst && data.methods.passkeyHost !== null),
      returnTo: null,
      isTrial: false,
      authorization: { continueAt: own, deniedAt },
      email,
      accounts,
    };
    return pageResponse(context, renderSignInPage(props, hasStepHint(context.request)));
  }

  async function authorize(context: RequestContext, actor: Author): Promise<Response> {
    const outcome = await authorization.begin(context, actor);
    if (outcome.at === 'redirect') return redirectResponse(context, outcome.location);
    if (outcome.at === 'page') return signInPage(context, outcome.page);
    const { consent } = outcome;
    const page = renderConsentPage({ ...consent, locale: localeOf(context, consent.locales) });
    return formResponse(context, page, consent.formTarget);
  }

  return [
    operation({
      ...HOSTED_PAGE,
      id: 'authorize',
      method: 'GET',
      path: AUTHORIZATION_PATH,
      summary: 'Sign a person in for an OpenID client: answers with a code, or shows the page that comes first',
      limit: 'none',
      handle: ({ context, actor }) => authorize(context, actor),
    }),
    operation({
      ...HOSTED_PAGE,
      id: 'authorizeByForm',
      method: 'POST',
      path: AUTHORIZATION_PATH,
      summary: 'Take an authorization request from a form, and go on by GET',
      limit: 'oauth_page',
      body: Parameters,
      isFormAccepted: true,
      // Browsers send no cookies with another site's form, but do with the GET that follows.
      handle: ({ context, body }) =>
        redirectResponse(context, `${AUTHORIZATION_PATH}?${new URLSearchParams(body)}`, 303),
    }),
    operation({
      ...HOSTED_PAGE,
      id: 'decideAuthorization',
      method: 'POST',
      path: CONSENT_PATH,
      summary: 'Allow or deny a client that asks to act as the person in the console',
      limit: 'oauth_page',
      body: Input({
        request: Type.String({ maxLength: 8_000, remedy: 'Give the request of the page.' }),
        confirmation: Type.String({ maxLength: 100, remedy: 'Give the confirmation of the page.' }),
        decision: Choice(['allow', 'deny'] as const),
      }),
      isFormAccepted: true,
      async handle({ context, actor, body }) {
        const location = await consents.decide(context, actor, body);
        const again = `${AUTHORIZATION_PATH}?${new URLSearchParams(body.request)}`;
        return redirectResponse(context, location ?? again, 303);
      },
    }),
  ];
}
