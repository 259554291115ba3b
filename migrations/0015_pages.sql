-- What the hosted pages and mails know of an application and of those who wait for it.
ALTER TABLE applications ADD COLUMN home_url TEXT;
ALTER TABLE applications ADD COLUMN support_url TEXT;
ALTER TABLE applications ADD COLUMN support_email TEXT;
ALTER TABLE applications ADD COLUMN logo_dark_url TEXT;
ALTER TABLE applications ADD COLUMN icon_url TEXT;
ALTER TABLE applications ADD COLUMN hidden_account_parts TEXT;
ALTER TABLE applications ADD COLUMN hidden_account_fields TEXT;

-- Logos and icons that were uploaded, as PNG. The application's row has their URLs.
CREATE TABLE application_images (
  application_id TEXT NOT NULL REFERENCES applications (id),
  kind TEXT NOT NULL CHECK (kind IN ('logo', 'logo-dark', 'icon')),
  version TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (application_id, kind)
) STRICT;

-- The language of the page on which the request was made.
ALTER TABLE beta_interests ADD COLUMN locale TEXT;

-- The display name and the Reply-To of a mail; null for mails of the server itself.
ALTER TABLE mails ADD COLUMN sender_name TEXT;
ALTER TABLE mails ADD COLUMN reply_to TEXT;

-- An application's own line in a mail, by the kind of mail and its language.
CREATE TABLE mail_lines (
  application_id TEXT NOT NULL REFERENCES applications (id),
  mail TEXT NOT NULL,
  locale TEXT NOT NULL,
  line TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (application_id, mail, locale)
) STRICT, WITHOUT ROWID;
-- The secret of a session's page cookie, which no application holds, and proofs given with it. A session that continues
-- another has the time of the sign-in that proved who it is.
ALTER TABLE sessions ADD COLUMN page_token_hash BLOB;
ALTER TABLE sessions ADD COLUMN page_proved_at INTEGER;
ALTER TABLE sessions ADD COLUMN authenticated_at INTEGER;

-- When a member's sessions were last ended by decision: an earlier sign-in is not continued there.
ALTER TABLE application_users ADD COLUMN sessions_ended_at INTEGER;

-- Activity by who acted, with which key, on what, and in which request.
CREATE INDEX audit_records_by_acting_user ON audit_records (actor_user_id, workspace_id, created_at, id)
  WHERE actor_user_id IS NOT NULL;
CREATE INDEX audit_records_by_key ON audit_records (actor_api_key_id, created_at, id)
  WHERE actor_api_key_id IS NOT NULL;
CREATE INDEX audit_records_by_target ON audit_records (target_id, created_at, id) WHERE target_id IS NOT NULL;
CREATE INDEX audit_records_by_request ON audit_records (request_id) WHERE request_id IS NOT NULL;
-- Both columns keep the planner from the longer index of acting users, which has what they did to others as well.
DROP INDEX audit_records_by_actor;
CREATE INDEX audit_records_by_actor ON audit_records (user_id, actor_user_id)
  WHERE user_id IS NULL AND actor_user_id IS NOT NULL;
