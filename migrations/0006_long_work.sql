-- What is as long as a tenant is switched at once and followed up in slices. A session, personal key, code or device grant
-- that was made under another epoch than the present one is over, whether its row has been reached or not.
ALTER TABLE applications ADD COLUMN session_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE application_users ADD COLUMN session_epoch INTEGER NOT NULL DEFAULT 0;
-- The sum of both epochs at the time it was made: each only grows, so the sum is the same only while both are.
ALTER TABLE sessions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
-- Of a personal key, the application's epoch alone: a pause ends the member's sessions, but only rests their devices.
ALTER TABLE api_keys ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE code_challenges ADD COLUMN application_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device_grants ADD COLUMN application_epoch INTEGER NOT NULL DEFAULT 0;

CREATE INDEX api_keys_open ON api_keys (application_user_id, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_open_personal ON api_keys (application_id, epoch) WHERE source = 'device' AND revoked_at IS NULL;
-- A workspace's own keys are few among those of its applications.
DROP INDEX api_keys_by_workspace;
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id) WHERE application_id IS NULL;
CREATE INDEX device_grants_by_member ON device_grants (application_user_id) WHERE application_user_id IS NOT NULL;

-- Gone for everybody from this time on; the row goes with the last thing that hangs on it.
ALTER TABLE roles ADD COLUMN removed_at INTEGER;
ALTER TABLE scopes ADD COLUMN removed_at INTEGER;
ALTER TABLE membership_groups ADD COLUMN removed_at INTEGER;
ALTER TABLE webhooks ADD COLUMN removed_at INTEGER;

-- The trail of a switch: rows, events and mails still to be written. Resumed where the cursor stands.
CREATE TABLE long_works (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  application_id TEXT REFERENCES applications (id),
  actor TEXT NOT NULL,
  data TEXT NOT NULL,
  cursor TEXT,
  done INTEGER NOT NULL,
  total INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX long_works_by_application ON long_works (application_id, id);

-- 0 a code somebody waits for, 1 a notice, 2 one of many.
ALTER TABLE mails ADD COLUMN lane INTEGER NOT NULL DEFAULT 1 CHECK (lane IN (0, 1, 2));
UPDATE mails SET lane = 0 WHERE code IS NOT NULL;
DROP INDEX mails_due;
CREATE INDEX mails_due ON mails (lane, next_attempt_at) WHERE status = 'queued';

-- What decides over all who wait (a policy, the opening to the public) is one step of the application's epoch: a row that
-- was pending under an earlier one is decided, whether it has been reached or not.
ALTER TABLE applications ADD COLUMN interest_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE beta_interests ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
CREATE INDEX beta_interests_pending ON beta_interests (application_id, epoch, id) WHERE status = 'pending';
CREATE INDEX beta_interests_waiting ON beta_interests (application_id, epoch, id)
  WHERE status = 'notify_when_public' AND notified_at IS NULL;
-- Launches under way go on as long works: who is stamped has waited since before the opening, the others came later.
UPDATE applications SET interest_epoch = 1
  WHERE signin_gate = 'public' AND id IN (
    SELECT application_id FROM beta_interests WHERE launch_queued_at IS NOT NULL AND notified_at IS NULL);
UPDATE beta_interests SET epoch = 1
  WHERE (launch_queued_at IS NULL OR status <> 'notify_when_public')
    AND application_id IN (SELECT id FROM applications WHERE interest_epoch = 1);
INSERT INTO long_works (id, kind, application_id, actor, data, done, created_at, updated_at)
  SELECT 'wrk_launch_of_' || id, 'launch', id,
    '{"type":"system","userId":null,"apiKeyId":null,"requestId":null,"ip":null,"ipCountry":null}',
    '{"epoch":1}', 0, updated_at, updated_at
  FROM applications WHERE interest_epoch = 1;
DROP INDEX beta_interests_launching;

-- Open sessions of a member in the order of their ids, so that lists and trails read no more of them than they use.
DROP INDEX sessions_by_application_user;
CREATE INDEX sessions_by_application_user ON sessions (application_user_id, revoked_at, id);
DROP INDEX sessions_expiring;
CREATE INDEX sessions_expiring ON sessions (expires_at, id) WHERE revoked_at IS NULL AND expiry_reported_at IS NULL;

-- Quarantine and release are a matter of the endpoint's row alone, however many deliveries wait: these are pending, and not
-- due while it is in quarantine. What was held at a release goes first, one by one, in the order of the ids: behind
-- in_order_after, up to in_order_until.
ALTER TABLE webhooks ADD COLUMN in_order_until TEXT;
ALTER TABLE webhooks ADD COLUMN in_order_after TEXT;
UPDATE webhooks SET in_order_after = '', in_order_until = (
    SELECT max(id) FROM deliveries WHERE webhook_id = webhooks.id AND status = 'pending' AND was_held = 1)
  WHERE status <> 'quarantined'
    AND EXISTS (SELECT 1 FROM deliveries WHERE webhook_id = webhooks.id AND status = 'pending' AND was_held = 1);
DROP INDEX deliveries_held;
DROP INDEX deliveries_due;
UPDATE deliveries SET status = 'pending' WHERE status = 'held';
ALTER TABLE deliveries DROP COLUMN was_held;
CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status, id);
-- What is under way, so that a start finds what a crash cut off.
CREATE INDEX deliveries_leased ON deliveries (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX mails_leased ON mails (leased_until) WHERE leased_until IS NOT NULL;
-- For retention: what is not finished is not in its way.
DROP INDEX deliveries_by_time;
CREATE INDEX deliveries_by_end ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
DROP INDEX events_by_time;
CREATE INDEX events_by_time ON events (created_at, id);
