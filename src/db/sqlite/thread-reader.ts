/** Read-only connection of a thread that verifies, with a query cache that follows the commits of the writer's thread. */
import { CONNECTION, type Reader } from '../database.ts';
import { queryCache } from '../query-cache.ts';
import { changeLogReader } from './change-log.ts';
import { createConnection } from './connection.ts';
import { openReader } from './pragmas.ts';
import { sharedSnapshot } from './snapshot.ts';

export interface ThreadReader {
  /** Sees every change that was acknowledged before the read. */
  readonly reader: Reader;
  close(): void;
}

/**
 * @param changes memory of the writer's change log.
 * @param maxCached bound of the query cache.
 */
export function openThreadReader(path: string, changes: SharedArrayBuffer, maxCached: number): ThreadReader {
  const sqlite = openReader(path);
  sqlite.run('PRAGMA busy_timeout = 5000');
  // Not mapped: SQLite unmaps the file whenever another connection has changed it, which stalls every thread.
  sqlite.run('PRAGMA mmap_size = 0');
  const log = changeLogReader(changes);
  const version = sqlite.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const cache = queryCache(() => 0, { maxEntries: maxCached });
  const snapshot = sharedSnapshot(sqlite, noticeOtherProcesses);
  let lastCommits = log.commits();
  let lastVersion = version.get()?.data_version;

  /**
   * Invalidates everything if the file has changed while the writer's thread committed nothing. Beside a commit of its own,
   * that thread finds the changes of other processes, and publishes them.
   */
  function noticeOtherProcesses(): void {
    const before = log.commits();
    const current = version.get()?.data_version;
    const isCommitting = before % 2n === 1n || log.commits() !== before;
    if (current !== lastVersion && before === lastCommits && !isCommitting) cache.invalidateAll();
    lastVersion = current;
    lastCommits = before;
  }

  function enter(): void {
    if (log.hasNews()) {
      // Taken before the next snapshot begins, which therefore contains what they announce.
      snapshot.end();
      const news = log.take();
      if (news === null) cache.invalidateAll();
      else news.forEach(cache.invalidate);
    }
    snapshot.enter();
  }

  return {
    reader: { [CONNECTION]: createConnection(sqlite, { enter, cache }) },
    close() {
      snapshot.suspend();
      sqlite.close();
    },
  };
}
