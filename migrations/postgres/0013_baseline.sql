-- The schema of a new PostgreSQL database: the result of SQLite's migrations up to 13. Later migrations add to it.
--
-- Times are integer milliseconds since the Unix epoch, UTC. Booleans are 0 or 1, and JSON is text, as in SQLite.
-- Secrets are stored as SHA-256 or HMAC-SHA256 only. A table comes after the tables that it refers to.
--
-- COLLATE "C" sorts text by its bytes, and lets lower() change ASCII letters only, as SQLite does. It depends on
-- neither the locale of the database nor the libraries of its machine, so an update of these damages no index.

CREATE TABLE workspaces (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  created_by_user_id text COLLATE "C"
);

CREATE INDEX workspaces_by_creator ON workspaces (created_by_user_id, created_at);

CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('person', 'api_key')),
  email text COLLATE "C" NOT NULL UNIQUE,
  email_verified_at bigint,
  name text COLLATE "C",
  full_name text COLLATE "C",
  given_name text COLLATE "C",
  family_name text COLLATE "C",
  locale text COLLATE "C",
  timezone text COLLATE "C",
  region text COLLATE "C",
  provider_avatar_url text COLLATE "C",
  avatar_sizes text COLLATE "C",
  avatar_updated_at bigint,
  banner_sizes text COLLATE "C",
  banner_updated_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint
);

CREATE TABLE email_aliases (
  email text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  archived_at bigint NOT NULL
);

CREATE INDEX email_aliases_by_user ON email_aliases (user_id);

CREATE TABLE workspace_members (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at bigint NOT NULL,
  invited_email text COLLATE "C",
  UNIQUE (workspace_id, user_id)
);

CREATE INDEX workspace_members_by_user ON workspace_members (user_id);
CREATE UNIQUE INDEX workspace_members_invited ON workspace_members (invited_email, workspace_id)
  WHERE invited_email IS NOT NULL;

-- The console is an application without a workspace.
CREATE TABLE applications (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" REFERENCES workspaces (id),
  client_id text COLLATE "C" NOT NULL UNIQUE,
  slug text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL,
  stage text COLLATE "C" NOT NULL CHECK (stage IN ('draft', 'test', 'live')),
  signin_gate text COLLATE "C" NOT NULL CHECK (signin_gate IN ('public', 'private_beta', 'closed')),
  beta_request_policy text COLLATE "C" NOT NULL
    CHECK (beta_request_policy IN ('manual', 'auto_accept', 'auto_decline')),
  session_ttl_seconds bigint NOT NULL CHECK (session_ttl_seconds BETWEEN 300 AND 31536000),
  return_urls text COLLATE "C" NOT NULL,
  terms_url text COLLATE "C",
  privacy_url text COLLATE "C",
  imprint_url text COLLATE "C",
  logo_url text COLLATE "C",
  accent_color text COLLATE "C",
  archived_at bigint,
  deleted_at bigint,
  purge_after bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  client_secret_hash bytea,
  client_secret_prefix text COLLATE "C",
  client_secret_rotated_at bigint,
  signin_methods text COLLATE "C" NOT NULL DEFAULT '["otp","passkey","provider"]',
  session_epoch bigint NOT NULL DEFAULT 0,
  interest_epoch bigint NOT NULL DEFAULT 0,
  first_verified_at bigint,
  verification_refusal text COLLATE "C",
  verification_refused_at bigint
);

CREATE INDEX applications_by_workspace ON applications (workspace_id, id);

CREATE TABLE roles (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  slug text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  is_default bigint NOT NULL CHECK (is_default IN (0, 1)),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed_at bigint,
  UNIQUE (application_id, slug)
);

CREATE TABLE scopes (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  slug text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  is_default bigint NOT NULL CHECK (is_default IN (0, 1)),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed_at bigint,
  UNIQUE (application_id, slug)
);

