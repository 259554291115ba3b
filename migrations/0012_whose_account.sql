-- Whose account it is until its holder comes, who made a workspace, and when an application was first verified.

-- A member who came by the word of the workspace's own identity provider alone keeps `reserved_email`. What they show and
-- write stays with this profile: a row of `users` that nobody can sign in as, one for each person and workspace.
ALTER TABLE application_users ADD COLUMN profile_user_id TEXT REFERENCES users (id);
CREATE INDEX application_users_by_profile ON application_users (profile_user_id) WHERE profile_user_id IS NOT NULL;

-- Accounts of before that a workspace's own provider made, and whose holder has never proved the address: what was written
-- there moves to such a profile. Who sits in the console came by the operator's link, and stays.
CREATE TEMP TABLE unproved AS
  SELECT u.id AS user_id, min(a.workspace_id) AS workspace_id,
    'usr_' || substr(u.id, 5, 1) || substr(u.id, 18) || substr(u.id, 6, 12) AS profile_id
  FROM users u JOIN application_users m ON m.user_id = u.id JOIN applications a ON a.id = m.application_id
  -- Who came by the provider may have left a passkey, a device or a session alone.
  WHERE u.id IN (
      SELECT user_id FROM provider_identities UNION SELECT user_id FROM passkeys UNION
      SELECT user_id FROM application_users WHERE id IN (
        SELECT application_user_id FROM sessions UNION SELECT application_user_id FROM api_keys WHERE source = 'device'))
    AND u.email_verified_at IS NULL AND u.deleted_at IS NULL AND m.reserved_email IS NULL
  GROUP BY u.id HAVING count(a.workspace_id) = count(*);
INSERT INTO users (id, kind, email, full_name, given_name, family_name, locale, timezone, region, provider_avatar_url,
    avatar_sizes, avatar_updated_at, banner_sizes, banner_updated_at, created_at, updated_at)
  SELECT n.profile_id, u.kind, u.id || '.' || n.workspace_id || '@unproved.invalid', u.full_name, u.given_name, u.family_name,
    u.locale, u.timezone, u.region, u.provider_avatar_url, u.avatar_sizes, u.avatar_updated_at, u.banner_sizes,
    u.banner_updated_at, u.created_at, u.updated_at
  FROM users u JOIN unproved n ON n.user_id = u.id;
UPDATE user_images SET user_id = (SELECT profile_id FROM unproved n WHERE n.user_id = user_images.user_id)
  WHERE user_id IN (SELECT user_id FROM unproved);
UPDATE user_languages SET user_id = (SELECT profile_id FROM unproved n WHERE n.user_id = user_languages.user_id)
  WHERE user_id IN (SELECT user_id FROM unproved);
UPDATE user_addresses SET user_id = (SELECT profile_id FROM unproved n WHERE n.user_id = user_addresses.user_id)
  WHERE user_id IN (SELECT user_id FROM unproved);
UPDATE legal_entities SET user_id = (SELECT profile_id FROM unproved n WHERE n.user_id = legal_entities.user_id)
  WHERE user_id IN (SELECT user_id FROM unproved);
UPDATE OR IGNORE application_users
  SET reserved_email = (SELECT email FROM users u WHERE u.id = application_users.user_id),
    profile_user_id = (SELECT profile_id FROM unproved n WHERE n.user_id = application_users.user_id)
  WHERE reserved_email IS NULL AND user_id IN (SELECT user_id FROM unproved);
UPDATE users SET full_name = NULL, given_name = NULL, family_name = NULL, locale = NULL, timezone = NULL, region = NULL,
    provider_avatar_url = NULL, avatar_sizes = NULL, avatar_updated_at = NULL, banner_sizes = NULL, banner_updated_at = NULL
  WHERE id IN (SELECT user_id FROM unproved);
DROP TABLE unproved;

-- When the person connected the identity in a session; null where a workspace's provider claimed it for a verified address.
ALTER TABLE provider_identities ADD COLUMN linked_by_holder_at INTEGER;
UPDATE provider_identities SET linked_by_holder_at = created_at WHERE id IN (
  SELECT target_id FROM audit_records
  WHERE kind = 'provider.linked' AND json_extract(detail, '$.sessionId') IS NOT NULL);

-- Shared budgets are counted for the account that made the workspaces; null for the server's own first one.
ALTER TABLE workspaces ADD COLUMN created_by_user_id TEXT;
UPDATE workspaces SET created_by_user_id = (
  SELECT w.user_id FROM workspace_members w WHERE w.workspace_id = workspaces.id AND w.role = 'owner'
  ORDER BY w.created_at, w.id LIMIT 1);
CREATE INDEX workspaces_by_creator ON workspaces (created_by_user_id, created_at);

-- The first verification that succeeded; until then, why the last one was refused.
ALTER TABLE applications ADD COLUMN first_verified_at INTEGER;
ALTER TABLE applications ADD COLUMN verification_refusal TEXT;
ALTER TABLE applications ADD COLUMN verification_refused_at INTEGER;

-- The former addresses of a person are looked up when they prove a new one, and for each recipient in the outbox.
CREATE INDEX email_aliases_by_user ON email_aliases (user_id);
