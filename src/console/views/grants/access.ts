/** Loads an application's roles, scopes and groups for assignment. */
import type { Schemas } from '../../api.ts';
import { type Loaded, useLoaded } from '../../data.ts';
import { allOf } from '../../read-all.ts';
import { type GrantKind, grantCalls } from './kinds.ts';

/** Property names of a user in the API. */
export type HeldKind = 'roles' | 'scopes' | 'memberships';

export const HELD_KINDS: readonly { readonly kind: HeldKind; readonly list: GrantKind; readonly title: string }[] = [
  { kind: 'roles', list: 'roles', title: 'Roles' },
  { kind: 'scopes', list: 'scopes', title: 'Scopes' },
  { kind: 'memberships', list: 'groups', title: 'Groups' },
];

export type Access = Record<HeldKind, readonly Schemas['Grant'][]>;

/** Maximum per kind that checkboxes can offer. */
const MAX_OF_KIND = 1000;

export function useAccess(applicationId: string): Loaded<Access> {
  return useLoaded<Access>(async () => {
    const lists = await Promise.all(
      HELD_KINDS.map(({ list }) => allOf(grantCalls(list, applicationId).list, MAX_OF_KIND)),
    );
    const failed = lists.find((list) => !list.ok);
    if (failed && !failed.ok) return failed;
    const [roles = [], scopes = [], memberships = []] = lists.map((list) => (list.ok ? list.data : []));
    return { ok: true, data: { roles, scopes, memberships } };
  }, [applicationId]);
}

/** Choices of a filter; includes the selected slug even while they load. */
export function grantChoices(grants: readonly Schemas['Grant'][] | undefined, chosen: string | undefined) {
  const known = (grants ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
  if (chosen === undefined || known.some(({ value }) => value === chosen)) return known;
  return [...known, { value: chosen, label: chosen }];
}