CREATE TABLE membership_groups (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  slug text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  is_default bigint NOT NULL CHECK (is_default IN (0, 1)),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed_at bigint,
  UNIQUE (application_id, slug)
);

CREATE TABLE application_users (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'banned', 'paused', 'inactivated', 'left', 'deleted')),
  status_reason text COLLATE "C",
  username text COLLATE "C",
  last_seen_at bigint NOT NULL,
  roles_updated_at bigint NOT NULL,
  scopes_updated_at bigint NOT NULL,
  memberships_updated_at bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  session_epoch bigint NOT NULL DEFAULT 0,
  reserved_email text COLLATE "C",
  reserved_profile text COLLATE "C",
  status_before_deletion text COLLATE "C"
    CHECK (status_before_deletion IN ('active', 'banned', 'paused', 'inactivated', 'left')),
  reason_before_deletion text COLLATE "C",
  profile_user_id text COLLATE "C" REFERENCES users (id),
  UNIQUE (application_id, user_id),
  UNIQUE (application_id, username)
);

CREATE INDEX application_users_by_user ON application_users (user_id);
CREATE INDEX application_users_by_last_seen ON application_users (application_id, last_seen_at, id);
CREATE UNIQUE INDEX application_users_reserved ON application_users (reserved_email, application_id)
  WHERE reserved_email IS NOT NULL;
CREATE INDEX application_users_active ON application_users (application_id) WHERE status = 'active';
CREATE INDEX application_users_by_joining ON application_users (application_id, id);
CREATE INDEX application_users_by_profile ON application_users (profile_user_id) WHERE profile_user_id IS NOT NULL;

CREATE TABLE application_user_roles (
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  role_id text COLLATE "C" NOT NULL REFERENCES roles (id),
  PRIMARY KEY (application_user_id, role_id)
);

CREATE INDEX application_user_roles_by_role ON application_user_roles (role_id);

CREATE TABLE application_user_scopes (
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  scope_id text COLLATE "C" NOT NULL REFERENCES scopes (id),
  PRIMARY KEY (application_user_id, scope_id)
);

CREATE INDEX application_user_scopes_by_scope ON application_user_scopes (scope_id);

CREATE TABLE application_user_groups (
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  group_id text COLLATE "C" NOT NULL REFERENCES membership_groups (id),
  PRIMARY KEY (application_user_id, group_id)
);

CREATE INDEX application_user_groups_by_group ON application_user_groups (group_id);

-- Free space in each page lets last-seen times, which no index has, be updated in place (HOT).
CREATE TABLE sessions (
  id text COLLATE "C" PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  method text COLLATE "C" NOT NULL,
  ip text COLLATE "C",
  user_agent text COLLATE "C",
  last_seen_at bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  revoked_reason text COLLATE "C",
  expiry_reported_at bigint,
  proved_at bigint,
  ip_country text COLLATE "C",
  epoch bigint NOT NULL DEFAULT 0,
  credential_id text COLLATE "C"
) WITH (fillfactor = 70);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX sessions_by_application_user ON sessions (application_user_id, revoked_at, id);
CREATE INDEX sessions_expiring ON sessions (expires_at, id) WHERE revoked_at IS NULL AND expiry_reported_at IS NULL;

-- Free space in each page lets last-used times be updated in place (HOT).
CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  prefix text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  access text COLLATE "C" NOT NULL CHECK (access IN ('read', 'full')),
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id),
  application_id text COLLATE "C" REFERENCES applications (id),
  application_ids text COLLATE "C",
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  source text COLLATE "C" NOT NULL,
  per_minute bigint NOT NULL CHECK (per_minute BETWEEN 1 AND 1000000),
  per_day bigint NOT NULL CHECK (per_day BETWEEN 1 AND 1000000000),
  expires_at bigint,
  revoked_at bigint,
  rotated_to_id text COLLATE "C" REFERENCES api_keys (id),
  grace_period_ends_at bigint,
  last_used_at bigint,
  created_by_user_id text COLLATE "C" REFERENCES users (id),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  device_key_id text COLLATE "C" REFERENCES api_keys (id),
  ended_at bigint
) WITH (fillfactor = 70);

