/**
 * The one way to change data: a synchronous transaction with one actor and one time, in which the change, its audit
 * records, its events and its mails are written together. Who waits for such rows is woken after the commit.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import type { Actor } from '../core/actor.ts';
import type { AuditEntry } from '../core/audit.ts';
import type { Clock } from '../core/clock.ts';
import type { DomainEvent } from '../core/event.ts';
import { newId } from '../core/id.ts';
import { auditRecords, events, mails } from './schema/records.ts';

export type Orm = BunSQLiteDatabase;

/** A mail to be sent once the transaction has been committed. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The one-time code in it, for the captured-mail view. */
  readonly code: string | null;
  /** Not worth sending after this, in epoch milliseconds. */
  readonly expiresAt: number;
}

/** A query that was built but not run is one as well. */
function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Rows that somebody waits for. */
export type Topic = 'mail' | 'event';

export interface Unit {
  readonly tx: Orm;
  /** The one time of this change. */
  readonly now: number;
  readonly actor: Actor;
  audit(entry: AuditEntry): void;
  emit(event: DomainEvent): void;
  mail(message: OutgoingMail): void;
}

type Synchronous<Result> = Result extends PromiseLike<unknown> ? never : Result;

export interface Database {
  readonly sqlite: SqliteDatabase;
  /** For reads outside a transaction. */
  readonly orm: Orm;
  /**
   * Runs `work` under `BEGIN IMMEDIATE` and commits, or rolls everything back when it throws. Refuses a promise: an
   * asynchronous callback would be committed before it has finished.
   */
  write<Result>(actor: Actor, work: (unit: Unit) => Synchronous<Result>): Result;
  /** Called after a commit that wrote rows of this topic. */
  onCommit(topic: Topic, listener: () => void): void;
  close(): void;
}

export function createDatabase(sqlite: SqliteDatabase, clock: Clock): Database {
  const orm = drizzle({ client: sqlite });
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const commit = sqlite.prepare('COMMIT');
  const rollback = sqlite.prepare('ROLLBACK');
  const listeners: Record<Topic, (() => void)[]> = { mail: [], event: [] };

  function createUnit(actor: Actor, touched: Set<Topic>): Unit {
    const now = clock.now();
    return {
      tx: orm,
      now,
      actor,
      audit(entry) {
        orm
          .insert(auditRecords)
          .values({
            id: newId('audit', now),
            applicationId: entry.applicationId ?? null,
            workspaceId: entry.workspaceId ?? null,
            kind: entry.kind,
            ok: entry.ok ?? true,
            userId: entry.userId ?? null,
            email: entry.email ?? null,
            actorType: actor.type,
            actorUserId: actor.userId,
            actorApiKeyId: actor.apiKeyId,
            targetId: entry.targetId ?? null,
            requestId: actor.requestId,
            ip: actor.ip,
            ipCountry: actor.ipCountry,
            detail: entry.detail ?? null,
            createdAt: now,
          })
          .run();
      },
      emit({ type, applicationId, data }) {
        orm
          .insert(events)
          .values({ id: newId('event', now), applicationId, type, data, createdAt: now })
          .run();
        touched.add('event');
      },
      mail(message) {
        orm
          .insert(mails)
          .values({
            id: newId('mail', now),
            recipient: message.to,
            subject: message.subject,
            text: message.text,
            html: message.html,
            code: message.code,
            status: 'queued',
            attempts: 0,
            nextAttemptAt: now,
            leasedUntil: null,
            expiresAt: message.expiresAt,
            createdAt: now,
          })
          .run();
        touched.add('mail');
      },
    };
  }

  return {
    sqlite,
    orm,
    write(actor, work) {
      if (sqlite.inTransaction) throw new Error('a unit of work cannot be opened inside another');
      const touched = new Set<Topic>();
      begin.run();
      let result;
      try {
        result = work(createUnit(actor, touched));
        if (isThenable(result)) throw new Error('a unit of work must be synchronous');
        commit.run();
      } catch (error) {
        if (sqlite.inTransaction) rollback.run();
        throw error;
      }
      for (const topic of touched) for (const listener of listeners[topic]) listener();
      return result;
    },
    onCommit(topic, listener) {
      listeners[topic].push(listener);
    },
    close() {
      // A clean stop leaves one file: the log is folded into it.
      sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
      sqlite.close();
    },
  };
}
