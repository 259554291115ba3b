/** Searches the users of an application as the list and the palette do. */
import { api, ask, type Outcome, type Page, type Schemas } from './api.ts';
import type { operations } from './generated/api.ts';

type Query = NonNullable<operations['listUsers']['parameters']['query']>;

const EXTERNAL_ID = /^[!-~]{1,128}$/;

/** Returns a page of the users who match. A search that finds nobody is tried as an external id. */
export async function findUsers(id: string, query: Query): Promise<Outcome<Page<Schemas['UserEntry']>>> {
  const found = await ask(api.GET('/api/applications/{id}/users', { params: { path: { id }, query } }));
  const { q, include, status, role, membership, cursor } = query;
  if (!found.ok || found.data.items.length > 0 || cursor !== undefined) return found;
  if (status ?? role ?? membership ?? !EXTERNAL_ID.test(q ?? '')) return found;
  const byExternalId = { externalId: q, include };
  const known = await ask(api.GET('/api/applications/{id}/users', { params: { path: { id }, query: byExternalId } }));
  return known.ok ? known : found;
}