CREATE INDEX api_keys_by_application ON api_keys (application_id, id);
CREATE INDEX api_keys_by_application_user ON api_keys (application_user_id);
CREATE INDEX api_keys_open ON api_keys (application_user_id, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_open_personal ON api_keys (application_id, epoch) WHERE source = 'device' AND revoked_at IS NULL;
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id) WHERE application_id IS NULL;
CREATE INDEX api_keys_by_device_key ON api_keys (device_key_id) WHERE device_key_id IS NOT NULL;
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX api_keys_by_grace_end ON api_keys (grace_period_ends_at)
  WHERE grace_period_ends_at IS NOT NULL AND ended_at IS NULL;
-- The deletion of a user looks for keys that they created. A scan of all keys would conflict with every change of one.
CREATE INDEX api_keys_by_creator ON api_keys (created_by_user_id) WHERE created_by_user_id IS NOT NULL;
CREATE INDEX api_keys_of_backends ON api_keys (application_id, application_user_id) WHERE source <> 'device';

CREATE TABLE beta_interests (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  email text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'approved', 'notify_when_public', 'declined')),
  source text COLLATE "C" NOT NULL,
  decided_by_id text COLLATE "C",
  decided_at bigint,
  notified_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  UNIQUE (application_id, email)
);

CREATE INDEX beta_interests_by_status ON beta_interests (application_id, status, id);
CREATE INDEX beta_interests_by_id ON beta_interests (application_id, id);
CREATE INDEX beta_interests_by_email ON beta_interests (email);
CREATE INDEX beta_interests_pending ON beta_interests (application_id, epoch, id) WHERE status = 'pending';
CREATE INDEX beta_interests_waiting ON beta_interests (application_id, epoch, id)
  WHERE status = 'notify_when_public' AND notified_at IS NULL;

