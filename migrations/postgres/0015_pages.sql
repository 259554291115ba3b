-- What the hosted pages and mails know of an application and of those who wait for it.
ALTER TABLE applications ADD COLUMN home_url text COLLATE "C";
ALTER TABLE applications ADD COLUMN support_url text COLLATE "C";
ALTER TABLE applications ADD COLUMN support_email text COLLATE "C";
ALTER TABLE applications ADD COLUMN logo_dark_url text COLLATE "C";
ALTER TABLE applications ADD COLUMN icon_url text COLLATE "C";
ALTER TABLE applications ADD COLUMN hidden_account_parts text COLLATE "C";
ALTER TABLE applications ADD COLUMN hidden_account_fields text COLLATE "C";

-- Logos and icons that were uploaded, as PNG. The application's row has their URLs.
CREATE TABLE application_images (
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('logo', 'logo-dark', 'icon')),
  version text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (application_id, kind)
);

-- The language of the page on which the request was made.
ALTER TABLE beta_interests ADD COLUMN locale text COLLATE "C";

-- The display name and the Reply-To of a mail; null for mails of the server itself.
ALTER TABLE mails ADD COLUMN sender_name text COLLATE "C";
ALTER TABLE mails ADD COLUMN reply_to text COLLATE "C";

-- An application's own line in a mail, by the kind of mail and its language.
CREATE TABLE mail_lines (
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  mail text COLLATE "C" NOT NULL,
  locale text COLLATE "C" NOT NULL,
  line text COLLATE "C" NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (application_id, mail, locale)
);
-- The secret of a session's page cookie, which no application holds, and proofs given with it. A session that continues
-- another has the time of the sign-in that proved who it is.
ALTER TABLE sessions ADD COLUMN page_token_hash bytea;
ALTER TABLE sessions ADD COLUMN page_proved_at bigint;
ALTER TABLE sessions ADD COLUMN authenticated_at bigint;

-- When a member's sessions were last ended by decision: an earlier sign-in is not continued there.
ALTER TABLE application_users ADD COLUMN sessions_ended_at bigint;

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
  subject text COLLATE "C" NOT NULL,
  metric text COLLATE "C" NOT NULL,
  hour bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (subject, metric, hour)
);
CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
-- Changes of all users that a filter matched, each made by a background task, and how each person fared who did not
-- stay as they were: an undo needs it.
CREATE TABLE bulk_changes (
  id text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL REFERENCES applications (id),
  filter text COLLATE "C",
  change text COLLATE "C" NOT NULL,
  audit_id text COLLATE "C" NOT NULL,
  undo_of_id text COLLATE "C",
  undone_by_id text COLLATE "C",
  changed bigint NOT NULL,
  unchanged bigint NOT NULL,
  refused bigint NOT NULL,
  skipped bigint NOT NULL,
  created_at bigint NOT NULL,
  stopped_at bigint,
  finished_at bigint
);
CREATE INDEX bulk_changes_by_application ON bulk_changes (application_id, id);
CREATE INDEX bulk_changes_by_end ON bulk_changes (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE bulk_change_members (
  bulk_change_id text COLLATE "C" NOT NULL REFERENCES bulk_changes (id),
  application_user_id text COLLATE "C" NOT NULL REFERENCES application_users (id),
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('changed', 'refused', 'skipped')),
  detail text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (bulk_change_id, application_user_id)
);
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
  entry bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  member_id text COLLATE "C" NOT NULL UNIQUE,
  application_id text COLLATE "C" NOT NULL,
  handles text COLLATE "C",
  names text COLLATE "C",
  tokens text COLLATE "C"
);
CREATE INDEX member_search_missing ON member_search (application_id, entry) WHERE handles IS NULL;
-- No extension is needed. Without a pending list, no search has to read one: rows are indexed in batches anyway.
CREATE INDEX member_search_tokens ON member_search USING gin ((CAST(tokens AS tsvector))) WITH (fastupdate = off);

CREATE FUNCTION gatehouse_member_joined() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO member_search (member_id, application_id) VALUES (NEW.id, NEW.application_id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE FUNCTION gatehouse_member_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM member_search WHERE member_id = OLD.id;
  RETURN NULL;
END $$;
CREATE FUNCTION gatehouse_member_renamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE member_search SET handles = NULL, names = NULL, tokens = NULL WHERE member_id = NEW.id;
  RETURN NULL;
END $$;
CREATE FUNCTION gatehouse_user_renamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE member_search SET handles = NULL, names = NULL, tokens = NULL WHERE member_id IN (
    SELECT id FROM application_users WHERE user_id = NEW.id
    UNION SELECT id FROM application_users WHERE profile_user_id = NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER application_users_joined AFTER INSERT ON application_users
FOR EACH ROW EXECUTE FUNCTION gatehouse_member_joined();
CREATE TRIGGER application_users_gone AFTER DELETE ON application_users
FOR EACH ROW EXECUTE FUNCTION gatehouse_member_gone();
CREATE TRIGGER application_users_renamed
AFTER UPDATE OF user_id, username, reserved_email, reserved_profile, profile_user_id ON application_users
FOR EACH ROW EXECUTE FUNCTION gatehouse_member_renamed();
CREATE TRIGGER users_renamed AFTER UPDATE OF email, name, full_name, given_name, family_name ON users
FOR EACH ROW WHEN ((NEW.email, NEW.name, NEW.full_name, NEW.given_name, NEW.family_name)
  IS DISTINCT FROM (OLD.email, OLD.name, OLD.full_name, OLD.given_name, OLD.family_name))
EXECUTE FUNCTION gatehouse_user_renamed();

-- Members from before this table get their rows by a background task; until then a search reads them one by one.
INSERT INTO long_works (id, kind, application_id, actor, data, cursor, done, total, created_at, updated_at)
SELECT 'wrk_00000000000000000000000000', 'users.enter_search', NULL,
  '{"type":"system","userId":null,"apiKeyId":null,"requestId":null,"ip":null,"ipCountry":null}', '{}', '', 0, NULL, 0, 0
WHERE EXISTS (SELECT 1 FROM application_users);
-- What the application's own systems know of a member.
ALTER TABLE application_users ADD COLUMN external_id text COLLATE "C";
ALTER TABLE application_users ADD COLUMN metadata text COLLATE "C";
CREATE UNIQUE INDEX application_users_external_id ON application_users (application_id, external_id)
  WHERE external_id IS NOT NULL;

-- The mail server that an owner has set in the console: at most one row, with the password sealed.
CREATE TABLE mail_servers (
  id text COLLATE "C" PRIMARY KEY CHECK (id = 'instance'),
  host text COLLATE "C" NOT NULL,
  port bigint NOT NULL,
  tls text COLLATE "C" NOT NULL CHECK (tls IN ('implicit', 'starttls', 'optional')),
  username text COLLATE "C",
  sealed_password text COLLATE "C",
  sender text COLLATE "C" NOT NULL,
  set_at bigint NOT NULL
);
