-- What the console shows: whose mails these are, and what happened a day.

-- Null for the console's own, and for what was sent before this was kept and is no code.
ALTER TABLE mails ADD COLUMN application_id TEXT;
ALTER TABLE mails ADD COLUMN workspace_id TEXT;
UPDATE mails SET application_id = (
  SELECT c.application_id FROM code_challenges c WHERE c.email = mails.recipient AND c.created_at = mails.created_at LIMIT 1)
WHERE status IN ('queued', 'captured') AND code IS NOT NULL;
UPDATE mails SET workspace_id = (SELECT a.workspace_id FROM applications a WHERE a.id = mails.application_id)
WHERE application_id IS NOT NULL;
CREATE INDEX mails_by_workspace ON mails (workspace_id, id);
