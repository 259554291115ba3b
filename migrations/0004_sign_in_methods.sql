-- WebAuthn credentials; the relying party is this server. A passkey opens the applications of the workspace it was made
-- in: whoever holds a session there, a tenant's backend among them, must not make one for everywhere. Null, of one made in
-- the console, is everywhere.
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  workspace_id TEXT REFERENCES workspaces (id),
  credential_id BLOB NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  aaguid TEXT NOT NULL,
  is_backed_up INTEGER NOT NULL CHECK (is_backed_up IN (0, 1)),
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

-- One ceremony each. The purpose is part of every look-up; a registration belongs to one session as well.
CREATE TABLE passkey_challenges (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'registration')),
  application_id TEXT NOT NULL REFERENCES applications (id),
  session_id TEXT,
  challenge BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  consumed_at INTEGER
) STRICT;
CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);

-- An application's own client at an OpenID provider; its secret is sealed with the instance key.
CREATE TABLE provider_clients (
  application_id TEXT PRIMARY KEY REFERENCES applications (id),
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  sealed_secret TEXT NOT NULL,
  name TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who a person is at a provider: issuer and subject, which never change, unlike the address. It counts in one workspace,
-- as a passkey does; null, where the operator's issuer or the console's session stood for it, is everywhere.
CREATE TABLE provider_identities (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  workspace_id TEXT REFERENCES workspaces (id),
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  email TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX provider_identities_by_subject ON provider_identities (issuer, subject, coalesce(workspace_id, ''));
CREATE INDEX provider_identities_by_user ON provider_identities (user_id, id);

-- A sign-in on its way through a provider, bound to the browser it began in. Nonce and PKCE verifier are derived from the
-- state with the instance key, so that nothing here can be used by who reads it.
CREATE TABLE provider_states (
  state_hash BLOB PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'link')),
  application_id TEXT NOT NULL REFERENCES applications (id),
  session_id TEXT,
  browser_hash BLOB NOT NULL,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  return_to TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  consumed_at INTEGER,
  CHECK ((purpose = 'link') = (session_id IS NOT NULL))
) STRICT;
CREATE INDEX provider_states_by_expiry ON provider_states (expires_at);

-- Device authorization grants (RFC 8628). The user code is short, so it is kept as an HMAC.
CREATE TABLE device_grants (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  device_code_hash BLOB NOT NULL UNIQUE,
  user_code_digest BLOB NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'redeemed')),
  device_name TEXT,
  ip TEXT,
  ip_country TEXT,
  user_agent TEXT,
  interval_seconds INTEGER NOT NULL,
  last_polled_at INTEGER,
  claimed_session_id TEXT,
  application_user_id TEXT REFERENCES application_users (id),
  api_key_id TEXT REFERENCES api_keys (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
CREATE INDEX device_grants_by_expiry ON device_grants (expires_at);

-- The only session that may give a code; null where it is bound to none.
ALTER TABLE code_challenges ADD COLUMN session_id TEXT;

-- When the holder of a session last proved again who they are.
ALTER TABLE sessions ADD COLUMN proved_at INTEGER;