CREATE TABLE code_challenges (
  id text COLLATE "C" PRIMARY KEY,
  purpose text COLLATE "C" NOT NULL,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  email text COLLATE "C" NOT NULL,
  code_digest bytea NOT NULL,
  wrong_tries bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  consumed_at bigint,
  dropped_at bigint,
  data text COLLATE "C",
  session_id text COLLATE "C",
  application_epoch bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

-- No index has consumed_at or dropped_at, and pages have room: using a code then changes no index (a heap-only tuple).
-- Otherwise concurrent sign-ins would change the index pages that the others have read, and conflict.
CREATE INDEX code_challenges_by_email ON code_challenges (email, purpose, created_at);
CREATE INDEX code_challenges_by_expiry ON code_challenges (expires_at);
CREATE INDEX code_challenges_by_session ON code_challenges (session_id, created_at) WHERE session_id IS NOT NULL;

CREATE TABLE code_failures (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  failed_at bigint NOT NULL,
  address_block text COLLATE "C",
  browser text COLLATE "C"
);

CREATE INDEX code_failures_by_email ON code_failures (application_id, email, purpose, failed_at);
CREATE INDEX code_failures_by_time ON code_failures (failed_at);
CREATE INDEX code_failures_by_address ON code_failures (address_block, failed_at) WHERE browser IS NULL;
CREATE INDEX code_failures_in_all ON code_failures (failed_at) WHERE browser IS NULL;

CREATE TABLE setup_links (
  token_hash bytea PRIMARY KEY,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  consumed_at bigint
);

CREATE INDEX setup_links_by_expiry ON setup_links (expires_at);

CREATE TABLE audit_records (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C",
  workspace_id text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  ok bigint NOT NULL CHECK (ok IN (0, 1)),
  user_id text COLLATE "C",
  email text COLLATE "C",
  actor_type text COLLATE "C" NOT NULL,
  actor_user_id text COLLATE "C",
  actor_api_key_id text COLLATE "C",
  target_id text COLLATE "C",
  request_id text COLLATE "C",
  ip text COLLATE "C",
  ip_country text COLLATE "C",
  detail text COLLATE "C",
  created_at bigint NOT NULL,
  family text COLLATE "C"
    GENERATED ALWAYS AS (substr(kind, 1, greatest(strpos(kind, '.') - 1, 0))) STORED
);

CREATE INDEX audit_records_by_application ON audit_records (application_id, created_at, id);
CREATE INDEX audit_records_by_time ON audit_records (created_at);
CREATE INDEX audit_records_by_family ON audit_records (application_id, family, created_at, id);
CREATE INDEX audit_records_by_country ON audit_records (application_id, ip_country, created_at, id);
CREATE INDEX audit_records_by_actor ON audit_records (actor_user_id)
  WHERE user_id IS NULL AND actor_user_id IS NOT NULL;
CREATE INDEX audit_records_by_email ON audit_records (email) WHERE user_id IS NULL AND email IS NOT NULL;
CREATE INDEX audit_records_by_workspace ON audit_records (workspace_id, created_at, id);
CREATE INDEX audit_records_by_workspace_family ON audit_records (workspace_id, family, created_at, id);
CREATE INDEX audit_records_errors ON audit_records (application_id, created_at, id, kind, email, ip_country)
  WHERE ok = 0;
CREATE INDEX audit_records_workspace_errors ON audit_records (workspace_id, created_at, id, kind, email, ip_country)
  WHERE ok = 0;
CREATE INDEX audit_records_refused ON audit_records (application_id, email, created_at, id)
  WHERE ok = 0 AND email IS NOT NULL;
CREATE INDEX audit_records_by_user ON audit_records (user_id, workspace_id, created_at, id) WHERE user_id IS NOT NULL;

CREATE TABLE events (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  type text COLLATE "C" NOT NULL,
  data text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);

CREATE INDEX events_by_application ON events (application_id, id);
CREATE INDEX events_by_user ON events ((CAST(data AS json) ->> 'userId') COLLATE "C");
CREATE INDEX events_by_time ON events (created_at, id);

-- A queue: each row changes several times, in columns with indexes. Early vacuums keep those indexes small.
CREATE TABLE mails (
  id text COLLATE "C" PRIMARY KEY,
  recipient text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  text text COLLATE "C",
  html text COLLATE "C",
  code text COLLATE "C",
  status text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'sent', 'captured', 'failed')),
  attempts bigint NOT NULL,
  next_attempt_at bigint NOT NULL,
  leased_until bigint,
  expires_at bigint NOT NULL,
  last_error text COLLATE "C",
  created_at bigint NOT NULL,
  sent_at bigint,
  lane bigint NOT NULL DEFAULT 1 CHECK (lane IN (0, 1, 2)),
  application_id text COLLATE "C",
  workspace_id text COLLATE "C",
  lease_holder text COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX mails_by_recipient ON mails (recipient, id);
CREATE INDEX mails_by_time ON mails (created_at);
CREATE INDEX mails_due ON mails (lane, next_attempt_at, id) WHERE status = 'queued';
CREATE INDEX mails_leased ON mails (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX mails_by_workspace ON mails (workspace_id, id, recipient);
CREATE INDEX mails_by_workspace_status ON mails (workspace_id, status, id, recipient);

-- Updated all the time: free space keeps updates in place (HOT), and early vacuums keep the table small.
CREATE TABLE rate_counters (
  bucket text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  window_started_at bigint NOT NULL,
  window_ends_at bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (bucket, subject)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX rate_counters_by_end ON rate_counters (window_ends_at);

CREATE TABLE url_checks (
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('terms', 'privacy', 'imprint')),
  url text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('ok', 'broken', 'unreachable', 'refused')),
  final_code bigint,
  checked_at bigint NOT NULL,
  PRIMARY KEY (application_id, kind)
);

