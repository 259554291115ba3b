/** The event outbox: rows written in the change they report. `events/emit.ts` decides who gets them. */
import { newId } from '../core/id.ts';
import type { DomainEvent } from '../core/event.ts';
import { required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { change, query } from '../db/statements.ts';

/** Published for each event, in order. */
export const EVENT_EMITTED = topic<DomainEvent>('event emitted');

const insertRow = change<{ id: string; applicationId: string; type: string; data: object }>(
  'INSERT INTO events (id, application_id, type, data, created_at) VALUES (:id, :applicationId, :type, :data, :now)',
);

export async function insertEvent(
  unit: Unit,
  event: { readonly type: string; readonly applicationId: string; readonly data: object },
): Promise<string> {
  const id = newId('event', unit.now);
  await insertRow(unit, { id, ...event });
  return id;
}

export interface StoredEvent {
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  /** JSON text as stored: every attempt sends the same bytes. */
  readonly data: string;
  readonly createdAt: number;
}

const eventById = query.row<StoredEvent, string>(
  'SELECT id, application_id AS "applicationId", type, data, created_at AS "createdAt" FROM events WHERE id = :id',
);

/** Returns an event that a delivery refers to. @throws if it is missing. */
export async function requireEvent(reader: Reader, id: string): Promise<StoredEvent> {
  return required(await eventById(reader, id), `event ${id}`);
}

/** Returns an application's events after an id, in order. */
export const listEventsAfter = query.rows<StoredEvent, { applicationId: string; after: string; limit: number }>(
  `SELECT id, application_id AS "applicationId", type, data, created_at AS "createdAt" FROM events
   WHERE application_id = :applicationId AND id > :after ORDER BY id LIMIT :limit`,
);

const newestEvent = query.value<string, string>(
  'SELECT id FROM events WHERE application_id = :applicationId ORDER BY id DESC LIMIT 1',
);

/** Returns the id of an application's newest event; empty if there is none. */
export async function findNewestEventId(reader: Reader, applicationId: string): Promise<string> {
  return (await newestEvent(reader, applicationId)) ?? '';
}
