/** Schemas of the token endpoint, UserInfo, client registration, and an application's OpenID settings. */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { SECRET_PREFIXES } from '../../core/secret.ts';
import { Choice, Input, LINE_PATTERN, NewSecret, Nullable, Timestamp } from '../../http/schemas.ts';
import { SIGNING_ALGORITHMS } from '../../store/oauth-clients.ts';
import { DEVICE_GRANT_TYPE, OAuthParameters } from '../devices/model.ts';
import { AUTHORIZATION_PATH, DISCOVERY_PATH, END_SESSION_PATH, JWKS_PATH, TOKEN_PATH, USERINFO_PATH } from './paths.ts';

export const CODE_GRANT_TYPE = 'authorization_code';
export const REFRESH_GRANT_TYPE = 'refresh_token';

/** `client_assertion_type` of a signed client assertion (RFC 7523 §2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A parameter of a form; an empty one counts as left out (RFC 6749 §3.1). */
const Parameter = (description: string, example: string) =>
  Type.Optional(Type.String({ isAnyText: true, description, examples: [example] }));

export const TokenRequest = OAuthParameters({
  grant_type: Type.String({
    isAnyText: true,
    remedy: `Give ${CODE_GRANT_TYPE}, ${REFRESH_GRANT_TYPE} or ${DEVICE_GRANT_TYPE}.`,
    examples: [CODE_GRANT_TYPE],
  }),
  code: Parameter(`With \`${CODE_GRANT_TYPE}\`: the code of the redirect.`, `${SECRET_PREFIXES.authorizationCode}_…`),
  redirect_uri: Parameter(
    `With \`${CODE_GRANT_TYPE}\`: the one of the authorization request, character for character.`,
    'https://wiki.example.com/callback',
  ),
  code_verifier: Parameter(
    `With \`${CODE_GRANT_TYPE}\`: the PKCE verifier (RFC 7636).`,
    'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ),
  device_name: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${LINE_PATTERN}$`,
      description: 'Name of the key that the command line gets for a code.',
      remedy: 'Give a name of at most 100 characters in one line.',
      examples: ['Ada’s laptop'],
    }),
  ),
  refresh_token: Parameter(`With \`${REFRESH_GRANT_TYPE}\`; each is good for one use.`, `${SECRET_PREFIXES.refresh}_…`),
  scope: Parameter(
    `With \`${REFRESH_GRANT_TYPE}\`: no more than was granted. The answer has all that was granted.`,
    'openid profile',
  ),
  device_code: Parameter(`With \`${DEVICE_GRANT_TYPE}\`.`, `${SECRET_PREFIXES.deviceCode}_…`),
  client_id: Parameter('Unless a header or an assertion names the client.', 'cli_01kat1h5ppe3bv2d9g3wq5r1xm'),
  client_secret: Parameter('Instead of the header (`client_secret_post`).', `${SECRET_PREFIXES.clientSecret}_…`),
  client_assertion_type: Parameter('With `client_assertion`.', JWT_BEARER),
  client_assertion: Parameter('Of a client with `jwks` (`private_key_jwt`, RFC 7523).', 'eyJhbGciOiJFUzI1NiJ9…'),
});
export type TokenRequest = Static<typeof TokenRequest>;

export const TokenAnswer = Type.Object({
  access_token: NewSecret('session', 'A session token; at the console a personal key.'),
  token_type: Type.String({ examples: ['Bearer'] }),
  expires_in: Type.Optional(
    Type.Integer({ description: 'Seconds; omitted for a personal key.', examples: [2_592_000] }),
  ),
  scope: Type.Optional(
    Type.String({ description: 'What was granted; omitted at the console.', examples: ['openid profile email'] }),
  ),
  id_token: Type.Optional(
    Type.String({ description: 'With the scope `openid`.', examples: ['eyJhbGciOiJSUzI1NiJ9…'] }),
  ),
  refresh_token: Type.Optional(
    NewSecret('refresh', 'With the scope `offline_access`. Replaces the one that was sent.'),
  ),
});
export type TokenAnswer = Static<typeof TokenAnswer>;

export const UserInfoInput = Input({
  access_token: Parameter('Instead of the header (RFC 6750 §2.2).', `${SECRET_PREFIXES.session}_…`),
});

export const UserInfo = Type.Object(
  { sub: Type.String({ examples: ['usr_01kat1h5ppe3bv2d9g3wq5r1xm'] }) },
  { $id: 'UserInfo', additionalProperties: true, description: '`sub`, and the claims of the granted scope, live.' },
);

const MAX_URI = 2000;
const TOO_LONG = `Give at most ${MAX_URI} characters.`;
const MAX_REGISTERED_URIS = 10;

