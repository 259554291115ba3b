-- OAuth clients: the OpenID settings of an application, and clients that have registered themselves at the console.
CREATE TABLE oauth_clients (
  client_id text COLLATE "C" NOT NULL PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  -- Null for an application's own client, which has the application's name.
  name text COLLATE "C",
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('confidential', 'public', 'registered')),
  redirect_uris text COLLATE "C" NOT NULL,
  post_logout_redirect_uris text COLLATE "C" NOT NULL,
  id_token_alg text COLLATE "C" NOT NULL CHECK (id_token_alg IN ('RS256', 'EdDSA')),
  -- Public keys (JWK Set) of a client that authenticates by private_key_jwt; null for others.
  jwks text COLLATE "C",
  -- When a client that registered itself goes, unless it is used; null for an application's own.
  expires_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX oauth_clients_by_application ON oauth_clients (application_id);
CREATE INDEX oauth_clients_by_expiry ON oauth_clients (expires_at) WHERE expires_at IS NOT NULL;

-- Authorization codes. A used one stays for a while: its replay ends what it was exchanged for.
CREATE TABLE oauth_codes (
  code_hash bytea NOT NULL PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  -- The session of the page, which must live until the exchange.
  page_session_id text COLLATE "C" NOT NULL,
  redirect_uri text COLLATE "C" NOT NULL,
  code_challenge text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  nonce text COLLATE "C",
  -- Where the person was, for the session that the exchange makes: it is the client's server that calls then.
  ip text COLLATE "C",
  ip_country text COLLATE "C",
  user_agent text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  session_id text COLLATE "C",
  api_key_id text COLLATE "C"
);
CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);
CREATE INDEX oauth_codes_by_member ON oauth_codes (application_user_id);

-- What a session made by a code exchange was granted.
CREATE TABLE oauth_grants (
  session_id text COLLATE "C" NOT NULL PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL,
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  page_session_id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX oauth_grants_by_page ON oauth_grants (page_session_id);
CREATE INDEX oauth_grants_by_member ON oauth_grants (application_user_id);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

-- Refresh tokens, each for one use. The use of a used one ends the session.
CREATE TABLE oauth_refresh_tokens (
  token_hash bytea NOT NULL PRIMARY KEY,
  session_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX oauth_refresh_tokens_by_session ON oauth_refresh_tokens (session_id);
CREATE INDEX oauth_refresh_tokens_by_expiry ON oauth_refresh_tokens (expires_at);

-- Keys that sign ID tokens and logout tokens; the private part is sealed. Published before and after they sign.
CREATE TABLE signing_keys (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  alg text COLLATE "C" NOT NULL CHECK (alg IN ('RS256', 'EdDSA')),
  public_jwk text COLLATE "C" NOT NULL,
  sealed_private_jwk text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  signs_from bigint NOT NULL,
  signs_until bigint NOT NULL
);
CREATE INDEX signing_keys_by_end ON signing_keys (signs_until);

-- An endpoint that is sent logout tokens (OpenID Connect Back-Channel Logout 1.0) instead of events.
ALTER TABLE webhooks ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'events' CHECK (kind IN ('events', 'logout'));
CREATE UNIQUE INDEX webhooks_of_logout ON webhooks (application_id) WHERE kind = 'logout' AND removed_at IS NULL;
