-- Times are integer milliseconds since the Unix epoch, UTC. Secrets are stored as SHA-256 or HMAC-SHA256 only.

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('person', 'api_key')),
  email TEXT NOT NULL UNIQUE,
  email_verified_at INTEGER,
  name TEXT,
  full_name TEXT,
  given_name TEXT,
  family_name TEXT,
  locale TEXT,
  timezone TEXT,
  region TEXT,
  provider_avatar_url TEXT,
  avatar_sizes TEXT,
  avatar_updated_at INTEGER,
  banner_sizes TEXT,
  banner_updated_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

-- Addresses that once belonged to an account and can never found a new one.
CREATE TABLE email_aliases (
  email TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  archived_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace_members (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, user_id)
) STRICT;
CREATE INDEX workspace_members_by_user ON workspace_members (user_id);

-- workspace_id is null for the console alone, the system application that workspace members sign in to.
CREATE TABLE applications (
  id TEXT PRIMARY KEY,
  workspace_id TEXT REFERENCES workspaces (id),
  client_id TEXT NOT NULL UNIQUE,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('draft', 'test', 'live')),
  signin_gate TEXT NOT NULL CHECK (signin_gate IN ('public', 'private_beta', 'closed')),
  beta_request_policy TEXT NOT NULL CHECK (beta_request_policy IN ('manual', 'auto_accept', 'auto_decline')),
  session_ttl_seconds INTEGER NOT NULL CHECK (session_ttl_seconds BETWEEN 300 AND 31536000),
  return_urls TEXT NOT NULL,
  terms_url TEXT,
  privacy_url TEXT,
  imprint_url TEXT,
  logo_url TEXT,
  accent_color TEXT,
  archived_at INTEGER,
  deleted_at INTEGER,
  purge_after INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX applications_by_workspace ON applications (workspace_id, id);

CREATE TABLE roles (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (application_id, slug)
) STRICT;

CREATE TABLE scopes (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (application_id, slug)
) STRICT;

CREATE TABLE membership_groups (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (application_id, slug)
) STRICT;

-- A user's membership of an application: state, handle and grants live here, the person in users.
CREATE TABLE application_users (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  status TEXT NOT NULL CHECK (status IN ('active', 'banned', 'paused', 'inactivated', 'left', 'deleted')),
  status_reason TEXT,
  username TEXT,
  last_seen_at INTEGER NOT NULL,
  roles_updated_at INTEGER NOT NULL,
  scopes_updated_at INTEGER NOT NULL,
  memberships_updated_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (application_id, user_id),
  UNIQUE (application_id, username)
) STRICT;
CREATE INDEX application_users_by_user ON application_users (user_id);

CREATE TABLE application_user_roles (
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  role_id TEXT NOT NULL REFERENCES roles (id),
  PRIMARY KEY (application_user_id, role_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX application_user_roles_by_role ON application_user_roles (role_id);

CREATE TABLE application_user_scopes (
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  scope_id TEXT NOT NULL REFERENCES scopes (id),
  PRIMARY KEY (application_user_id, scope_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX application_user_scopes_by_scope ON application_user_scopes (scope_id);

CREATE TABLE application_user_groups (
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  group_id TEXT NOT NULL REFERENCES membership_groups (id),
  PRIMARY KEY (application_user_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX application_user_groups_by_group ON application_user_groups (group_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token_hash BLOB NOT NULL UNIQUE,
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  method TEXT NOT NULL,
  ip TEXT,
  user_agent TEXT,
  last_seen_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  revoked_reason TEXT
) STRICT;
CREATE INDEX sessions_by_application_user ON sessions (application_user_id, revoked_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;

-- application_id is null for a workspace key; application_ids (JSON) then limits it to a subset.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  token_hash BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  name TEXT NOT NULL,
  access TEXT NOT NULL CHECK (access IN ('read', 'full')),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  application_id TEXT REFERENCES applications (id),
  application_ids TEXT,
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  source TEXT NOT NULL,
  per_minute INTEGER NOT NULL CHECK (per_minute BETWEEN 1 AND 1000000),
  per_day INTEGER NOT NULL CHECK (per_day BETWEEN 1 AND 1000000000),
  expires_at INTEGER,
  revoked_at INTEGER,
  rotated_to_id TEXT REFERENCES api_keys (id),
  grace_period_ends_at INTEGER,
  last_used_at INTEGER,
  created_by_user_id TEXT REFERENCES users (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_by_application ON api_keys (application_id, id);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id);
CREATE INDEX api_keys_by_application_user ON api_keys (application_user_id);

CREATE TABLE beta_interests (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  email TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'notify_when_public', 'declined')),
  source TEXT NOT NULL,
  decided_by_id TEXT,
  decided_at INTEGER,
  notified_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (application_id, email)
) STRICT;

-- Short-lived codes. The purpose and application are part of every look-up, so that none serves for another.
CREATE TABLE code_challenges (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  application_id TEXT NOT NULL REFERENCES applications (id),
  email TEXT NOT NULL,
  code_digest BLOB NOT NULL,
  wrong_tries INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  consumed_at INTEGER,
  dropped_at INTEGER
) STRICT;
CREATE INDEX code_challenges_by_email ON code_challenges (email, purpose, created_at);
CREATE INDEX code_challenges_by_expiry ON code_challenges (expires_at);

CREATE TABLE code_failures (
  id INTEGER PRIMARY KEY,
  application_id TEXT NOT NULL,
  email TEXT NOT NULL,
  purpose TEXT NOT NULL,
  failed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX code_failures_by_email ON code_failures (application_id, email, purpose, failed_at);
CREATE INDEX code_failures_by_time ON code_failures (failed_at);

CREATE TABLE code_pauses (
  application_id TEXT NOT NULL,
  email TEXT NOT NULL,
  purpose TEXT NOT NULL,
  paused_until INTEGER NOT NULL,
  PRIMARY KEY (application_id, email, purpose)
) STRICT, WITHOUT ROWID;

CREATE TABLE setup_links (
  token_hash BLOB PRIMARY KEY,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  consumed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_records (
  id TEXT PRIMARY KEY,
  application_id TEXT,
  workspace_id TEXT,
  kind TEXT NOT NULL,
  ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
  user_id TEXT,
  email TEXT,
  actor_type TEXT NOT NULL,
  actor_user_id TEXT,
  actor_api_key_id TEXT,
  target_id TEXT,
  request_id TEXT,
  ip TEXT,
  ip_country TEXT,
  detail TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_records_by_application ON audit_records (application_id, created_at, id);
CREATE INDEX audit_records_by_time ON audit_records (created_at);

-- The event outbox: written in the transaction of the change it reports.
CREATE TABLE events (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_application ON events (application_id, id);

CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT,
  html TEXT,
  code TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'captured', 'failed')),
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER NOT NULL,
  leased_until INTEGER,
  expires_at INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE status = 'queued';
CREATE INDEX mails_by_recipient ON mails (recipient, id);
CREATE INDEX mails_by_time ON mails (created_at);

CREATE TABLE rate_counters (
  bucket TEXT NOT NULL,
  subject TEXT NOT NULL,
  window_started_at INTEGER NOT NULL,
  window_ends_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (bucket, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_counters_by_end ON rate_counters (window_ends_at);
