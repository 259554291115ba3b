import { type Operation, operation } from '../../http/operation.ts';
import { DEVICE_GRANT_TYPE } from '../devices/model.ts';
import { DEVICE_CODE_PATH, DEVICE_TOKEN_PATH } from '../devices/routes.ts';
import { BY_CLIENTS, COMMON, INTROSPECTION_PATH, introspectionRoute } from './introspection-route.ts';
import { AuthorizationServerMetadata, Revoked, TokenInput } from './model.ts';
import type { Tokens } from './service.ts';

const REVOCATION_PATH = '/api/v1/revoke';
const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];

export interface OAuthRouteDependencies {
  readonly tokens: Tokens;
  readonly baseUrl: () => string;
}

export function oauthRoutes({ tokens, baseUrl }: OAuthRouteDependencies): Operation[] {
  return [
    introspectionRoute(tokens.introspect),
    operation({
      ...BY_CLIENTS,
      id: 'revokeToken',
      path: REVOCATION_PATH,
      summary: 'Revoke a session token, or a key from the device grant (RFC 7009)',
      description:
        'A session ends as if its holder had signed out. An invalid or ended token is answered 200 as well; a token of another application is `invalid_grant` and stays valid.',
      access: 'client_full',
      body: TokenInput,
      data: Revoked,
      errors: ['invalid_grant', 'unsupported_token_type'],
      async handle({ principal, actor, body }) {
        await tokens.revoke(principal, actor, body.token);
        return {};
      },
    }),
    operation({
      ...COMMON,
      id: 'getAuthorizationServerMetadata',
      method: 'GET',
      path: '/.well-known/oauth-authorization-server',
      summary: 'OAuth authorization server metadata (RFC 8414)',
      access: 'none',
      limit: 'none',
      style: 'flat',
      data: AuthorizationServerMetadata,
      handle: () => ({
        issuer: baseUrl(),
        token_endpoint: baseUrl() + DEVICE_TOKEN_PATH,
        device_authorization_endpoint: baseUrl() + DEVICE_CODE_PATH,
        introspection_endpoint: baseUrl() + INTROSPECTION_PATH,
        revocation_endpoint: baseUrl() + REVOCATION_PATH,
        grant_types_supported: [DEVICE_GRANT_TYPE],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['none'],
        // `Bearer` stands for API keys; RFC 8414 §2 allows token types only for introspection.
        introspection_endpoint_auth_methods_supported: [...SECRET_METHODS, 'Bearer'],
        revocation_endpoint_auth_methods_supported: SECRET_METHODS,
      }),
    }),
  ];
}
