/**
 * Statements of a test on PostgreSQL, with the interface of `bun:sqlite`: they return at once, since another thread runs
 * them while this one waits. Numbers are numbers, and booleans 0 and 1.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { postgresSql } from './postgres-sql.ts';
import type { Query, Reply, RowsValue } from './postgres-rows-worker.ts';

/** Part of `bun:sqlite` that tests use. */
export interface Rows extends Pick<
  SqliteDatabase,
  'query' | 'prepare' | 'run' | 'exec' | 'transaction' | 'inTransaction' | 'filename' | 'close'
> {
  /** Whether a statement has changed the schema, so that no other test can use the database. */
  isChangedSchema(): boolean;
}

const CHANGES_SCHEMA = /^\s*(?:CREATE|ALTER|DROP)\b/i;

/** Longer than any statement takes; the thread answers a lock that this thread holds after two seconds. */
const PATIENCE_MS = 30_000;

let ask: ((query: Query) => Reply) | undefined;

function startThread(): (query: Query) => Reply {
  const signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { port1: port, port2: theirs } = new MessageChannel();
  const thread = new Worker(new URL('./postgres-rows-worker.ts', import.meta.url), {
    workerData: { port: theirs, signal },
    transferList: [theirs],
  });
  thread.unref();
  return (query) => {
    Atomics.store(signal, 0, 0);
    port.postMessage(query);
    Atomics.wait(signal, 0, 0, PATIENCE_MS);
    const reply = receiveMessageOnPort(port) as { message: Reply } | undefined;
    if (reply === undefined) throw new Error(`no answer in ${PATIENCE_MS} ms to ${query.sql}`);
    return reply.message;
  };
}

/** Opens a database for a test's own statements, each of which commits at once. */
export function openRows(url: string): Rows {
  const texts = new Map<string, string>();
  let inTransaction = false;
  let isChangedSchema = false;

  function execute(sql: string, values: readonly unknown[] = []) {
    let text = texts.get(sql);
    if (text === undefined) texts.set(sql, (text = postgresSql(sql)));
    const bound = (values.length === 1 && Array.isArray(values[0]) ? values[0] : values) as RowsValue[];
    isChangedSchema ||= CHANGES_SCHEMA.test(text);
    ask ??= startThread();
    const reply = ask({ url, sql: text, values: bound });
    if ('error' in reply) throw Object.assign(new Error(`${reply.error} in ${text}`), { errno: reply.state });
    return reply;
  }

  const statement = (sql: string) => ({
    all: (...values: unknown[]) => execute(sql, values).rows,
    get: (...values: unknown[]) => execute(sql, values).rows[0] ?? null,
    values: (...values: unknown[]) => execute(sql, values).rows.map((row) => Object.values(row)),
    run: (...values: unknown[]) => ({ changes: execute(sql, values).count, lastInsertRowid: 0 }),
    finalize() {},
  });
  const run = (sql: string, ...values: unknown[]) => statement(sql).run(...values);

  return {
    query: statement,
    prepare: statement,
    run,
    exec: run,
    transaction: (work: (...values: unknown[]) => unknown) =>
      Object.assign((...values: unknown[]) => {
        execute('BEGIN');
        inTransaction = true;
        try {
          const result = work(...values);
          execute('COMMIT');
          return result;
        } catch (error) {
          execute('ROLLBACK');
          throw error;
        } finally {
          inTransaction = false;
        }
      }),
    get inTransaction() {
      return inTransaction;
    },
    filename: url,
    isChangedSchema: () => isChangedSchema,
    close: () => void ask?.({ url, sql: null, values: [] }),
  } as unknown as Rows;
}
