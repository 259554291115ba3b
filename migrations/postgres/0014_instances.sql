-- Several instances on one database. `count` of a rate counter then holds the uses leased to instances; the columns
-- below hold the last lease: the limit it was asked under, and the uses wanted and granted.
ALTER TABLE rate_counters ADD COLUMN quota bigint;
ALTER TABLE rate_counters ADD COLUMN wanted bigint;
ALTER TABLE rate_counters ADD COLUMN granted bigint;

-- Work that one instance at a time does, such as a job. The lease ends by time, or when its holder releases it.
CREATE TABLE work_leases (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  leased_until bigint NOT NULL
);

CREATE TABLE instances (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  base_url text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- The instance's clock minus the database's, in milliseconds.
  clock_offset_ms bigint NOT NULL
);
