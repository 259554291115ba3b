/** Data interface of every engine: reads through a `Reader`, changes through `write`. Only the store looks inside. */
import type { Actor } from '../core/actor.ts';
import type { Deadline } from '../core/deadline.ts';
import type { Principal } from '../core/principal.ts';
import type { Connection } from './connection.ts';
import type { DatabaseServer } from './database-server.ts';
import type { DatabaseMetrics } from './metrics.ts';

/** Key of a `Reader`'s connection, for `db/` only. */
export const CONNECTION: unique symbol = Symbol('connection');

/** Read access as of the last commit; inside a change it also sees what the change has written. */
export interface Reader {
  readonly [CONNECTION]: Connection;
}

/** Running change. It is also a reader, so that a read inside a change sees the change. */
export interface Unit extends Reader {
  /** Time of the whole change, in epoch milliseconds. */
  readonly now: number;
  readonly actor: Actor;
  /** Whether the change runs as if alone. A `read committed` one must {@link hold} the rows that its verdicts rest on. */
  readonly isSerializable: boolean;
  /** Ends a run that is not serializable: the change runs again from its beginning, as a serializable one. */
  requireSerializable(): void;
  /** Notifies listeners of a topic once the change is durable; never when it is rolled back. */
  publish<Message>(topic: Topic<Message>, message: Message): void;
}

export interface Author extends Actor {
  /**
   * Checks the author again when the change runs. Throws if they were banned, signed out or lost their role while it
   * waited. @returns the caller as they are now.
   */
  confirm?: (reader: Reader) => Promise<Principal | void>;
}

/** Kind of notification from a change to others, such as "mail was queued". */
export interface Topic<Message> {
  readonly name: string;
  /** Whether listeners of every instance on the database get its messages, as JSON; other topics stay in the process. */
  readonly isForAll: boolean;
  /** Carries the type only. */
  readonly message?: Message;
}

/** Creates a topic for listeners in this process. The object identifies it: the name is for people. */
export function topic<Message>(name: string): Topic<Message> {
  return { name, isForAll: false };
}

/**
 * Creates a topic whose messages reach the listeners of every instance on the database. Its name identifies it between
 * them. A message is a hint: it may be lost with a connection, so its listeners find changes by polling too.
 */
export function topicForAll<Message>(name: string): Topic<Message> {
  return { name, isForAll: true };
}

export interface WriteOptions {
  /**
   * `read committed` for bookkeeping that no verdict rests on, such as claims and last-seen times, and for changes that
   * hold what their verdicts rest on: concurrent changes neither wait for it nor make it run again, and a crash of the
   * database's machine may lose its last moments. SQLite has one writer and ignores it.
   */
  readonly isolation?: 'serializable' | 'read committed';
  /** Whether a `read committed` change survives such a crash once `write` has resolved; others always do. */
  readonly isDurable?: boolean;
  /**
   * Name of a lock: changes with the same name run one by one. For `read committed` ones that holds on all instances, so
   * that they may check what such changes alone write; serializable ones only avoid conflicts on this instance. Ignored
   * by SQLite.
   */
  readonly lock?: string;
}

/** Options of changes that claim work and record its outcome: a lost one would let the work be done twice. */
export const CLAIMING: WriteOptions = { isolation: 'read committed', isDurable: true };

/** Options of changes that no verdict rests on. */
export const BOOKKEEPING: WriteOptions = { isolation: 'read committed' };

export interface Database {
  readonly engine: 'sqlite' | 'postgres';
  /** Duration of a batch of background work above which the next one is smaller, in milliseconds. */
  readonly batchMs: number;
  /** For reads outside a change. Never waits for a running change. */
  readonly reader: Reader;
  /**
   * Changes data: `work` and all it wrote are committed together, or rolled back when it throws. Changes run one by one
   * in the order of the calls; the promise resolves when the change is durable.
   * `work` uses only its unit and values computed before, as an engine may run it again. It awaits its store functions
   * and nothing else: hashing, fetching and a further `write` belong before or after.
   *
   * @throws {AppError} unavailable where the database cannot take writes for now.
   */
  write<Result>(author: Author, work: (unit: Unit) => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /**
   * Adds a listener that gets all of a change's messages on the topic, once it is durable; it must not throw. For a topic
   * for all it also gets those of other instances.
   */
  onCommit<Message>(topic: Topic<Message>, listener: (messages: readonly Message[]) => void): void;
  /** Adds a listener that is called where messages of other instances may have been missed; it must not throw. */
  onNewsMissed(listener: () => void): void;
  status(): DatabaseStatus;
  readonly metrics: DatabaseMetrics;
  measure(): Promise<DatabaseSize>;
  /** Checkpoints the log off the event loop, and probes a disk that refuses changes; call it every second or so. */
  maintain(): Promise<void>;
  /** Probes a disk that refuses changes now; `status` shows the outcome afterwards. */
  probeDisk(): Promise<void>;
  /** Schema that this binary's statements need. */
  readonly schemaVersion: number;
  /** Returns whether the database still has a schema on which this binary can run. */
  isSchemaCurrent(): Promise<boolean>;
  /**
   * Checks the whole file in another thread. @returns problems in SQLite's words; `status().damage` keeps them. Null for
   * an engine without files of its own.
   */
  readonly checkIntegrity: (() => Promise<readonly string[]>) | null;
  /** Closes by the deadline, cleanly or not: the next start recovers the rest from the log. */
  close(deadline?: Deadline): Promise<void>;
}

export interface DatabaseSize {
  /** Without the log. */
  readonly bytes: number;
  /** Part of these bytes in freed pages, for later rows, as the file does not shrink; null where unknown. */
  readonly reusableBytes: number | null;
  /** Free bytes on its disk; null where unknown. */
  readonly freeBytes: number | null;
  /** Null for an engine without a server. */
  readonly server: DatabaseServer | null;
}

export interface DatabaseStatus {
  /** Changes that wait for their turn, or for a connection. */
  readonly queued: number;
  /** Bytes of log not yet checkpointed; null for an engine without a log of its own. */
  readonly logBytes: number | null;
  /** Null for an engine without connections. */
  readonly pool: PoolUse | null;
  /** Reason why no change is accepted now, as callers see it; null while changes are accepted. */
  readonly outage: DatabaseOutage | null;
  /** Damage found in the file or its log since the start, in a sentence. */
  readonly damage: string | null;
}

/** Use of this instance's connections, by the kind of their statements. */
export type PoolUse = Readonly<Record<string, { readonly size: number; readonly inUse: number }>>;

/** Loss of a server's files, until it is restarted. */
export type FileLoss = 'database_gone' | 'database_log_gone' | 'folder_taken';

export type DatabaseOutage =
  FileLoss | 'disk_refuses_writes' | 'database_not_writable' | 'database_away' | 'database_schema_differs';
