-- What a trial of the whole found missing.

-- What a deletion ended, so that a restore gives it back. Null where nothing is deleted, and for deletions from before this was
-- kept: they are restored to active.
ALTER TABLE application_users ADD COLUMN status_before_deletion TEXT
  CHECK (status_before_deletion IN ('active', 'banned', 'paused', 'inactivated', 'left'));
ALTER TABLE application_users ADD COLUMN reason_before_deletion TEXT;

-- Tokens that a rotation replaced at once: whoever still sends one is told what became of it.
CREATE TABLE retired_key_tokens (
  token_hash BLOB PRIMARY KEY,
  api_key_id TEXT NOT NULL REFERENCES api_keys (id),
  retired_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retired_key_tokens_by_age ON retired_key_tokens (retired_at);

-- When a key was found to have ended by time: from then on it is over, whatever the clock says.
ALTER TABLE api_keys ADD COLUMN ended_at INTEGER;
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX api_keys_by_grace_end ON api_keys (grace_period_ends_at)
  WHERE grace_period_ends_at IS NOT NULL AND ended_at IS NULL;

-- Who is due the launch mail follows from the epoch.
ALTER TABLE beta_interests DROP COLUMN launch_queued_at;

-- What the browser says of its reader, kept at a first sign-in.
ALTER TABLE provider_states ADD COLUMN locale TEXT;
ALTER TABLE provider_states ADD COLUMN timezone TEXT;