-- Counts by UTC hour of an application, API key or webhook endpoint, for a month.
CREATE TABLE hourly_counts (
  subject TEXT NOT NULL,
  metric TEXT NOT NULL,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (subject, metric, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
-- Changes of all users that a filter matched, each made by a background task, and how each person fared who did not
-- stay as they were: an undo needs it.
CREATE TABLE bulk_changes (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  filter TEXT,
  change TEXT NOT NULL,
  audit_id TEXT NOT NULL,
  undo_of_id TEXT,
  undone_by_id TEXT,
  changed INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  stopped_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX bulk_changes_by_application ON bulk_changes (application_id, id);
CREATE INDEX bulk_changes_by_end ON bulk_changes (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE bulk_change_members (
  bulk_change_id TEXT NOT NULL REFERENCES bulk_changes (id),
  application_user_id TEXT NOT NULL REFERENCES application_users (id),
  outcome TEXT NOT NULL CHECK (outcome IN ('changed', 'refused', 'skipped')),
  detail TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (bulk_change_id, application_user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_change_members_left_out ON bulk_change_members (bulk_change_id, outcome, application_user_id)
  WHERE outcome <> 'changed';
CREATE INDEX bulk_change_members_by_member ON bulk_change_members (application_user_id);
CREATE INDEX bulk_change_members_by_age ON bulk_change_members (created_at);

-- The principals of keys, which a count of people leaves out.
CREATE INDEX users_of_keys ON users (id) WHERE kind = 'api_key';

-- Members in any other state than active are few, and a list of them must not read everybody.
CREATE INDEX application_users_by_status ON application_users (application_id, status, last_seen_at, id)
WHERE status <> 'active';

-- Folded search text of members, and the tokens of its trigrams. A null text is to be indexed: triggers empty it in the
-- change that makes it wrong, whichever version makes that change.
CREATE TABLE member_search (
  entry INTEGER PRIMARY KEY,
  member_id TEXT NOT NULL UNIQUE,
  application_id TEXT NOT NULL,
  handles TEXT,
  names TEXT,
  tokens TEXT
) STRICT;
CREATE INDEX member_search_missing ON member_search (application_id, entry) WHERE handles IS NULL;

CREATE VIRTUAL TABLE member_tokens USING fts5 (
  tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

CREATE TRIGGER member_search_changed AFTER UPDATE OF tokens ON member_search BEGIN
  DELETE FROM member_tokens WHERE rowid = OLD.entry;
  INSERT INTO member_tokens (rowid, tokens) SELECT NEW.entry, NEW.tokens WHERE NEW.tokens IS NOT NULL;
END;
CREATE TRIGGER member_search_deleted AFTER DELETE ON member_search BEGIN
  DELETE FROM member_tokens WHERE rowid = OLD.entry;
END;

CREATE TRIGGER application_users_joined AFTER INSERT ON application_users BEGIN
  INSERT INTO member_search (member_id, application_id) VALUES (NEW.id, NEW.application_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER application_users_gone AFTER DELETE ON application_users BEGIN
  DELETE FROM member_search WHERE member_id = OLD.id;
END;
CREATE TRIGGER application_users_renamed
AFTER UPDATE OF user_id, username, reserved_email, reserved_profile, profile_user_id ON application_users BEGIN
  UPDATE member_search SET handles = NULL, names = NULL, tokens = NULL WHERE member_id = NEW.id;
END;
CREATE TRIGGER users_renamed AFTER UPDATE OF email, name, full_name, given_name, family_name ON users
WHEN NEW.email IS NOT OLD.email OR NEW.name IS NOT OLD.name OR NEW.full_name IS NOT OLD.full_name
  OR NEW.given_name IS NOT OLD.given_name OR NEW.family_name IS NOT OLD.family_name BEGIN
  UPDATE member_search SET handles = NULL, names = NULL, tokens = NULL WHERE member_id IN (
    SELECT id FROM application_users WHERE user_id = NEW.id
    UNION SELECT id FROM application_users WHERE profile_user_id = NEW.id);
END;

-- Members from before this table get their rows by a background task; until then a search reads them one by one.
INSERT INTO long_works (id, kind, application_id, actor, data, cursor, done, total, created_at, updated_at)
SELECT 'wrk_00000000000000000000000000', 'users.enter_search', NULL,
  '{"type":"system","userId":null,"apiKeyId":null,"requestId":null,"ip":null,"ipCountry":null}', '{}', '', 0, NULL, 0, 0
WHERE EXISTS (SELECT 1 FROM application_users);
-- What the application's own systems know of a member.
ALTER TABLE application_users ADD COLUMN external_id TEXT;
ALTER TABLE application_users ADD COLUMN metadata TEXT;
CREATE UNIQUE INDEX application_users_external_id ON application_users (application_id, external_id)
  WHERE external_id IS NOT NULL;

-- The mail server that an owner has set in the console: at most one row, with the password sealed.
CREATE TABLE mail_servers (
  id TEXT PRIMARY KEY CHECK (id = 'instance'),
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  tls TEXT NOT NULL CHECK (tls IN ('implicit', 'starttls', 'optional')),
  username TEXT,
  sealed_password TEXT,
  sender TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;
