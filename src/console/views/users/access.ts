/** The roles, scopes and groups that an application has, for whoever gives them. */
import type { Outcome, Schemas } from '../../api.ts';
import { type Loaded, useLoaded } from '../../data.ts';
import { type GrantKind, grantCalls } from '../grants/kinds.ts';

/** As users hold them, in the API's names. */
export type HeldKind = 'roles' | 'scopes' | 'memberships';

export const HELD_KINDS: readonly { readonly kind: HeldKind; readonly list: GrantKind; readonly title: string }[] = [
  { kind: 'roles', list: 'roles', title: 'Roles' },
  { kind: 'scopes', list: 'scopes', title: 'Scopes' },
  { kind: 'memberships', list: 'groups', title: 'Groups' },
];

export type Access = Record<HeldKind, readonly Schemas['Grant'][]>;

/** More of a kind cannot be chosen from with checkboxes. */
const MAX_PAGES = 5;

/** All that can be given. */
export function useAccess(applicationId: string): Loaded<Access> {
  return useLoaded<Access>(async () => {
    const lists = await Promise.all(HELD_KINDS.map(({ list }) => listAll(list, applicationId)));
    const failed = lists.find((list) => !list.ok);
    if (failed && !failed.ok) return failed;
    const [roles = [], scopes = [], memberships = []] = lists.map((list) => (list.ok ? list.data : []));
    return { ok: true, data: { roles, scopes, memberships } };
  }, [applicationId]);
}

async function listAll(kind: GrantKind, applicationId: string): Promise<Outcome<Schemas['Grant'][]>> {
  const { list } = grantCalls(kind, applicationId);
  const all: Schemas['Grant'][] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const outcome = await list(cursor);
    if (!outcome.ok) return outcome;
    all.push(...outcome.data.items);
    if (outcome.data.nextCursor === null) break;
    cursor = outcome.data.nextCursor;
  }
  return { ok: true, data: all };
}
