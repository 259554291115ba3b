/** Well-known documents of the OpenID provider, which anybody may read. */
import { Type } from '@sinclair/typebox';
import { MINUTE, SECOND } from '../../core/clock.ts';
import { AGENTS_METADATA_PATH } from '../../http/authenticate.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { SigningKeys } from './keys.ts';
import { DEVICE_CODE_PATH } from '../devices/routes.ts';
import { INTROSPECTION_PATH } from '../oauth/introspection-route.ts';
import { REVOCATION_PATH } from '../oauth/routes.ts';
import { type MetadataOptions, protectedResource, providerMetadata } from './metadata.ts';
import {
  AGENTS_PATH,
  AUTHORIZATION_PATH,
  DISCOVERY_PATH,
  END_SESSION_PATH,
  JWKS_PATH,
  TOKEN_PATH,
  USERINFO_PATH,
} from './paths.ts';

/** Shorter than the time for which a key is published before it signs, and after. */
const JWKS_MAX_AGE_MS = 5 * MINUTE;

const Address = (example: string) => Type.String({ format: 'uri', examples: [`https://auth.example.com${example}`] });
const Names = (...example: string[]) => Type.Array(Type.String(), { examples: [example] });

const ProviderMetadataSchema = Type.Object(
  {
    issuer: Address(''),
    authorization_endpoint: Address(AUTHORIZATION_PATH),
    token_endpoint: Address(TOKEN_PATH),
    userinfo_endpoint: Address(USERINFO_PATH),
    end_session_endpoint: Address(END_SESSION_PATH),
    jwks_uri: Address(JWKS_PATH),
    introspection_endpoint: Address(INTROSPECTION_PATH),
    revocation_endpoint: Address(REVOCATION_PATH),
    device_authorization_endpoint: Address(DEVICE_CODE_PATH),
    registration_endpoint: Type.Optional(
      Type.String({
        format: 'uri',
        description: 'Omitted unless clients may register themselves.',
        examples: ['https://auth.example.com/oauth/register'],
      }),
    ),
    scopes_supported: Names('openid'),
    response_types_supported: Names('code'),
    response_modes_supported: Names('query'),
    grant_types_supported: Names('authorization_code'),
    code_challenge_methods_supported: Names('S256'),
    subject_types_supported: Names('public'),
    id_token_signing_alg_values_supported: Names('RS256'),
    token_endpoint_auth_methods_supported: Names('client_secret_basic'),
    token_endpoint_auth_signing_alg_values_supported: Names('RS256'),
    introspection_endpoint_auth_methods_supported: Names('client_secret_basic'),
    revocation_endpoint_auth_methods_supported: Names('client_secret_basic'),
    claims_supported: Names('sub'),
    claims_parameter_supported: Type.Boolean(),
    request_parameter_supported: Type.Boolean(),
    request_uri_parameter_supported: Type.Boolean(),
    prompt_values_supported: Names('login'),
    acr_values_supported: Names('phr'),
    ui_locales_supported: Names('en'),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    backchannel_logout_supported: Type.Boolean(),
    backchannel_logout_session_supported: Type.Boolean(),
  },
  { $id: 'ProviderMetadata' },
);

const PublicKeySchema = Type.Object(
  {
    kty: Type.String({ examples: ['OKP'] }),
    kid: Type.String({
      description: 'The `kid` of the tokens that this key signs.',
      examples: ['sgk_01kat1h5ppe3bv2d9g3wq5r1xm'],
    }),
    use: Type.String({ examples: ['sig'] }),
    alg: Type.String({ examples: ['EdDSA'] }),
  },
  { description: 'A public key; its further members depend on `kty`.' },
);

const ProtectedResourceSchema = Type.Object(
  {
    resource: Address(AGENTS_PATH),
    authorization_servers: Names('https://auth.example.com'),
    bearer_methods_supported: Names('header'),
    resource_name: Type.String({ examples: ['Gatehouse'] }),
  },
  { $id: 'ProtectedResource' },
);

export interface MetadataRouteDependencies extends MetadataOptions {
  readonly keys: Pick<SigningKeys, 'jwks'>;
  readonly baseUrl: () => string;
}

export function metadataRoutes({ keys, baseUrl, isRegistrationOn }: MetadataRouteDependencies): Operation[] {
  const common = {
    method: 'GET',
    tag: 'OAuth',
    access: 'none',
    scope: 'instance',
    limit: 'none',
    style: 'flat',
    isNoTool: true,
  } as const;
  const ofProvider = {
    ...common,
    data: ProviderMetadataSchema,
    handle: () => providerMetadata(baseUrl(), { isRegistrationOn }),
  };
  const ofAgents = { ...common, data: ProtectedResourceSchema, handle: () => protectedResource(baseUrl()) };

  return [
    operation({
      ...ofProvider,
      id: 'getOpenIdConfiguration',
      path: DISCOVERY_PATH,
      summary: 'OpenID provider metadata (OpenID Connect Discovery 1.0)',
    }),
    operation({
      ...ofProvider,
      id: 'getAuthorizationServerMetadata',
      path: '/.well-known/oauth-authorization-server',
      summary: 'OAuth authorization server metadata (RFC 8414)',
      description: 'The same document as `/.well-known/openid-configuration`.',
    }),
    operation({
      ...common,
      id: 'getSigningKeys',
      path: JWKS_PATH,
      summary: 'Public keys that verify ID tokens and logout tokens (RFC 7517)',
      description:
        'A key is listed at least a day before it signs. Read the set again where a token has an unknown `kid`.',
      data: Type.Object({ keys: Type.Array(PublicKeySchema) }),
      async handle({ context }) {
        const set = await keys.jwks();
        context.headers['Cache-Control'] = `public, max-age=${JWKS_MAX_AGE_MS / SECOND}`;
        return set;
      },
    }),
    operation({
      ...ofAgents,
      id: 'getAgentsResource',
      path: AGENTS_METADATA_PATH,
      summary: 'Metadata of the MCP endpoint as a protected resource (RFC 9728)',
    }),
    operation({
      ...ofAgents,
      id: 'getProtectedResource',
      path: '/.well-known/oauth-protected-resource',
      summary: 'Metadata of the MCP endpoint, for clients that ask at the root (RFC 9728)',
    }),
  ];
}
