import { type Operation, operation } from '../../http/operation.ts';
import { BY_CLIENTS, introspectionRoute } from './introspection-route.ts';
import { Revoked, TokenInput } from './model.ts';
import type { Tokens } from './service.ts';

export const REVOCATION_PATH = '/api/v1/revoke';

export function oauthRoutes({ tokens }: { readonly tokens: Tokens }): Operation[] {
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
  ];
}
