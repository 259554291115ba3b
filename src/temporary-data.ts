/** The data of an ephemeral instance: a folder, or a database on a given PostgreSQL server, removed at its end. */
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { systemClock } from './core/clock.ts';
import { systemRandom } from './core/random.ts';
import { reasonOf } from './database-log.ts';
import type { PostgresSettings } from './db/postgres/address.ts';
import { makeEphemeralDatabase } from './db/postgres/ephemeral-database.ts';
import { makeEphemeralFolder, removeStaleEphemeralFolders } from './db/sqlite/ephemeral-folder.ts';

export interface TemporaryData {
  /** Path of the folder, or settings of the database. */
  readonly place: string | PostgresSettings;
  /** Leaves a database that cannot be dropped to a later ephemeral instance. */
  remove(): Promise<void>;
}

/** Also removes what killed instances have left. @throws {StartupError} */
export async function temporaryData({ database }: Pick<Config, 'database'>, log: Logger): Promise<TemporaryData> {
  if (database === null) {
    removeStaleEphemeralFolders();
    const folder = makeEphemeralFolder();
    return { place: folder, remove: async () => rmSync(folder, { recursive: true, force: true }) };
  }
  const { settings, drop } = await makeEphemeralDatabase(database, { clock: systemClock, random: systemRandom });
  return {
    place: settings,
    async remove() {
      try {
        await drop();
      } catch (error) {
        const { shown } = settings.address;
        log.warn({ reason: reasonOf(error) }, `${shown} stays; a later ephemeral instance drops it`);
      }
    },
  };
}
