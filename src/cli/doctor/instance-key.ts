/** Checks that the instance key exists, is complete and belongs to its database, by the rules of a server start. */
import { existsSync } from 'node:fs';
import { StartupError } from '../../core/startup-error.ts';
import { type DataFolder, pathsIn, quoted } from '../../db/sqlite/data-folder.ts';
import { folderError } from '../../db/sqlite/folder-error.ts';
import { readInstanceKey, refuseLostDatabase, requireInstanceKey } from '../../db/sqlite/instance-key-file.ts';
import { findInstance, type FoundInstance } from '../../db/sqlite/find-instance.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { DoctorContext } from './context.ts';

const { ok, warn, fail } = findingsOf('instance key');

const RESTORE_KEY =
  'Restore it from a copy of this folder. A backup contains it too: restore one into an empty folder and copy instance.key ' +
  'from there (gatehouse restore FILE --data EMPTY).';
const RESTORE_BOTH = 'Restore both from one copy of the folder, or restore a backup: gatehouse restore FILE --force';

export function keyFindings({ folder, server }: DoctorContext): Finding[] {
  const paths = pathsIn(folder);
  const { instanceKeyPath: path } = paths;
  const instance = instanceOf(paths);
  const next = server === null ? '' : ' The running server has read its key already; its next start fails.';
  const failed = (error: unknown, remedy: string) => {
    if (error instanceof StartupError) return fail(`${error.message}${next}`, remedy);
    const trouble = folderError(error, path);
    if (trouble === null) throw error;
    const own = `Run: chown --reference=${quoted(folder)} ${quoted(path)} && chmod 600 ${quoted(path)}`;
    return fail(`${trouble.message}${next}`, own);
  };
  if (instance === null) {
    try {
      refuseLostDatabase(paths);
      return [];
    } catch (error) {
      return failed(error, RESTORE_BOTH);
    }
  }
  try {
    if (instance !== 'unreadable')
      return ok(`${requireInstanceKey(paths, instance.mark).path} belongs to the database.`);
    return warn(
      `${readInstanceKey(paths).path} is complete, but the unreadable database cannot say whether it belongs to it.`,
      'Repair the database, then check again.',
    );
  } catch (error) {
    return failed(error, RESTORE_KEY);
  }
}

/** Returns `'unreadable'` for a database that cannot be read, which has findings of its own. */
function instanceOf({ databasePath }: DataFolder): FoundInstance | null | 'unreadable' {
  try {
    return findInstance(databasePath);
  } catch {
    return existsSync(databasePath) ? 'unreadable' : null;
  }
}
