/**
 * Upgrades in a thread of its own: makes, checks and names a copy, then changes the database in one transaction. A kill
 * at any moment leaves the old schema or the new one.
 */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { openReadOnly } from './read-only.ts';
import { copyThrough, inspectBackup } from './backup.ts';
import type { DataFolder } from './data-folder.ts';
import { flush } from './flush.ts';
import { migrate, SCHEMA_VERSION } from './migrate.ts';
import { isCopiedByLitestream, openWriter } from './pragmas.ts';
import { removeOldCopies, unfinishedCopy } from './upgrade-copies.ts';

declare const self: Worker;

export interface UpgradeOrder {
  readonly folder: DataFolder;
  readonly from: number;
  readonly copyPath: string;
  /** In epoch milliseconds. */
  readonly now: number;
  readonly version: string;
  readonly isDurable: boolean;
}

export type UpgradeStep =
  | { readonly kind: 'copy' }
  | { readonly kind: 'check' }
  | { readonly kind: 'change'; readonly step: number; readonly steps: number }
  | { readonly kind: 'checkpoint' };

export type UpgradeMessage =
  | { readonly kind: 'step'; readonly step: UpgradeStep }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined };

/** Page cache for the changes: indexes of large tables are written in row order, not in their own. */
const CACHE_KIB = 65_536;

const send = (message: UpgradeMessage) => self.postMessage(message);
const reportStep = (step: UpgradeStep) => send({ kind: 'step', step });

/**
 * Copies by a read-only connection: closing a writable one would move a crash's log into the file.
 *
 * @throws {StartupError} where no copy can be made; not a byte of the database is changed then.
 */
function copy({ folder, copyPath, from, now, version }: UpgradeOrder): void {
  const unfinished = unfinishedCopy(copyPath);
  try {
    reportStep({ kind: 'copy' });
    {
      using opened = openReadOnly(folder.databasePath);
      copyThrough(opened.sqlite, folder, unfinished, { madeAt: now, version });
    }
    reportStep({ kind: 'check' });
    flush(unfinished);
    const { schemaVersion } = inspectBackup(unfinished, 'the copy');
    if (schemaVersion !== from) throw new Error('the copy has another schema');
    renameSync(unfinished, copyPath);
    flush(dirname(copyPath));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL';
    throw new StartupError(
      `No copy could be made before the upgrade, so nothing was upgraded: ${message}. ` +
        (isFull
          ? `Make room for a second database at ${dirname(copyPath)}, then start again.`
          : `Look at the database by "gatehouse doctor --data ${dirname(copyPath)}", or restore a backup; then start again.`),
      { cause },
    );
  }
}

function change({ folder: { databasePath }, from, isDurable }: UpgradeOrder): void {
  let at = 0;
  const sqlite = openWriter(databasePath, { isDurable });
  try {
    // Sorts the indexes of millions of rows on the disk that was checked for room, not in memory.
    sqlite.run('PRAGMA temp_store = FILE');
    sqlite.run(`PRAGMA temp_store_directory = '${dirname(databasePath).replaceAll("'", "''")}'`);
    sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    migrate(sqlite, databasePath, (step, steps) => {
      at = step;
      reportStep({ kind: 'change', step, steps });
    });
    reportStep({ kind: 'checkpoint' });
    if (!isCopiedByLitestream(databasePath)) sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (at === 0) throw cause;
    throw new StartupError(
      `The database could not be upgraded to schema ${SCHEMA_VERSION} (${message}, in step ${from + at}). It is as it was. ` +
        (code === 'SQLITE_FULL' || code === 'ENOSPC'
          ? `Make room at ${dirname(databasePath)}, then start again.`
          : 'Start the binary from before, and report this.'),
      { cause },
    );
  } finally {
    sqlite.run("PRAGMA temp_store_directory = ''");
    sqlite.close();
  }
}

self.onmessage = ({ data: order }: MessageEvent<UpgradeOrder>) => {
  try {
    copy(order);
    removeOldCopies(order.folder.databasePath);
    change(order);
    send({ kind: 'done' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    send({ kind: 'failed', message, code: error instanceof StartupError ? undefined : (code ?? 'unknown') });
  }
};
