/** Migrations of PostgreSQL. It begins with one baseline, and shares the version numbers of SQLite's from there on. */
import baseline from '../../../migrations/postgres/0013_baseline.sql' with { type: 'text' };
import instances from '../../../migrations/postgres/0014_instances.sql' with { type: 'text' };
import pages from '../../../migrations/postgres/0015_pages.sql' with { type: 'text' };
import addressSearch from '../../../migrations/postgres/0016_address_search.sql' with { type: 'text' };
import openid from '../../../migrations/postgres/0017_openid.sql' with { type: 'text' };
import keyDays from '../../../migrations/postgres/0018_key_days.sql' with { type: 'text' };
import assertions from '../../../migrations/postgres/0019_assertions.sql' with { type: 'text' };

export interface PostgresMigration {
  /** The schema that it leads to. */
  readonly version: number;
  readonly sql: string;
  /**
   * The oldest binary, by its schema, that may run on the result. An expansion keeps the number of the migration before
   * it; a contraction, which takes away what older binaries use, raises it.
   */
  readonly readableFrom: number;
}

/** In order; never edited after a release. */
export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = [
  { version: 13, sql: baseline, readableFrom: 13 },
  { version: 14, sql: instances, readableFrom: 13 },
  { version: 15, sql: pages, readableFrom: 13 },
  { version: 16, sql: addressSearch, readableFrom: 13 },
  { version: 17, sql: openid, readableFrom: 13 },
  { version: 18, sql: keyDays, readableFrom: 13 },
  { version: 19, sql: assertions, readableFrom: 13 },
];
