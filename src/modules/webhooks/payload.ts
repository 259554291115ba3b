/** The body of a delivery, made from the event's row: the same bytes at every attempt and in the delivery's record. */
import { isoTime } from '../../core/clock.ts';

export interface EventRow {
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  /** JSON text, as stored. */
  readonly data: string;
  readonly createdAt: number;
}

export function deliveryBody({ id, type, createdAt, applicationId, data }: EventRow): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), applicationId });
  return `${head.slice(0, -1)},"data":${data}}`;
}
