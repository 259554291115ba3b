/** Signing in: asking for a code and exchanging it for a session. */
import { type Operation, operation } from '../../http/operation.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import { SIGN_IN_REFUSALS } from './complete.ts';
import type { KeepConsoleSession } from './console-session.ts';
import { CodeSent, SendCodeInput, SignedIn, VerifyCodeInput } from './model.ts';
import type { Otp } from './otp.ts';

const tag = 'Sign-in';

export interface SignInRouteDependencies {
  readonly otp: Otp;
  readonly keepConsoleSession: KeepConsoleSession;
}

export function signInRoutes({ otp, keepConsoleSession }: SignInRouteDependencies): Operation[] {
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
        const { data, limit } = await otp.send(actor, body);
        announceLimit(context.headers, limit);
        return data;
      },
    }),
    operation({
      id: 'verifySignInCode',
      method: 'POST',
      path: '/api/v1/auth/otp/verify',
      summary: 'Exchange a code for a session',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'code_verify',
      body: VerifyCodeInput,
      data: SignedIn,
      errors: ['code_invalid', 'code_expired', 'code_exhausted', 'code_consumed', ...SIGN_IN_REFUSALS],
      async handle({ actor, body, context }) {
        const signedIn = await otp.verify(actor, body, context.request.headers.get('user-agent'));
        keepConsoleSession(context, signedIn);
        return signedIn;
      },
    }),
  ];
}
