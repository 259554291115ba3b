-- Several instances on one database. `count` of a rate counter then holds the uses leased to instances; the columns
-- below hold the last lease: the limit it was asked under, and the uses wanted and granted.
ALTER TABLE rate_counters ADD COLUMN quota INTEGER;
ALTER TABLE rate_counters ADD COLUMN wanted INTEGER;
ALTER TABLE rate_counters ADD COLUMN granted INTEGER;

-- Work that one instance at a time does, such as a job. The lease ends by time, or when its holder releases it.
CREATE TABLE work_leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  leased_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE instances (
  id TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  base_url TEXT NOT NULL,
  host TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  -- The instance's clock minus the database's, in milliseconds.
  clock_offset_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
