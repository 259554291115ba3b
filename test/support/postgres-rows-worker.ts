/** Thread that runs the statements of `postgres-rows.ts`, one at a time. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { SQL } from 'bun';

export type RowsValue = string | number | bigint | boolean | Uint8Array | null;

export interface Query {
  readonly url: string;
  /** Null closes the connection. */
  readonly sql: string | null;
  readonly values: readonly RowsValue[];
}

export type Reply =
  | { readonly rows: Record<string, RowsValue>[]; readonly count: number }
  | { readonly error: string; readonly state: string | undefined };

const { port, signal } = workerData as { port: MessagePort; signal: Int32Array };
const connections = new Map<string, SQL>();

/** Returns the one connection to a database. It fails where it waits for a lock that the waiting thread holds. */
function connectionTo(url: string): SQL {
  let known = connections.get(url);
  if (known === undefined)
    connections.set(url, (known = new SQL({ url, max: 1, bigint: true, connection: { lock_timeout: 2000 } })));
  return known;
}

/** Binds integers as `bigint`, whatever their size. */
function bound(value: RowsValue): unknown {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : (value ?? null);
}

/** Returns a value as `bun:sqlite` does. */
function asInSqlite(value: unknown): RowsValue {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Uint8Array ? new Uint8Array(value) : (value as RowsValue);
}

async function answer({ url, sql, values }: Query): Promise<Reply> {
  if (sql === null) {
    await connections.get(url)?.close();
    connections.delete(url);
    return { rows: [], count: 0 };
  }
  try {
    const connection = connectionTo(url);
    // Without values it takes several statements.
    const result = await (values.length === 0 ? connection.unsafe(sql) : connection.unsafe(sql, values.map(bound)));
    const rows = result.map((row: object) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asInSqlite(value)])),
    );
    return { rows, count: result.count ?? 0 };
  } catch (error) {
    return { error: (error as Error).message, state: (error as { errno?: string }).errno };
  }
}

port.on('message', async (query: Query) => {
  port.postMessage(await answer(query));
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
});
