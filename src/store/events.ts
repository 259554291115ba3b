/** The event outbox: rows written in the change they report. `events/emit.ts` decides who gets them. */
import { newId } from '../core/id.ts';
import type { DomainEvent } from '../core/event.ts';
import { required } from '../core/required.ts';
import { type Reader, topic, topicForAll, type Unit } from '../db/database.ts';
import { pipelinedChange, query } from '../db/statements.ts';

/** Published for each event, in order. */
export const EVENT_EMITTED = topic<DomainEvent>('event emitted');

/** Notice of an event for open streams, without personal data. */
export interface EventNotice {
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly reason: string | null;
}

/** Published for each event, on every instance. */
export const EVENT_NOTICED = topicForAll<EventNotice>('event');

const insertRow = pipelinedChange<{ id: string; applicationId: string; type: string; data: object }>(
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

const COLUMNS = 'id, application_id AS "applicationId", type, data, created_at AS "createdAt"';

const eventById = query.row<StoredEvent, string>(`SELECT ${COLUMNS} FROM events WHERE id = :id`);

/** Returns an event that a delivery refers to. @throws if it is missing. */
export async function requireEvent(reader: Reader, id: string): Promise<StoredEvent> {
  return required(await eventById(reader, id), `event ${id}`);
}

interface EventsAfter {
  readonly applicationId: string;
  readonly after: string;
  readonly limit: number;
}

/** Returns an application's events after an id, in order. */
export const listEventsAfter = query.rows<StoredEvent, EventsAfter>(
  `SELECT ${COLUMNS} FROM events WHERE application_id = :applicationId AND id > :after ORDER BY id LIMIT :limit`,
);

/** Returns events by id, in order. */
export const findEvents = query.rows<StoredEvent, { ids: readonly string[] }>(
  ({ idList }) => `SELECT ${COLUMNS} FROM events WHERE id IN ${idList(':ids')} ORDER BY id`,
);

/** Returns the newest ids of an application's events after an id. */
export const listEventIdsAfter = query.values<string, EventsAfter>(
  'SELECT id FROM events WHERE application_id = :applicationId AND id > :after ORDER BY id DESC LIMIT :limit',
);

/** Returns the newest notices of applications' events after an id, newest first. */
export const listEventNotices = query.rows<
  EventNotice,
  { applicationIds: readonly string[]; after: string; limit: number }
>(
  ({
    idList,
    jsonText,
  }) => `SELECT id, application_id AS "applicationId", type, ${jsonText('data', 'userId')} AS "userId",
     ${jsonText('data', 'sessionId')} AS "sessionId", ${jsonText('data', 'reason')} AS reason
   FROM events WHERE application_id IN ${idList(':applicationIds')} AND id > :after ORDER BY id DESC LIMIT :limit`,
);

const newestEvent = query.value<string, string>(
  'SELECT id FROM events WHERE application_id = :applicationId ORDER BY id DESC LIMIT 1',
);

/** Returns the id of an application's newest event; empty if there is none. */
export async function findNewestEventId(reader: Reader, applicationId: string): Promise<string> {
  return (await newestEvent(reader, applicationId)) ?? '';
}
