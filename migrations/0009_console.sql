-- What the console shows: whose mails these are, and what happened a day.

-- Null for the console's own, and for what was sent before this was kept and is no code.
ALTER TABLE mails ADD COLUMN application_id TEXT;
ALTER TABLE mails ADD COLUMN workspace_id TEXT;
UPDATE mails SET application_id = (
  SELECT c.application_id FROM code_challenges c WHERE c.email = mails.recipient AND c.created_at = mails.created_at LIMIT 1)
WHERE status IN ('queued', 'captured') AND code IS NOT NULL;
UPDATE mails SET workspace_id = (SELECT a.workspace_id FROM applications a WHERE a.id = mails.application_id)
WHERE application_id IS NOT NULL;
CREATE INDEX mails_by_workspace ON mails (workspace_id, id, recipient);

-- The outbox by its state. Both indexes hold the recipient, so that a search for a part of it reads them alone.
CREATE INDEX mails_by_workspace_status ON mails (workspace_id, status, id, recipient);

-- Activity of a workspace, of a person and of an address that was refused.
UPDATE audit_records SET workspace_id = (SELECT a.workspace_id FROM applications a WHERE a.id = audit_records.application_id)
WHERE workspace_id IS NULL AND application_id IS NOT NULL;
CREATE INDEX audit_records_by_workspace ON audit_records (workspace_id, created_at, id);
CREATE INDEX audit_records_by_workspace_family ON audit_records (workspace_id, family, created_at, id);
-- Refusals with all that they are looked through for.
DROP INDEX audit_records_errors;
CREATE INDEX audit_records_errors ON audit_records (application_id, created_at, id, kind, email, ip_country) WHERE ok = 0;
CREATE INDEX audit_records_workspace_errors ON audit_records (workspace_id, created_at, id, kind, email, ip_country) WHERE ok = 0;
CREATE INDEX audit_records_refused ON audit_records (application_id, email, created_at, id) WHERE ok = 0 AND email IS NOT NULL;
DROP INDEX audit_records_by_user;
CREATE INDEX audit_records_by_user ON audit_records (user_id, workspace_id, created_at, id) WHERE user_id IS NOT NULL;

-- What happened in an application, by the time its UTC day begins at (for two metrics its week, or its month). The metrics are
-- those of src/store/stats.ts; a label is what a metric is told apart by.
CREATE TABLE daily_counts (
  application_id TEXT NOT NULL,
  metric TEXT NOT NULL,
  day INTEGER NOT NULL,
  label TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (application_id, metric, day, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX daily_counts_by_day ON daily_counts (day);
-- What the records of before tell. Who had been imported counts as new on the day of the import.
INSERT INTO daily_counts
  SELECT application_id, 'sign_in', created_at - created_at % 86400000, detail ->> '$.method', count(*) FROM audit_records
  WHERE kind = 'signin.succeeded' AND application_id IS NOT NULL AND detail ->> '$.method' IS NOT NULL GROUP BY 1, 3, 4;
INSERT INTO daily_counts
  SELECT application_id, 'refusal', created_at - created_at % 86400000, detail ->> '$.reason', count(*) FROM audit_records
  WHERE kind IN ('signin.refused', 'signin.code_refused') AND application_id IS NOT NULL AND detail ->> '$.reason' IS NOT NULL
  GROUP BY 1, 3, 4;
INSERT INTO daily_counts
  SELECT m.application_id, 'new_user', m.created_at - m.created_at % 86400000, '', count(*)
  FROM application_users m JOIN users u ON u.id = m.user_id
  WHERE m.last_seen_at > 0 AND u.kind = 'person' GROUP BY 1, 3;
WITH periods (metric, start) AS (VALUES
  ('active_day', unixepoch('now', 'start of day') * 1000),
  ('active_week', unixepoch('now', 'start of day', '-6 days', 'weekday 1') * 1000),
  ('active_month', unixepoch('now', 'start of month') * 1000))
INSERT INTO daily_counts
  SELECT m.application_id, p.metric, p.start, '', count(*)
  FROM periods p JOIN application_users m ON m.last_seen_at >= p.start JOIN users u ON u.id = m.user_id
  WHERE u.kind = 'person' GROUP BY 1, 2;
-- Active members are counted by the first, less those that are principals of keys, which are found by the second.
CREATE INDEX application_users_active ON application_users (application_id) WHERE status = 'active';
CREATE INDEX api_keys_of_backends ON api_keys (application_id, application_user_id) WHERE source <> 'device';

-- Members in the order of joining, in which nobody moves while the list is read.
CREATE INDEX application_users_by_joining ON application_users (application_id, id);
