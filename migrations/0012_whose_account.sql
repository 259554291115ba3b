-- Whose account it is until its holder comes, who made a workspace, and when an application was first verified.

-- A member who came by the word of the workspace's own identity provider alone keeps `reserved_email`. What they show and
-- write stays with this profile: a row of `users` that nobody can sign in as, one for each person and workspace.
ALTER TABLE application_users ADD COLUMN profile_user_id TEXT REFERENCES users (id);
CREATE INDEX application_users_by_profile ON application_users (profile_user_id) WHERE profile_user_id IS NOT NULL;

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
