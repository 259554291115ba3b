/** The event outbox: rows written in the change they report. `events/emit.ts` decides who gets them. */
import { newId } from '../core/id.ts';
import type { DomainEvent } from '../core/event.ts';
import { required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** Published for each event, in order. */
export const EVENT_EMITTED = topic<DomainEvent>('event emitted');

const insertRow = rawChange<[string, string, string, string, number]>(
  'INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, ?, ?, ?)',
);

export async function insertEvent(
  unit: Unit,
  { type, applicationId, data }: { readonly type: string; readonly applicationId: string; readonly data: object },
): Promise<string> {
  const id = newId('event', unit.now);
  await insertRow(unit, id, applicationId, type, JSON.stringify(data), unit.now);
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

const eventById = raw<StoredEvent, [string]>(
  'SELECT id, application_id AS "applicationId", type, data, created_at AS "createdAt" FROM events WHERE id = ?',
);

/** Returns an event that a delivery refers to. @throws if it is missing. */
export async function requireEvent(reader: Reader, id: string): Promise<StoredEvent> {
  const [event] = await eventById(reader, id);
  return required(event, `event ${id}`);
}

const eventsAfter = raw<StoredEvent, [string, string, number]>(
  `SELECT id, application_id AS "applicationId", type, data, created_at AS "createdAt" FROM events
   WHERE application_id = ? AND id > ? ORDER BY id LIMIT ?`,
);

/** Returns an application's events after an id, in order. */
export function listEventsAfter(
  reader: Reader,
  applicationId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredEvent[]> {
  return eventsAfter(reader, applicationId, after, limit);
}

const newestEvent = raw<{ id: string }, [string]>(
  'SELECT id FROM events WHERE application_id = ? ORDER BY id DESC LIMIT 1',
);

/** Returns the id of an application's newest event; empty if there is none. */
export async function findNewestEventId(reader: Reader, applicationId: string): Promise<string> {
  return (await newestEvent(reader, applicationId))[0]?.id ?? '';
}
