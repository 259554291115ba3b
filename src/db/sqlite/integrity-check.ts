/** Checks a database for damage while the server runs. */
import { statSync } from 'node:fs';
import { databaseWorker } from './worker-client.ts';

/** Takes some 5 s of one processor per GB. `gatehouse doctor` and backups check larger databases. */
const LARGEST_BYTES = 2 * 2 ** 30;
const MOST_PROBLEMS = 5;

/**
 * Checks all pages in a low-priority thread of its own: the checkpoint thread would hold up changes.
 *
 * @returns problems in SQLite's words; none where the database is sound or too large.
 */
export async function checkIntegrity(path: string): Promise<readonly string[]> {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_BYTES) return [];
  const thread = databaseWorker(path);
  try {
    await thread.start();
    const rows = (await thread.read(`PRAGMA quick_check(${MOST_PROBLEMS})`, [])) as Record<string, string>[];
    return rows.flatMap((row) => Object.values(row)).filter((text) => text !== 'ok');
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code?.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return [message];
    throw error;
  } finally {
    await thread.close();
  }
}
