/** Calls that concern all users whom the filters of the list match. */
import type { Filters } from '../../address.ts';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import type { GrantsChange } from './changes.ts';
import { STATUS_FILTERS, type UserAction, type UserStatusFilter } from './statuses.ts';

export type BulkChange = Schemas['BulkChangeDetail'];

export interface Matching {
  readonly q?: string | undefined;
  readonly status?: UserStatusFilter | undefined;
  readonly role?: string | undefined;
  readonly membership?: string | undefined;
}

/** Returns the filters of the address without unknown values. */
export function matchingOf({ q, status, role, membership }: Filters<'q' | 'status' | 'role' | 'membership'>): Matching {
  const known = status !== undefined && status in STATUS_FILTERS ? (status as UserStatusFilter) : undefined;
  return { q, status: known, role, membership };
}

/** Counts in several calls if there are very many. @param onProgress gets the count so far. */
export async function countMatching(
  id: string,
  matching: Matching,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<Outcome<number>> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const outcome: Outcome<Schemas['UserCount']> = await ask(
      api.GET('/api/applications/{id}/user-count', {
        params: { path: { id }, query: { ...matching, cursor } },
        signal,
      }),
    );
    if (!outcome.ok) return outcome;
    count += outcome.data.count;
    cursor = outcome.data.nextCursor ?? undefined;
    onProgress(count);
  } while (cursor !== undefined && !signal.aborted);
  return { ok: true, data: count };
}

export type Wanted = { readonly action: UserAction; readonly reason?: string } | GrantsChange;

export const startBulkChange = (id: string, filter: Matching, wanted: Wanted): Promise<Outcome<BulkChange>> =>
  ask(api.POST('/api/applications/{id}/bulk-changes', { params: { path: { id } }, body: { filter, ...wanted } }));

const one = (id: string, changeId: string) => ({ params: { path: { id, changeId } } });

export const readBulkChange = (id: string, changeId: string): Promise<Outcome<BulkChange>> =>
  ask(api.GET('/api/applications/{id}/bulk-changes/{changeId}', one(id, changeId)));

export const stopBulkChange = (id: string, changeId: string): Promise<Outcome<BulkChange>> =>
  ask(api.POST('/api/applications/{id}/bulk-changes/{changeId}/stop', one(id, changeId)));

export const undoBulkChange = (id: string, changeId: string): Promise<Outcome<BulkChange>> =>
  ask(api.POST('/api/applications/{id}/bulk-changes/{changeId}/undo', one(id, changeId)));

/** Returns the newest bulk change with its details, if there is one. */
export async function newestBulkChange(id: string): Promise<Outcome<BulkChange | null>> {
  const list = await ask(
    api.GET('/api/applications/{id}/bulk-changes', { params: { path: { id }, query: { limit: 1 } } }),
  );
  if (!list.ok) return list;
  const [newest] = list.data.items;
  return newest ? readBulkChange(id, newest.id) : { ok: true, data: null };
}
