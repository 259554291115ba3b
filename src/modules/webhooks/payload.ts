/** Builds a delivery's body from the event's row: the same bytes at every attempt and in the delivery's record. */
import { isoTime } from '../../core/clock.ts';
import type { StoredEvent } from '../../store/events.ts';

/** Returns exactly the text that is signed. */
export function deliveryBody({ id, type, createdAt, applicationId, data }: StoredEvent): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), applicationId });
  return `${head.slice(0, -1)},"data":${data}}`;
}
