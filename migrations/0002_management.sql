ALTER TABLE applications ADD COLUMN client_secret_hash BLOB;
ALTER TABLE applications ADD COLUMN client_secret_prefix TEXT;
ALTER TABLE applications ADD COLUMN client_secret_rotated_at INTEGER;
ALTER TABLE applications ADD COLUMN signin_methods TEXT NOT NULL DEFAULT '["otp","passkey","provider"]';

-- The last probe of each legal URL.
CREATE TABLE url_checks (
  application_id TEXT NOT NULL REFERENCES applications (id),
  kind TEXT NOT NULL CHECK (kind IN ('terms', 'privacy', 'imprint')),
  url TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'broken', 'unreachable', 'refused')),
  final_code INTEGER,
  checked_at INTEGER NOT NULL,
  PRIMARY KEY (application_id, kind)
) STRICT, WITHOUT ROWID;

-- What a code stands for, where the purpose alone does not say it.
ALTER TABLE code_challenges ADD COLUMN data TEXT;
CREATE INDEX code_challenges_open ON code_challenges (application_id, purpose)
  WHERE consumed_at IS NULL AND dropped_at IS NULL;

CREATE TABLE user_languages (
  user_id TEXT NOT NULL REFERENCES users (id),
  code TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC')),
  PRIMARY KEY (user_id, code)
) STRICT, WITHOUT ROWID;

-- Set when the application opened: these, and no later ones, are told of it.
ALTER TABLE beta_interests ADD COLUMN launch_queued_at INTEGER;
CREATE INDEX beta_interests_launching ON beta_interests (application_id, id)
  WHERE launch_queued_at IS NOT NULL AND notified_at IS NULL;

CREATE INDEX application_users_by_last_seen ON application_users (application_id, last_seen_at, id);
CREATE INDEX beta_interests_by_status ON beta_interests (application_id, status, id);
CREATE INDEX beta_interests_by_id ON beta_interests (application_id, id);

-- The family of a kind is the part before its dot; errors are few, so only they are indexed.
ALTER TABLE audit_records ADD COLUMN family TEXT GENERATED ALWAYS AS (substr(kind, 1, instr(kind, '.') - 1)) VIRTUAL;
CREATE INDEX audit_records_by_family ON audit_records (application_id, family, created_at, id);
CREATE INDEX audit_records_by_country ON audit_records (application_id, ip_country, created_at, id);
CREATE INDEX audit_records_errors ON audit_records (application_id, created_at, id) WHERE ok = 0;
