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
import { auditRecords, mails } from './schema/records.ts';

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

/** Who is told after a commit, and of what. */
export interface CommitListeners {
  /** Mails were queued. */
  mail(): void;
  /** Events were emitted, in this order. */
  events(events: readonly DomainEvent[]): void;
}

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
  /** Adds a listener that is called after each commit that wrote such rows; it must not throw. */
  onCommit<Topic extends keyof CommitListeners>(topic: Topic, listener: CommitListeners[Topic]): void;
  close(): void;
}

export function createDatabase(sqlite: SqliteDatabase, clock: Clock): Database {
  const orm = drizzle({ client: sqlite });
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const commit = sqlite.prepare('COMMIT');
  const rollback = sqlite.prepare('ROLLBACK');
  const listeners: { [Topic in keyof CommitListeners]: CommitListeners[Topic][] } = { mail: [], events: [] };
  const insertEvent = sqlite.prepare(
    'INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const subscribers = sqlite.prepare<{ id: string; events: string; status: string }, [string]>(
    "SELECT id, events, status FROM webhooks WHERE application_id = ? AND status <> 'disabled'",
  );
  const insertDelivery = sqlite.prepare(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, was_held, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?6)`,
  );

  const emailOf = sqlite.prepare<{ email: string }, [string]>(
    "SELECT email FROM users WHERE id = ? AND kind = 'person'",
  );

  /** What a unit has done that others are told of after its commit. */
  interface Outcome {
    hasMail: boolean;
    readonly events: DomainEvent[];
  }

  function createUnit(actor: Actor, outcome: Outcome): Unit {
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
            // Activity is searched by the person's address.
            email: entry.email ?? (entry.userId ? (emailOf.get(entry.userId)?.email ?? null) : null),
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
      emit(event) {
        const { type, applicationId, data } = event;
        const eventId = newId('event', now);
        insertEvent.run(eventId, applicationId, type, JSON.stringify(data), now);
        for (const { id, events, status } of subscribers.all(applicationId)) {
          if (!events.includes('"*"') && !events.includes(`"${type}"`)) continue;
          const isHeld = status === 'quarantined';
          insertDelivery.run(
            newId('delivery', now),
            id,
            eventId,
            type,
            isHeld ? 'held' : 'pending',
            now,
            isHeld ? 1 : 0,
          );
        }
        outcome.events.push(event);
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
        outcome.hasMail = true;
      },
    };
  }

  return {
    sqlite,
    orm,
    write(actor, work) {
      if (sqlite.inTransaction) throw new Error('a unit of work cannot be opened inside another');
      const outcome: Outcome = { hasMail: false, events: [] };
      begin.run();
      let result;
      try {
        result = work(createUnit(actor, outcome));
        if (isThenable(result)) throw new Error('a unit of work must be synchronous');
        commit.run();
      } catch (error) {
        if (sqlite.inTransaction) rollback.run();
        throw error;
      }
      if (outcome.hasMail) for (const listener of listeners.mail) listener();
      if (outcome.events.length > 0) for (const listener of listeners.events) listener(outcome.events);
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