CREATE TABLE user_languages (
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  code text COLLATE "C" NOT NULL,
  level text COLLATE "C" NOT NULL CHECK (level IN ('NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC')),
  PRIMARY KEY (user_id, code)
);

CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  url text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  events text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'disabled', 'quarantined')),
  sealed_secret text COLLATE "C" NOT NULL,
  previous_sealed_secret text COLLATE "C",
  previous_secret_ends_at bigint,
  quarantined_at bigint,
  quarantine_reason text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed_at bigint,
  in_order_until text COLLATE "C",
  in_order_after text COLLATE "C",
  drop_notice_at bigint
);

CREATE INDEX webhooks_by_application ON webhooks (application_id, id);
CREATE INDEX webhooks_resting ON webhooks (id) WHERE status <> 'active';

-- A queue, like mails.
CREATE TABLE deliveries (
  id text COLLATE "C" PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id text COLLATE "C" NOT NULL REFERENCES events (id),
  event_type text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'held', 'delivered', 'failed')),
  attempts bigint NOT NULL,
  next_attempt_at bigint NOT NULL,
  leased_until bigint,
  created_at bigint NOT NULL,
  finished_at bigint,
  lease_holder text COLLATE "C"
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX deliveries_pending ON deliveries (webhook_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status, id);
CREATE INDEX deliveries_leased ON deliveries (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX deliveries_by_end ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE delivery_attempts (
  delivery_id text COLLATE "C" NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  number bigint NOT NULL,
  started_at bigint NOT NULL,
  duration_ms bigint NOT NULL,
  status_code bigint,
  error_class text COLLATE "C",
  request_headers text COLLATE "C" NOT NULL,
  response_excerpt text COLLATE "C",
  PRIMARY KEY (delivery_id, number)
);

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  workspace_id text COLLATE "C" REFERENCES workspaces (id),
  credential_id bytea NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text COLLATE "C" NOT NULL,
  aaguid text COLLATE "C" NOT NULL,
  is_backed_up bigint NOT NULL CHECK (is_backed_up IN (0, 1)),
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint
);

CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

CREATE TABLE passkey_challenges (
  id text COLLATE "C" PRIMARY KEY,
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'registration')),
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  session_id text COLLATE "C",
  challenge bytea NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  consumed_at bigint
);

CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);

CREATE TABLE provider_clients (
  application_id text COLLATE "C" PRIMARY KEY REFERENCES applications (id),
  issuer text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  sealed_secret text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE provider_identities (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  workspace_id text COLLATE "C" REFERENCES workspaces (id),
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  email text COLLATE "C",
  created_at bigint NOT NULL,
  last_used_at bigint NOT NULL,
  client_id text COLLATE "C" DEFAULT '',
  linked_by_holder_at bigint
);

CREATE INDEX provider_identities_by_user ON provider_identities (user_id, id);
CREATE UNIQUE INDEX provider_identities_by_subject
  ON provider_identities (issuer, subject, client_id, coalesce(workspace_id, ''));

CREATE TABLE provider_states (
  state_hash bytea PRIMARY KEY,
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'link')),
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  session_id text COLLATE "C",
  browser_hash bytea NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  return_to text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  consumed_at bigint,
  locale text COLLATE "C",
  timezone text COLLATE "C",
  CHECK ((purpose = 'link') = (session_id IS NOT NULL))
);

CREATE INDEX provider_states_by_expiry ON provider_states (expires_at);