export const RegistrationInput = OAuthParameters({
  redirect_uris: Type.Array(
    Type.String({ maxLength: MAX_URI, remedy: TOO_LONG, examples: ['http://127.0.0.1/callback'] }),
    {
      minItems: 1,
      maxItems: MAX_REGISTERED_URIS,
      uniqueItems: true,
      description: 'https addresses, http ones of the loopback address, or those of a private-use scheme.',
      remedy: `Give 1 to ${MAX_REGISTERED_URIS} different addresses.`,
    },
  ),
  client_name: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${LINE_PATTERN}$`,
      description: 'Shown when people consent, as a name that the client gave itself.',
      remedy: 'Give a name of at most 100 characters in one line.',
      examples: ['Coding agent'],
    }),
  ),
});
export type RegistrationInput = Static<typeof RegistrationInput>;

export const Registration = Type.Object({
  client_id: Type.String({ examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
  client_id_issued_at: Type.Integer({ description: 'Seconds.', examples: [1_775_000_000] }),
  client_name: Type.Optional(Type.String({ examples: ['Coding agent'] })),
  redirect_uris: Type.Array(Type.String({ examples: ['http://127.0.0.1/callback'] })),
  token_endpoint_auth_method: Type.Literal('none'),
  grant_types: Type.Array(Type.String({ examples: [CODE_GRANT_TYPE] })),
  response_types: Type.Array(Type.String({ examples: ['code'] })),
});
export type Registration = Static<typeof Registration>;

const MAX_URIS = 20;
const MAX_KEYS = 10;

const Uris = (description: string, example: string) =>
  Type.Array(Type.String({ maxLength: MAX_URI, remedy: TOO_LONG, examples: [example] }), {
    maxItems: MAX_URIS,
    uniqueItems: true,
    description,
    remedy: `Give at most ${MAX_URIS} different addresses.`,
  });

const settings = {
  redirectUris: Uris(
    'Compared character for character: https, a private-use scheme, or for a public client http on loopback, at any port.',
    'https://wiki.example.com/callback',
  ),
  postLogoutRedirectUris: Uris('Where people may be sent after they have signed out.', 'https://wiki.example.com/'),
  clientType: Choice(['confidential', 'public'], {
    $id: 'OpenIdClientType',
    description: 'A public client, such as an app in the browser, keeps no secret.',
  }),
  idTokenAlg: Choice(SIGNING_ALGORITHMS, { $id: 'IdTokenAlg' }),
  jwks: Nullable(
    Type.Object(
      {
        keys: Type.Array(Type.Record(Type.String(), Type.Any()), {
          minItems: 1,
          maxItems: MAX_KEYS,
          remedy: `Give 1 to ${MAX_KEYS} public keys.`,
        }),
      },
      {
        $id: 'PublicJwks',
        description:
          'Public keys (RFC 7517) of a client that authenticates by `private_key_jwt` instead of its secret.',
        remedy: 'Give a JWK Set, or null.',
      },
    ),
  ),
  backchannelLogoutUri: Nullable(
    Type.String({
      maxLength: 2000,
      description: 'Is sent a logout token when a session ends (OpenID Connect Back-Channel Logout 1.0).',
      remedy: 'Give an https address, or null.',
      examples: ['https://wiki.example.com/logout'],
    }),
  ),
};

const { redirectUris, ...others } = settings;

const optional = <Properties extends TProperties>(properties: Properties) =>
  Type.Partial(Type.Object(properties)).properties;

export const OpenIdInput = Input({ redirectUris, ...optional(others) }, { $id: 'OpenIdInput' });
export type OpenIdInput = Static<typeof OpenIdInput>;

const Endpoint = (path: string) => Type.String({ format: 'uri', examples: [`https://auth.example.com${path}`] });

export const OpenIdSettings = Type.Object(
  {
    ...settings,
    issuer: Endpoint(''),
    clientId: Type.String({ examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
    hasSecret: Type.Boolean({ description: 'Whether the application has a client secret; see `rotate-secret`.' }),
    backchannelStatus: Nullable(
      Choice(['active', 'quarantined'], { description: 'Null without `backchannelLogoutUri`.' }),
    ),
    endpoints: Type.Object({
      discovery: Endpoint(DISCOVERY_PATH),
      authorization: Endpoint(AUTHORIZATION_PATH),
      token: Endpoint(TOKEN_PATH),
      userinfo: Endpoint(USERINFO_PATH),
      endSession: Endpoint(END_SESSION_PATH),
      jwks: Endpoint(JWKS_PATH),
    }),
    updatedAt: Nullable(Timestamp({ description: 'Null until OpenID is set up.' })),
  },
  { $id: 'OpenIdSettings' },
);
export type OpenIdSettings = Static<typeof OpenIdSettings>;
