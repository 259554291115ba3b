/** Main thread's side of `worker.ts`. */
import type { SqlValue } from '../connection.ts';
import type { WorkerAnswer, WorkerRequest } from './worker.ts';

/** Pages of the log that a checkpoint found and moved. */
export interface Checkpoint {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

export type DatabaseWorker = ReturnType<typeof databaseWorker>;

const HOLD_MS = 1000;

/** Longest wait on closing: short behind a read that may be long, else long enough for a machine under load. */
const CLOSE_MS = { busy: 1000, idle: 5000 };

type Question = WorkerRequest extends infer Each ? (Each extends { id: number } ? Omit<Each, 'id'> : never) : never;

/** Starts a thread with a connection to an existing database file. It rejects every call once it is closed. */
export function databaseWorker(path: string) {
  const waiting = new Map<number, PromiseWithResolvers<unknown[]>>();
  let worker: Worker | undefined;
  let opened: Promise<unknown> = Promise.resolve();
  let count = 0;
  let isClosed = false;

  function start(): Worker {
    // An idle thread must not keep a process alive that has nothing else to do.
    const started = new Worker(new URL('./worker.ts', import.meta.url).href, { ref: false } as WorkerOptions);
    started.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => {
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if ('error' in data)
        asked?.reject(Object.assign(new Error(data.error), data.code !== undefined && { code: data.code }));
      else asked?.resolve(data.rows);
    };
    started.onerror = (event) => {
      worker = undefined;
      for (const asked of waiting.values()) asked.reject(new Error(`the database thread failed: ${event.message}`));
      waiting.clear();
    };
    worker = started;
    opened = ask({ kind: 'open', path }).catch(() => {});
    return started;
  }

  function ask(question: Question): Promise<unknown[]> {
    if (isClosed) return Promise.reject(new Error('the database thread is closed'));
    const target = worker ?? start();
    const asked = Promise.withResolvers<unknown[]>();
    const id = (count += 1);
    waiting.set(id, asked);
    target.postMessage({ ...question, id } satisfies WorkerRequest);
    return asked.promise;
  }

  return {
    /** Starts the thread early: without a free file descriptor it would end the process. */
    async start(): Promise<void> {
      worker ??= start();
      // An unreferenced thread alone keeps no process alive, and a start may have nothing else yet.
      const hold = setInterval(() => {}, HOLD_MS);
      await opened;
      clearInterval(hold);
    },
    /** Returns the rows of a long read, as of one moment after the call. */
    read: (sql: string, values: SqlValue[]): Promise<unknown[]> => ask({ kind: 'read', sql, values }),
    async checkpoint(mode: 'PASSIVE' | 'RESTART'): Promise<Checkpoint> {
      const [row] = await ask({ kind: 'checkpoint', mode });
      return row as Checkpoint;
    },
    /** Closes its connection first, since the last one open would leave the log behind. Rejects pending calls. */
    async close(): Promise<void> {
      const patienceMs = waiting.size > 0 ? CLOSE_MS.busy : CLOSE_MS.idle;
      const closing = worker && !isClosed ? ask({ kind: 'close' }).catch(() => {}) : null;
      isClosed = true;
      await Promise.race([closing, Bun.sleep(patienceMs)]);
      worker?.terminate();
      for (const asked of waiting.values()) asked.reject(new Error('the database thread is closed'));
      waiting.clear();
    },
  };
}
