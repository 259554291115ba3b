/** Routes of the token endpoint, UserInfo and client registration, in the shapes of OAuth. */
import { type Operation, operation } from '../../http/operation.ts';
import { Registration, RegistrationInput, TokenAnswer, TokenRequest, UserInfo, UserInfoInput } from './model.ts';
import { REGISTRATION_PATH, TOKEN_PATH, USERINFO_PATH } from './paths.ts';
import type { ClientRegistration } from './registration.ts';
import type { TokenEndpoint } from './token.ts';
import type { UserInfoService } from './userinfo.ts';

export interface OpenIdRouteDependencies {
  readonly token: TokenEndpoint;
  readonly userInfo: UserInfoService;
  readonly register: ClientRegistration;
}

const common = { tag: 'OpenID', scope: 'instance', style: 'oauth', isNoTool: true } as const;

export function openIdRoutes({ token, userInfo, register }: OpenIdRouteDependencies): Operation[] {
  return [
    operation({
      ...common,
      id: 'exchangeToken',
      method: 'POST',
      path: TOKEN_PATH,
      summary: 'Exchange a code, a refresh token or a device code for tokens (RFC 6749)',
      description: [
        'Clients authenticate by their secret in a header or in the form, by a signed assertion, or, public ones, by `client_id` alone. A code needs its PKCE verifier (`S256`).',
        'Codes and refresh tokens are good for one use: a second use ends the session.',
      ].join(' '),
      access: 'none',
      limit: 'oauth_token',
      isFormAccepted: true,
      body: TokenRequest,
      data: TokenAnswer,
      errors: [
        'invalid_client',
        'invalid_grant',
        'invalid_scope',
        'unsupported_grant_type',
        'authorization_pending',
        'slow_down',
        'expired_token',
        'access_denied',
      ],
      handle: ({ actor, context, body }) => token(actor, context, body),
    }),
    operation({
      ...common,
      id: 'getUserInfo',
      method: 'GET',
      path: USERINFO_PATH,
      summary: 'Claims about the signed-in person (OpenID Connect Core 1.0 §5.3)',
      description: 'Live, by the scope that was granted; needs the scope `openid`.',
      access: 'token',
      limit: 'session',
      data: UserInfo,
      errors: ['insufficient_scope'],
      handle: ({ principal }) => userInfo.claimsOf(principal),
    }),
    operation({
      ...common,
      id: 'postUserInfo',
      method: 'POST',
      path: USERINFO_PATH,
      summary: 'Claims about the signed-in person, with the token in a header or in the form',
      access: 'none',
      limit: 'session',
      isFormAccepted: true,
      body: UserInfoInput,
      isBodyOptional: true,
      data: UserInfo,
      errors: ['invalid_token', 'insufficient_scope'],
      handle: ({ context, body }) => userInfo.ofForm(context, body.access_token),
    }),
    operation({
      ...common,
      id: 'registerClient',
      method: 'POST',
      path: REGISTRATION_PATH,
      summary: 'Register a client of the console (RFC 7591)',
      description:
        'For agents that speak MCP; only where `GATEHOUSE_OPENID_REGISTRATION` is `on`. Unknown metadata is ignored. A client goes 90 days after its last use.',
      access: 'none',
      limit: 'oauth_register',
      body: RegistrationInput,
      data: Registration,
      isCreated: true,
      errors: ['not_found', 'invalid_redirect_uri'],
      handle: ({ actor, body }) => register(actor, body),
    }),
  ];
}
