import { type Operation, operation } from '../../http/operation.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import { SIGN_IN_REFUSALS } from './complete.ts';
import type { SetSignInCookies } from './browser-cookies.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { CodeSent, SendCodeInput, SignedIn, VerifyCodeInput } from './model.ts';
import type { Otp } from './otp.ts';

const tag = 'Sign-in';

export interface SignInRouteDependencies {
  readonly otp: Otp;
  readonly knownBrowsers: KnownBrowsers;
  /** Returns whether a hosted page that keeps the sign-in sends the request. */
  readonly isOfPage: (request: Request) => boolean;
  readonly setSignInCookies: SetSignInCookies;
}

export function signInRoutes({ otp, knownBrowsers, isOfPage, setSignInCookies }: SignInRouteDependencies): Operation[] {
  return [
    operation({
      id: 'sendSignInCode',
      method: 'POST',
      path: '/api/v1/auth/otp/send',
      summary: 'Send a one-time sign-in code by e-mail',
      description: 'The answer is the same for a known and an unknown address. Earlier unexpired codes stay valid.',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'code_send',
      body: SendCodeInput,
      data: CodeSent,
      errors: ['not_found', 'application_archived', 'forbidden'],
      async handle({ actor, body, context }) {
        const { data, limit } = await otp.send(actor, body, {
          browserOf: knownBrowsers.recognise(context.request),
          isOfPage: isOfPage(context.request),
        });
        if (limit) announceLimit(context.headers, limit);
        return data;
      },
    }),
    operation({
      id: 'verifySignInCode',
      method: 'POST',
      path: '/api/v1/auth/otp/verify',
      summary: 'Exchange a code for a session',
      description:
        'Ends all other codes of the person for this application. Wrong codes are counted per e-mail, per ' +
        'client address and in total. Too many lock codes out for a while; passkeys and identity providers ' +
        'keep working. A browser in which the person has signed in before on this server’s own page has a ' +
        'limit of its own, by a cookie.',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'code_verify',
      body: VerifyCodeInput,
      data: SignedIn,
      errors: ['code_invalid', 'code_expired', 'code_exhausted', 'code_consumed', ...SIGN_IN_REFUSALS],
      async handle({ actor, body, context }) {
        const { request } = context;
        const { signedIn, ...code } = await otp.verify(actor, body, {
          userAgent: request.headers.get('user-agent'),
          acceptLanguage: request.headers.get('accept-language'),
          browserOf: knownBrowsers.recognise(request),
          pageBrowser: knownBrowsers.recogniseOnPage(request),
        });
        await setSignInCookies(context, actor, signedIn, { isContinuable: code.isOfPage });
        return signedIn;
      },
    }),
  ];
}
