/** Documents by which clients find this server: OpenID Connect Discovery 1.0, RFC 8414 and RFC 9728. */
import { LOCALES } from '../../core/locale.ts';
import { SIGNING_ALGORITHMS } from '../../store/oauth-clients.ts';
import { DEVICE_GRANT_TYPE } from '../devices/model.ts';
import { DEVICE_CODE_PATH } from '../devices/routes.ts';
import { INTROSPECTION_PATH } from '../oauth/introspection-route.ts';
import { REVOCATION_PATH } from '../oauth/routes.ts';
import { CLAIMS, OPENID_SCOPES, PASSKEY_ACR } from './claims.ts';
import {
  AGENTS_PATH,
  AUTHORIZATION_PATH,
  END_SESSION_PATH,
  JWKS_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
  USERINFO_PATH,
} from './paths.ts';

/** Values of the `prompt` parameter (Core 1.0 §3.1.2.1). */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

/** Algorithms by which a client may sign its assertion (RFC 7523). */
export const ASSERTION_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];

export interface MetadataOptions {
  /** Whether clients may register themselves (RFC 7591). */
  readonly isRegistrationOn: boolean;
}

export type ProviderMetadata = ReturnType<typeof providerMetadata>;

/** Returns the metadata of the OpenID provider, which is also that of the authorization server. */
export function providerMetadata(baseUrl: string, { isRegistrationOn }: MetadataOptions) {
  return {
    issuer: baseUrl,
    authorization_endpoint: baseUrl + AUTHORIZATION_PATH,
    token_endpoint: baseUrl + TOKEN_PATH,
    userinfo_endpoint: baseUrl + USERINFO_PATH,
    end_session_endpoint: baseUrl + END_SESSION_PATH,
    jwks_uri: baseUrl + JWKS_PATH,
    introspection_endpoint: baseUrl + INTROSPECTION_PATH,
    revocation_endpoint: baseUrl + REVOCATION_PATH,
    device_authorization_endpoint: baseUrl + DEVICE_CODE_PATH,
    ...(isRegistrationOn && { registration_endpoint: baseUrl + REGISTRATION_PATH }),
    scopes_supported: [...OPENID_SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...SIGNING_ALGORITHMS],
    token_endpoint_auth_methods_supported: [...SECRET_METHODS, 'private_key_jwt', 'none'],
    token_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    // `Bearer` stands for API keys; RFC 8414 §2 allows token types only for introspection.
    introspection_endpoint_auth_methods_supported: [...SECRET_METHODS, 'Bearer'],
    revocation_endpoint_auth_methods_supported: SECRET_METHODS,
    claims_supported: [...CLAIMS],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // True where left out.
    request_uri_parameter_supported: false,
    prompt_values_supported: [...PROMPTS],
    acr_values_supported: [PASSKEY_ACR],
    ui_locales_supported: [...LOCALES],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  };
}

/** Returns the metadata of the endpoint for agents, as a protected resource. */
export function protectedResource(baseUrl: string) {
  return {
    resource: baseUrl + AGENTS_PATH,
    authorization_servers: [baseUrl],
    bearer_methods_supported: ['header'],
    resource_name: 'Gatehouse',
  };
}
