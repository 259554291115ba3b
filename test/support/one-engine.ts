/** Tests of what only SQLite has; everything else that uses a database runs on both engines. */

const SCHEMA = 'reads the schema, which test/contract/postgres-schema.test.ts compares';
const CACHE = 'the query cache, which PostgreSQL has none of';

const REPEATS = 'a resumed stream repeats 20 seconds on PostgreSQL, as test/http/late-rows.test.ts shows';
const PLAN = 'a plan of SQLite';
const QUEUE = 'the queue of the only writer, in which nothing waits for anything else';

/**
 * Reasons by what is left out on PostgreSQL: a folder (`test/db/sqlite/`), a file, or a test by its file and full name,
 * `test/x.test.ts: group > name`.
 */
export const SQLITE_ONLY: Readonly<Record<string, string>> = {
  'test/db/sqlite/': 'files, log and locks of SQLite',
  'test/db/write.test.ts: a change > runs alone in the order of the calls, however many are concurrent': QUEUE,
  'test/db/write.test.ts: a change > refuses a change that was built and not awaited, which would never run': QUEUE,
  'test/db/write.test.ts: a change > refuses another one inside itself and is rolled back instead of deadlocking':
    QUEUE,
  'test/db/write.test.ts: a change > refuses to wait for anything but its own statements, so that it delays nobody':
    QUEUE,
  'test/db/write.test.ts: a write lock of another process > is waited for off the event loop: reads and timers continue, and the change succeeds in the end':
    'locks of SQLite',
  'test/attack/abandoned-codes.test.ts': PLAN,
  'test/modules/activity/names.test.ts: the filters by id > read an index each': PLAN,
  'test/modules/activity/stream.test.ts: a stream that is opened again > begins behind the last record of its reader: nothing is left out, nothing comes twice':
    REPEATS,
  'test/modules/activity/stream.test.ts: a stream that is opened again > begins where the earlier one did if that had no record yet':
    REPEATS,
  'test/modules/webhooks/stream.test.ts: a stream of events > resumes after the reader’s last event, however many came since':
    REPEATS,
  'test/modules/account/wiping.test.ts': SCHEMA,
  'test/modules/account/export-columns.test.ts': SCHEMA,
  'test/modules/account/deletion.test.ts: the export of an account > covers every table with data about a person':
    SCHEMA,
  'test/modules/verification/query-cache.test.ts: sign-ins of other people keep cached entries': CACHE,
  'test/modules/verification/last-seen.test.ts: the last-seen time > is logged with count and reason if the disk fails at a stop, and the stop completes':
    'a file that is deleted',
  'test/jobs/retention.test.ts: retention of many rows > scans no table': PLAN,
  'test/modules/health/health.test.ts: the health check > reports not ready when the schema belongs to another version':
    'the version in the file; test/db/postgres/open.test.ts has the other',
  'test/modules/health/health.test.ts: the health check > reports not ready, and refuses writes, once the database file is deleted at run time':
    'a file that is deleted',
  'test/modules/webhooks/held-retention.test.ts: the query for held events uses an index': PLAN,
  'test/store/cached-queries.test.ts': CACHE,
  'test/contract/bounds.test.ts: a flood of invented names > does not grow the answers that are remembered by a hash beyond their bound':
    CACHE,
};

/** Returns whether a whole file is left out on PostgreSQL. */
export function isSqliteOnly(path: string): boolean {
  return Object.keys(SQLITE_ONLY).some((entry) => entry === path || (entry.endsWith('/') && path.startsWith(entry)));
}

/** Returns the full names of the tests of some files that are left out on PostgreSQL, as the test runner joins them. */
export function sqliteOnlyTests(paths: readonly string[]): string[] {
  return Object.keys(SQLITE_ONLY).flatMap((entry) => {
    const [path = '', name] = entry.split('.test.ts: ');
    return name !== undefined && paths.includes(`${path}.test.ts`) ? [name.replaceAll(' > ', ' ')] : [];
  });
}
