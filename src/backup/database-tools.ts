/** Commands that back up and restore data which this program does not hold in files of its own. */
import type { Database } from '../db/database.ts';

export interface BackupCommands {
  readonly backup: string;
  readonly restore: string;
}

export const POSTGRES_BACKUP: BackupCommands = {
  backup: 'pg_dump --format=custom --file=gatehouse.dump DATABASE_URL',
  restore: 'pg_restore --exit-on-error --no-owner --dbname=DATABASE_URL gatehouse.dump',
};

/** Null where the server and `gatehouse backup` make backups themselves. */
export const BACKUP_COMMANDS: Readonly<Record<Database['engine'], BackupCommands | null>> = {
  sqlite: null,
  postgres: POSTGRES_BACKUP,
};
