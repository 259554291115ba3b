-- OAuth clients: the OpenID settings of an application, and clients that have registered themselves at the console.
CREATE TABLE oauth_clients (
  client_id TEXT NOT NULL PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  -- Null for an application's own client, which has the application's name.
  name TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('confidential', 'public', 'registered')),
  redirect_uris TEXT NOT NULL,
  post_logout_redirect_uris TEXT NOT NULL,
  id_token_alg TEXT NOT NULL CHECK (id_token_alg IN ('RS256', 'EdDSA')),
  -- Public keys (JWK Set) of a client that authenticates by private_key_jwt; null for others.
  jwks TEXT,
  -- When a client that registered itself goes, unless it is used; null for an application's own.
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_clients_by_application ON oauth_clients (application_id);
CREATE INDEX oauth_clients_by_expiry ON oauth_clients (expires_at) WHERE expires_at IS NOT NULL;

-- Authorization codes. A used one stays for a while: its replay ends what it was exchanged for.
CREATE TABLE oauth_codes (
  code_hash BLOB NOT NULL PRIMARY KEY,
  client_id TEXT NOT NULL,
  application_id TEXT NOT NULL REFERENCES applications (id),
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  -- The session of the page, which must live until the exchange.
  page_session_id TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT NOT NULL,
  scope TEXT NOT NULL,
  nonce TEXT,
  -- Where the person was, for the session that the exchange makes: it is the client's server that calls then.
  ip TEXT,
  ip_country TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  session_id TEXT,
  api_key_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);
CREATE INDEX oauth_codes_by_member ON oauth_codes (application_user_id);

-- What a session made by a code exchange was granted.
CREATE TABLE oauth_grants (
  session_id TEXT NOT NULL PRIMARY KEY,
  client_id TEXT NOT NULL,
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  page_session_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_grants_by_page ON oauth_grants (page_session_id);
CREATE INDEX oauth_grants_by_member ON oauth_grants (application_user_id);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

-- Refresh tokens, each for one use. The use of a used one ends the session.
CREATE TABLE oauth_refresh_tokens (
  token_hash BLOB NOT NULL PRIMARY KEY,
  session_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_refresh_tokens_by_session ON oauth_refresh_tokens (session_id);
CREATE INDEX oauth_refresh_tokens_by_expiry ON oauth_refresh_tokens (expires_at);

-- Keys that sign ID tokens and logout tokens; the private part is sealed. Published before and after they sign.
CREATE TABLE signing_keys (
  id TEXT NOT NULL PRIMARY KEY,
  alg TEXT NOT NULL CHECK (alg IN ('RS256', 'EdDSA')),
  public_jwk TEXT NOT NULL,
  sealed_private_jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  signs_from INTEGER NOT NULL,
  signs_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_keys_by_end ON signing_keys (signs_until);

-- An endpoint that is sent logout tokens (OpenID Connect Back-Channel Logout 1.0) instead of events.
ALTER TABLE webhooks ADD COLUMN kind TEXT NOT NULL DEFAULT 'events' CHECK (kind IN ('events', 'logout'));
CREATE UNIQUE INDEX webhooks_of_logout ON webhooks (application_id) WHERE kind = 'logout' AND removed_at IS NULL;
