/**
 * The data interface that everything above is written against, whatever engine stands below: reads through a `Reader`,
 * changes through `write`. What a reader or a unit holds inside is the store's affair (`statements.ts`).
 */
import type { Actor } from '../core/actor.ts';
import type { Deadline } from '../core/deadline.ts';
import type { Connection } from './connection.ts';
import type { DatabaseFigures } from './figures.ts';
import type { Loss } from './open-files.ts';

/** Where a `Reader` keeps its connection; only `db/` looks there. */
export const CONNECTION: unique symbol = Symbol('connection');

/** What the store reads through: the state as of the last commit, or inside a change also what the change has written. */
export interface Reader {
  readonly [CONNECTION]: Connection;
}

/** One change under way. It is a reader too, so that a read inside a change sees the change. */
export interface Unit extends Reader {
  /** The one time of this change, in epoch milliseconds. */
  readonly now: number;
  readonly actor: Actor;
  /** Tells those who wait for a topic, once the change is durable; never when it is rolled back. */
  tell<Message>(topic: Topic<Message>, message: Message): void;
}

/** Who makes a change. */
export interface Author extends Actor {
  /**
   * Judges the author again as the first thing of the change, which may have waited for its turn: whoever was banned, signed
   * out or lost a role meanwhile changes nothing any more. Throws where they may not.
   */
  confirm?: (reader: Reader) => Promise<void>;
}

/** A kind of news that a change can have for others in this process, such as "mail was queued". */
export interface Topic<Message> {
  readonly name: string;
  /** Carries the type only. */
  readonly message?: Message;
}

/** Topics are told apart by identity: the name is for people. */
export function topic<Message>(name: string): Topic<Message> {
  return { name };
}

/** The data of one instance, whatever engine holds it. */
export interface Database {
  readonly engine: 'sqlite';
  /** For reads outside a change. Never waits for a change under way. */
  readonly reader: Reader;
  /**
   * The one way to change data: `work` and everything it wrote are committed together, or rolled back when it throws.
   * Changes run one after the other, in the order of the calls; the promise resolves when the change is durable.
   *
   * `work` touches nothing but its unit and values worked out before: an engine may run it again. It awaits every store
   * function it calls, and nothing else: hashing, fetching and a further `write` belong before or after.
   *
   * @throws {AppError} unavailable where the database cannot take writes for now.
   */
  write<Result>(author: Author, work: (unit: Unit) => Promise<Result>): Promise<Result>;
  /** Adds a listener that is given all of a change's messages on the topic, once it is durable; it must not throw. */
  onCommit<Message>(topic: Topic<Message>, listener: (messages: readonly Message[]) => void): void;
  /** What the engine has to say of itself, for health checks and figures. */
  status(): DatabaseStatus;
  /** What it counts of its work since it was opened. */
  readonly figures: DatabaseFigures;
  /** Looks at what it takes of its disk. */
  measure(): Promise<DatabaseSize>;
  /** Keeps the log short, off the loop, and probes a disk that refuses changes; to be called every second or so. */
  maintain(): Promise<void>;
  /** Probes the disk now where it refuses changes. `status` knows the outcome when this resolves. */
  tryAgain(): Promise<void>;
  /** Checks the whole file in another thread. @returns problems in SQLite's words; `status().damage` keeps them. */
  check(): Promise<readonly string[]>;
  /** Ends by the deadline, closed in order or not: the next start recovers the rest from the log. */
  close(deadline?: Deadline): Promise<void>;
}

/** What a database takes of its disk. */
export interface DatabaseSize {
  /** Without the log. */
  readonly bytes: number;
  /** Of these, pages that deletions have freed: later rows fill them, and the file does not shrink by itself. */
  readonly reusableBytes: number;
  /** Left on the disk for it; null where that cannot be told. */
  readonly freeBytes: number | null;
}

/** What an engine says of itself. */
export interface DatabaseStatus {
  /** Changes that wait for their turn. */
  readonly queued: number;
  /** Bytes of log not yet folded into the database. */
  readonly logBytes: number;
  /** Why no change is taken now, as callers are told; null while they are taken. */
  readonly trouble: DatabaseTrouble | null;
  /** Damage that was found in the file or its log since the start, in a sentence. */
  readonly damage: string | null;
}

export type { Loss };

export type DatabaseTrouble = Loss | 'disk_refuses_writes' | 'database_not_writable';