CREATE TABLE device_grants (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  device_code_hash bytea NOT NULL UNIQUE,
  user_code_digest bytea NOT NULL UNIQUE,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'redeemed')),
  device_name text COLLATE "C",
  ip text COLLATE "C",
  ip_country text COLLATE "C",
  user_agent text COLLATE "C",
  interval_seconds bigint NOT NULL,
  last_polled_at bigint,
  claimed_session_id text COLLATE "C",
  application_user_id text COLLATE "C" REFERENCES application_users (id),
  api_key_id text COLLATE "C" REFERENCES api_keys (id),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  decided_at bigint,
  application_epoch bigint NOT NULL DEFAULT 0
);

CREATE INDEX device_grants_by_expiry ON device_grants (expires_at);
CREATE INDEX device_grants_by_member ON device_grants (application_user_id) WHERE application_user_id IS NOT NULL;

CREATE TABLE user_addresses (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('billing', 'shipping')),
  label text COLLATE "C",
  recipient text COLLATE "C" NOT NULL,
  company text COLLATE "C",
  line1 text COLLATE "C" NOT NULL,
  line2 text COLLATE "C",
  city text COLLATE "C" NOT NULL,
  region text COLLATE "C",
  postal_code text COLLATE "C",
  country text COLLATE "C" NOT NULL,
  phone text COLLATE "C",
  is_default bigint NOT NULL CHECK (is_default IN (0, 1)),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  workspace_id text COLLATE "C" REFERENCES workspaces (id)
);

CREATE INDEX user_addresses_by_user ON user_addresses (user_id, id);
CREATE UNIQUE INDEX user_addresses_default ON user_addresses (user_id, kind, coalesce(workspace_id, ''))
  WHERE is_default = 1;

CREATE TABLE legal_entities (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  legal_name text COLLATE "C" NOT NULL,
  trade_name text COLLATE "C",
  registration_number text COLLATE "C",
  tax_id text COLLATE "C",
  country text COLLATE "C" NOT NULL,
  address_id text COLLATE "C" REFERENCES user_addresses (id) ON DELETE SET NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  workspace_id text COLLATE "C" REFERENCES workspaces (id)
);

CREATE INDEX legal_entities_by_user ON legal_entities (user_id, id);
CREATE INDEX legal_entities_by_address ON legal_entities (address_id);

CREATE TABLE user_images (
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('avatar', 'banner')),
  size bigint NOT NULL,
  bytes bytea NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (user_id, kind, size)
);

CREATE TABLE long_works (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  application_id text COLLATE "C" REFERENCES applications (id),
  actor text COLLATE "C" NOT NULL,
  data text COLLATE "C" NOT NULL,
  cursor text COLLATE "C",
  done bigint NOT NULL,
  total bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE INDEX long_works_by_application ON long_works (application_id, id);

-- Later changes of a person have higher ids: concurrent ones conflict, and the one that runs again draws a new id.
CREATE TABLE email_changes (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  previous_email text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  settled_at bigint
);

CREATE INDEX email_changes_by_user ON email_changes (user_id, id);
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at);

CREATE TABLE former_slugs (
  slug text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  given_up_at bigint NOT NULL
);

CREATE INDEX former_slugs_by_application ON former_slugs (application_id);

CREATE TABLE retired_key_tokens (
  token_hash bytea PRIMARY KEY,
  api_key_id text COLLATE "C" NOT NULL REFERENCES api_keys (id),
  retired_at bigint NOT NULL
);

CREATE INDEX retired_key_tokens_by_age ON retired_key_tokens (retired_at);

-- Free space in each page lets counters be updated in place (HOT).
CREATE TABLE daily_counts (
  application_id text COLLATE "C" NOT NULL,
  metric text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  label text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (application_id, metric, day, label)
) WITH (fillfactor = 70);

CREATE INDEX daily_counts_by_day ON daily_counts (day);

CREATE TABLE backup_runs (
  id text COLLATE "C" PRIMARY KEY,
  cause text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  is_encrypted bigint NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint,
  bytes bigint,
  row_count bigint,
  sha256 text COLLATE "C",
  error text COLLATE "C"
);

CREATE INDEX backup_runs_by_start ON backup_runs (started_at);
