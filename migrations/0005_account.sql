-- What people say of themselves. All of it belongs to the person, whatever the application.
CREATE TABLE user_addresses (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL CHECK (kind IN ('billing', 'shipping')),
  label TEXT,
  recipient TEXT NOT NULL,
  company TEXT,
  line1 TEXT NOT NULL,
  line2 TEXT,
  city TEXT NOT NULL,
  region TEXT,
  postal_code TEXT,
  country TEXT NOT NULL,
  phone TEXT,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX user_addresses_by_user ON user_addresses (user_id, id);
-- At most one default a kind.
CREATE UNIQUE INDEX user_addresses_default ON user_addresses (user_id, kind) WHERE is_default = 1;

CREATE TABLE legal_entities (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  legal_name TEXT NOT NULL,
  trade_name TEXT,
  registration_number TEXT,
  tax_id TEXT,
  country TEXT NOT NULL,
  address_id TEXT REFERENCES user_addresses (id) ON DELETE SET NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX legal_entities_by_user ON legal_entities (user_id, id);
CREATE INDEX legal_entities_by_address ON legal_entities (address_id);

-- Avatars and banners, one row a size, as they are served. Kept here so that one file holds everything.
CREATE TABLE user_images (
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL CHECK (kind IN ('avatar', 'banner')),
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, kind, size)
) STRICT;

-- The place a session was begun from, as the proxy in front tells it.
ALTER TABLE sessions ADD COLUMN ip_country TEXT;

CREATE INDEX code_challenges_by_session ON code_challenges (session_id, created_at) WHERE session_id IS NOT NULL;
-- For a person's export.
CREATE INDEX events_by_user ON events (json_extract(data, '$.userId'));
CREATE INDEX audit_records_by_user ON audit_records (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_records_by_actor ON audit_records (actor_user_id) WHERE user_id IS NULL AND actor_user_id IS NOT NULL;
CREATE INDEX audit_records_by_email ON audit_records (email) WHERE user_id IS NULL AND email IS NOT NULL;
CREATE INDEX beta_interests_by_email ON beta_interests (email);
