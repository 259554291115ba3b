/** Failures of a migration, as an operator can mend them. */
import { StartupError } from '../../core/startup-error.ts';

/** Returns the SQLSTATE of an error that the server reported; undefined for other errors. */
export function serverError(error: unknown): string | undefined {
  return error instanceof Bun.SQL.PostgresError ? error.errno : undefined;
}

const REMEDIES: Readonly<Record<string, string>> = {
  '25006': 'The database server is read-only. Point GATEHOUSE_DATABASE_URL at the primary.',
  '42501': 'The database user may not create tables. Make it the owner of the database, and start again.',
  '42P07': 'The database has tables of something else. Give Gatehouse a database of its own.',
  '40P01': 'The migration waits for sessions that wait for it. Start again when fewer instances serve.',
  '55P03': 'Another session keeps a table locked. End it (see pg_stat_activity), and start again.',
  '57014': 'A step of the migration took longer than 5 minutes and was undone. Start again at a quieter hour.',
};

/** Returns a startup error with the remedy where there is one, and the error itself elsewhere. */
export function startupErrorOf(error: unknown): unknown {
  const remedy = REMEDIES[serverError(error) ?? ''];
  return remedy === undefined ? error : new StartupError(remedy, { cause: error });
}
