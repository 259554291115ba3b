/** Looks through a database for damage, beside the server that has it open. */
import { statSync } from 'node:fs';
import { background } from './background.ts';

/** Larger ones take too long, some 5 s a gigabyte of one processor: for these there are `gatehouse doctor` and backups. */
const LARGEST_BYTES = 2 * 2 ** 30;
const MOST_PROBLEMS = 5;

/**
 * Looks through all pages, in a thread of its own with low priority: that of checkpoints would hold up changes meanwhile.
 *
 * @returns what is wrong, in SQLite's words; nothing where the database is sound or too large.
 */
export async function wholeCheck(path: string): Promise<readonly string[]> {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_BYTES) return [];
  const thread = background(path);
  try {
    await thread.begin();
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
