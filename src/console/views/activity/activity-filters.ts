/** Activity filters: parsed from the address, converted for the API, and matched against live records. */
import type { Filters } from '../../address.ts';
import type { AuthEvent } from './kinds.ts';

export const ACTIVITY_FILTERS = ['status', 'family', 'country', 'q', 'userId', 'from', 'to'] as const;

type ActivityFilters = Filters<(typeof ACTIVITY_FILTERS)[number]>;

export interface ActivityQuery {
  readonly status?: 'ok' | 'error';
  readonly family?: string;
  readonly country?: string;
  readonly q?: string;
  readonly userId?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Omits values that the API does not accept. */
export function queryOf({ status, family, country, q, userId, from, to }: ActivityFilters): ActivityQuery {
  return {
    ...((status === 'ok' || status === 'error') && { status }),
    ...(family && /^[a-z._]{1,50}$/.test(family) && { family }),
    ...(country && /^[A-Za-z]{2}$/.test(country) && { country: country.toUpperCase() }),
    ...(q && { q }),
    ...(userId && { userId }),
    ...timeRange('from', startOf(from, 0)),
    ...timeRange('to', startOf(to, 1)),
  };
}

const timeRange = (name: 'from' | 'to', time: string | null) => time !== null && { [name]: time };

/** Converts a day to local midnight, shifted by `daysLater` to include a last day. Keeps full timestamps. */
function startOf(text: string | undefined, daysLater: number): string | null {
  if (!text) return null;
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(year, month - 1, day + daysLater) : new Date(text);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Matches a record as the server does. */
export function isWithin(event: AuthEvent, query: ActivityQuery): boolean {
  const { status, family, country, q, userId, from, to } = query;
  return (
    (status === undefined || event.ok === (status === 'ok')) &&
    (family === undefined || event.kind.startsWith(family)) &&
    (country === undefined || event.ipCountry === country) &&
    (q === undefined || (event.email?.toLowerCase().includes(q.toLowerCase()) ?? false)) &&
    (userId === undefined || event.userId === userId) &&
    (from === undefined || event.createdAt >= from) &&
    (to === undefined || event.createdAt < to)
  );
}
