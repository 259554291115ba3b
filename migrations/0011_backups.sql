-- The backups that the server makes by itself, and how each ended.

CREATE TABLE backup_runs (
  id TEXT PRIMARY KEY,
  -- 'schedule' or 'manual'
  cause TEXT NOT NULL,
  -- 'running', 'succeeded', 'failed' or 'interrupted'
  status TEXT NOT NULL,
  place TEXT NOT NULL,
  is_encrypted INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  bytes INTEGER,
  row_count INTEGER,
  sha256 TEXT,
  error TEXT
) STRICT;
CREATE INDEX backup_runs_by_start ON backup_runs (started_at);
