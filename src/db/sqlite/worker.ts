/** Runs checkpoints and reads as long as a tenant off the event loop, by a connection that never writes a row. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import type { SqlValue } from '../connection.ts';
import { lowerThreadPriority } from './thread-priority.ts';

declare const self: Worker;

export type WorkerRequest =
  | { readonly id: number; readonly kind: 'open'; readonly path: string }
  | { readonly id: number; readonly kind: 'close' }
  | { readonly id: number; readonly kind: 'checkpoint'; readonly mode: 'PASSIVE' | 'RESTART' }
  | { readonly id: number; readonly kind: 'read'; readonly sql: string; readonly values: SqlValue[] };

export type WorkerAnswer =
  | { readonly id: number; readonly rows: unknown[] }
  | { readonly id: number; readonly error: string; readonly code?: string };

/** Longest wait of changes for other readers to finish; a backup's read takes minutes. */
const CHECKPOINT_PATIENCE_MS = 50;

lowerThreadPriority();

let sqlite: SqliteDatabase | undefined;

function answer(request: WorkerRequest): unknown[] {
  if (request.kind === 'open') {
    sqlite = new SqliteDatabase(request.path, { create: false, readwrite: true, strict: true });
    sqlite.run('PRAGMA busy_timeout = 1000');
    sqlite.run('PRAGMA synchronous = NORMAL');
    // Not mapped: a count over a million rows maps them all, and unmapping blocks every allocation of the process for
    // 40 ms.
    sqlite.run('PRAGMA mmap_size = 0');
    return [];
  }
  if (request.kind === 'close') {
    sqlite?.close();
    sqlite = undefined;
    return [];
  }
  if (!sqlite) throw new Error('the worker has no database open');
  if (request.kind === 'checkpoint') {
    sqlite.run(`PRAGMA busy_timeout = ${CHECKPOINT_PATIENCE_MS}`);
    return sqlite.query(`PRAGMA wal_checkpoint(${request.mode})`).all();
  }
  return sqlite.query(request.sql).all(...request.values);
}

self.onmessage = ({ data }: MessageEvent<WorkerRequest>) => {
  let result: WorkerAnswer;
  try {
    result = { id: data.id, rows: answer(data) };
  } catch (error) {
    const { message = String(error), code } = error as { message?: string; code?: string };
    result = { id: data.id, error: message, ...(code !== undefined && { code }) };
  }
  self.postMessage(result);
};
