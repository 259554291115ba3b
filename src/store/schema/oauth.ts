/** The OpenID provider: clients, authorization codes, grants, refresh tokens and signing keys. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { applicationUsers } from './users.ts';

/** A confidential client keeps a secret or a private key; a public one, and one that registered itself, has neither. */
export const OAUTH_CLIENT_KINDS = ['confidential', 'public', 'registered'] as const;

/** Algorithms of ID tokens and logout tokens (RFC 7518, RFC 8037). */
export const SIGNING_ALGORITHMS = ['RS256', 'EdDSA'] as const;

/** A public key as JWK Set member (RFC 7517). */
export type PublicJwk = Readonly<Record<string, unknown>>;

export const oauthClients = sqliteTable('oauth_clients', {
  clientId: text('client_id').primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  /** Null for an application's own client, which has the application's name. */
  name: text(),
  kind: text({ enum: OAUTH_CLIENT_KINDS }).notNull(),
  redirectUris: text('redirect_uris', { mode: 'json' }).$type<string[]>().notNull(),
  postLogoutRedirectUris: text('post_logout_redirect_uris', { mode: 'json' }).$type<string[]>().notNull(),
  idTokenAlg: text('id_token_alg', { enum: SIGNING_ALGORITHMS }).notNull(),
  /** Keys of a client that authenticates by `private_key_jwt`; null for others. */
  jwks: text({ mode: 'json' }).$type<{ readonly keys: readonly PublicJwk[] }>(),
  /** When a client that registered itself goes unless it is used; null for an application's own. */
  expiresAt: integer('expires_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export type OAuthClientRow = typeof oauthClients.$inferSelect;

export const oauthCodes = sqliteTable('oauth_codes', {
  codeHash: blob('code_hash', { mode: 'buffer' }).primaryKey(),
  clientId: text('client_id').notNull(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  applicationUserId: text('application_user_id')
    .notNull()
    .references(() => applicationUsers.id),
  /** The session of the hosted page, which must live until the exchange. */
  pageSessionId: text('page_session_id').notNull(),
  redirectUri: text('redirect_uri').notNull(),
  codeChallenge: text('code_challenge').notNull(),
  scope: text().notNull(),
  nonce: text(),
  /** Where the person was: the exchange is called by the client's server. */
  ip: text(),
  ipCountry: text('ip_country'),
  userAgent: text('user_agent'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
  /** The session or key that it was exchanged for. */
  sessionId: text('session_id'),
  apiKeyId: text('api_key_id'),
  /** Days after which a key ends that it is exchanged for; 0 for never, null for the client's default. */
  keyDays: integer('key_days'),
});

export type OAuthCode = typeof oauthCodes.$inferSelect;

/** Grants of the sessions that code exchanges made. */
export const oauthGrants = sqliteTable('oauth_grants', {
  sessionId: text('session_id').primaryKey(),
  clientId: text('client_id').notNull(),
  applicationUserId: text('application_user_id')
    .notNull()
    .references(() => applicationUsers.id),
  pageSessionId: text('page_session_id').notNull(),
  scope: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

export type OAuthGrant = typeof oauthGrants.$inferSelect;

/** Refresh tokens, each for one use; the use of a used one ends the session. */
export const oauthRefreshTokens = sqliteTable('oauth_refresh_tokens', {
  tokenHash: blob('token_hash', { mode: 'buffer' }).primaryKey(),
  sessionId: text('session_id').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
});

/** Assertions of clients that were used: each is good for one use. */
export const oauthAssertions = sqliteTable('oauth_assertions', {
  assertionHash: blob('assertion_hash', { mode: 'buffer' }).primaryKey(),
  expiresAt: integer('expires_at').notNull(),
});

export const signingKeys = sqliteTable('signing_keys', {
  id: text().primaryKey(),
  alg: text({ enum: SIGNING_ALGORITHMS }).notNull(),
  publicJwk: text('public_jwk', { mode: 'json' }).$type<PublicJwk>().notNull(),
  sealedPrivateJwk: text('sealed_private_jwk').notNull(),
  createdAt: integer('created_at').notNull(),
  signsFrom: integer('signs_from').notNull(),
  signsUntil: integer('signs_until').notNull(),
});

export type SigningKey = typeof signingKeys.$inferSelect;
