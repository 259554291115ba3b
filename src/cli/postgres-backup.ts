/** Refuses commands that copy the files of a data folder where the data is in PostgreSQL, with the command to use there. */
import { POSTGRES_BACKUP } from '../backup/database-tools.ts';
import type { Config } from '../config.ts';
import { UsageError } from './arguments.ts';

const INSTEAD = {
  backup: POSTGRES_BACKUP.backup,
  restore: `${POSTGRES_BACKUP.restore}, into an empty database`,
  'backup verify': 'pg_restore into an empty database, then gatehouse serve --database-url with that one',
} as const;

/** @throws {UsageError} with the command of PostgreSQL that takes this one's place */
export function requireFolder({ database }: Pick<Config, 'database'>, command: keyof typeof INSTEAD): void {
  if (database === null) return;
  throw new UsageError(
    `gatehouse ${command} is for data folders, and GATEHOUSE_DATABASE_URL is set. Use PostgreSQL's own tools:\n` +
      `  ${INSTEAD[command]}\nKeep the instance key apart from the dumps, and as safe: neither is of use without the other.`,
  );
}
