-- What tenants and strangers may not do to each other.

-- Wrong codes, by the block of the client's address and by the browser that the person was known in. How long codes pause
-- follows from when they were, so that no pause is kept beside them.
ALTER TABLE code_failures ADD COLUMN address_block TEXT;
ALTER TABLE code_failures ADD COLUMN browser TEXT;
CREATE INDEX code_failures_by_address ON code_failures (address_block, failed_at) WHERE browser IS NULL;
CREATE INDEX code_failures_in_all ON code_failures (failed_at) WHERE browser IS NULL;
DROP TABLE code_pauses;

-- The credential a session rests on, a passkey or an identity at a provider: the session ends with it. Null for codes and
-- setup links, and for what was made before this was kept.
ALTER TABLE sessions ADD COLUMN credential_id TEXT;

-- Changes of an address that its former holder can still undo, by the link they were mailed.
CREATE TABLE email_changes (
  id INTEGER PRIMARY KEY,
  token_hash BLOB NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id),
  application_id TEXT NOT NULL REFERENCES applications (id),
  previous_email TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
CREATE INDEX email_changes_by_user ON email_changes (user_id, id);
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at);

-- Where an address or a legal entity was given: sessions of other workspaces need a proof for it. Null is the console. Of
-- what is there already, the only workspace that the person is known in.
ALTER TABLE user_addresses ADD COLUMN workspace_id TEXT REFERENCES workspaces (id);
ALTER TABLE legal_entities ADD COLUMN workspace_id TEXT REFERENCES workspaces (id);
UPDATE user_addresses SET workspace_id = (
  SELECT min(a.workspace_id) FROM application_users m JOIN applications a ON a.id = m.application_id
  WHERE m.user_id = user_addresses.user_id
  HAVING count(*) = count(a.workspace_id) AND count(DISTINCT a.workspace_id) = 1);
UPDATE legal_entities SET workspace_id = (
  SELECT min(a.workspace_id) FROM application_users m JOIN applications a ON a.id = m.application_id
  WHERE m.user_id = legal_entities.user_id
  HAVING count(*) = count(a.workspace_id) AND count(DISTINCT a.workspace_id) = 1);
-- At most one default a kind, of those given in one place.
DROP INDEX user_addresses_default;
CREATE UNIQUE INDEX user_addresses_default ON user_addresses (user_id, kind, coalesce(workspace_id, '')) WHERE is_default = 1;

-- Reservations: what was imported for somebody who has not come to the workspace yet waits beside the membership.
ALTER TABLE application_users ADD COLUMN reserved_email TEXT;
ALTER TABLE application_users ADD COLUMN reserved_profile TEXT;
CREATE UNIQUE INDEX application_users_reserved ON application_users (reserved_email, application_id)
  WHERE reserved_email IS NOT NULL;
-- The address somebody was invited at who has not come to the console since.
ALTER TABLE workspace_members ADD COLUMN invited_email TEXT;
CREATE UNIQUE INDEX workspace_members_invited ON workspace_members (invited_email, workspace_id)
  WHERE invited_email IS NOT NULL;

-- The client that proved an identity. Of those from before: empty for the instance's own, by whatever id it went then; null
-- at an issuer that an application has had a client of its own at, where it cannot be told.
ALTER TABLE provider_identities ADD COLUMN client_id TEXT DEFAULT '';
UPDATE provider_identities SET client_id = NULL WHERE issuer IN (
  SELECT issuer FROM provider_clients
  UNION SELECT json_extract(detail, '$.issuer') FROM audit_records WHERE kind = 'provider.configured');
DROP INDEX provider_identities_by_subject;
CREATE UNIQUE INDEX provider_identities_by_subject
  ON provider_identities (issuer, subject, client_id, coalesce(workspace_id, ''));

-- Names that an application has given up stay its own: the addresses of pictures are made of them.
CREATE TABLE former_slugs (
  slug TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  given_up_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX former_slugs_by_application ON former_slugs (application_id);

-- A key that was made with a person's own ends with that.
ALTER TABLE api_keys ADD COLUMN device_key_id TEXT REFERENCES api_keys (id);
CREATE INDEX api_keys_by_device_key ON api_keys (device_key_id) WHERE device_key_id IS NOT NULL;

-- Subjects hold codes too. Those that still count were mailed within the last day; the others go with their mails.
UPDATE mails SET subject = '' WHERE status IN ('sent', 'failed') AND created_at > (unixepoch() - 86400) * 1000;
