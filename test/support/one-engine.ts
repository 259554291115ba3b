/** Tests of what only SQLite has; everything else that uses a database runs on both engines. */

/**
 * Reasons by what is left out on PostgreSQL: a folder (`test/db/sqlite/`), a file, or a test by its file and full name,
 * `test/x.test.ts: group > name`.
 */
export const SQLITE_ONLY: Readonly<Record<string, string>> = {
  'test/db/sqlite/': 'files, log and locks of SQLite',
  'test/modules/activity/stream.test.ts: a stream that is opened again > begins behind the last record of its reader: nothing is left out, nothing comes twice':
    'a resumed stream repeats 20 seconds on PostgreSQL (test/http/late-rows.test.ts)',
  'test/modules/activity/stream.test.ts: a stream that is opened again > begins where the earlier one did if that had no record yet':
    'a resumed stream repeats 20 seconds on PostgreSQL (test/http/late-rows.test.ts)',
  'test/modules/webhooks/stream.test.ts: a stream of events > resumes after the reader’s last event, however many came since':
    'a resumed stream repeats 20 seconds on PostgreSQL (test/http/late-rows.test.ts)',
  'test/store/cached-queries.test.ts': 'the query cache, and the tables that SQLite opens for a statement',
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
