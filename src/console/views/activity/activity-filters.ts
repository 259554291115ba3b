/** Activity filters: parsed from the address, converted for the API, and matched against live records. */
import type { Filters } from '../../address.ts';
import type { AuthEvent } from './kinds.ts';
import { ID_FILTERS, type IdFilter } from './narrowings.ts';

/** Filters that collapse behind a button where the list is narrow. */
export const COLLAPSING = ['status', 'family', 'country', 'from', 'to'] as const;

export const ACTIVITY_FILTERS = ['q', ...COLLAPSING, ...ID_FILTERS, 'reason'] as const;

type ActivityFilters = Filters<(typeof ACTIVITY_FILTERS)[number]>;

export interface ActivityQuery extends Partial<Readonly<Record<IdFilter, string>>> {
  readonly status?: 'ok' | 'error';
  readonly family?: string;
  readonly country?: string;
  readonly reason?: string;
  readonly q?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Omits values that the API does not accept. */
export function queryOf(filters: ActivityFilters): ActivityQuery {
  const { status, family, country, reason, q, from, to } = filters;
  return {
    ...((status === 'ok' || status === 'error') && { status }),
    ...(family && /^[a-z._]{1,50}$/.test(family) && { family }),
    ...(country && /^[A-Za-z]{2}$/.test(country) && { country: country.toUpperCase() }),
    ...(reason && /^[a-z_]{1,60}$/.test(reason) && { reason }),
    ...(q && { q }),
    ...idsOf(filters),
    ...timeRange('from', startOf(from, 0)),
    ...timeRange('to', startOf(to, 1)),
  };
}

function idsOf(filters: ActivityFilters): Partial<Record<IdFilter, string>> {
  const isSet = (name: IdFilter) => /^[a-z]{2,8}_[0-9A-Za-z]{1,64}$/.test(filters[name] ?? '');
  return Object.fromEntries(ID_FILTERS.filter(isSet).map((name) => [name, filters[name]]));
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
  const { status, family, country, reason, q, from, to } = query;
  return (
    (status === undefined || event.ok === (status === 'ok')) &&
    (family === undefined || event.kind.startsWith(family)) &&
    (country === undefined || event.ipCountry === country) &&
    (reason === undefined || event.detail?.['reason'] === reason) &&
    (q === undefined ||
      event.userId === q.trim() ||
      (event.email?.toLowerCase().includes(q.toLowerCase().replace(/^@(?=.)/, '')) ?? false)) &&
    ID_FILTERS.every((name) => query[name] === undefined || isOfId(event, name, query[name])) &&
    (from === undefined || event.createdAt >= from) &&
    (to === undefined || event.createdAt < to)
  );
}

/** A person as the target is the person that a record is about, as on the server. */
function isOfId(event: AuthEvent, name: IdFilter, id: string): boolean {
  return event[name] === id || (name === 'targetId' && event.userId === id);
}
