-- Signing secrets are sealed with the instance key (JWE, dir + A256GCM): they must be read back to sign.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES applications (id),
  url TEXT NOT NULL,
  description TEXT,
  events TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'quarantined')),
  sealed_secret TEXT NOT NULL,
  previous_sealed_secret TEXT,
  previous_secret_ends_at INTEGER,
  quarantined_at INTEGER,
  quarantine_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_application ON webhooks (application_id, id);

-- One event on its way to one endpoint; made in the transaction that made the event.
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL REFERENCES events (id),
  event_type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'held', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER NOT NULL,
  leased_until INTEGER,
  was_held INTEGER NOT NULL DEFAULT 0 CHECK (was_held IN (0, 1)),
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX deliveries_pending ON deliveries (webhook_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX deliveries_held ON deliveries (webhook_id, id) WHERE status = 'held';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_by_time ON deliveries (created_at);

CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status_code INTEGER,
  error_class TEXT,
  request_headers TEXT NOT NULL,
  response_excerpt TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_time ON events (created_at);

-- When the end of a session by time was reported; found by the index of those that still have to be.
ALTER TABLE sessions ADD COLUMN expiry_reported_at INTEGER;
CREATE INDEX sessions_expiring ON sessions (expires_at) WHERE revoked_at IS NULL AND expiry_reported_at IS NULL;
