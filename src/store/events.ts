/** The event outbox: rows written in the change they report. Who wants one is the emission's affair (`events/emit.ts`). */
import { newId } from '../core/id.ts';
import type { DomainEvent } from '../core/event.ts';
import { required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** Events were emitted, in this order. */
export const EVENT_EMITTED = topic<DomainEvent>('event emitted');

const insertRow = rawChange<[string, string, string, string, number]>(
  'INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, ?, ?, ?)',
);

/** @returns the new event's id. */
export async function insertEvent(
  unit: Unit,
  { type, applicationId, data }: { readonly type: string; readonly applicationId: string; readonly data: object },
): Promise<string> {
  const id = newId('event', unit.now);
  await insertRow(unit, id, applicationId, type, JSON.stringify(data), unit.now);
  return id;
}

/** An event as deliveries carry it. */
export interface StoredEvent {
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  /** JSON text, as stored: the same bytes each time. */
  readonly data: string;
  readonly createdAt: number;
}

const eventById = raw<StoredEvent, [string]>(
  'SELECT id, application_id AS applicationId, type, data, created_at AS createdAt FROM events WHERE id = ?',
);

/** Of an event that a delivery carries. */
export async function requireEvent(reader: Reader, id: string): Promise<StoredEvent> {
  const [event] = await eventById(reader, id);
  return required(event, `event ${id}`);
}
