/** Loads an application's roles, scopes and groups for assignment. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Outcome, Schemas } from '../../api.ts';
import { useReport } from '../../components/action.tsx';
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
  return useLoaded<Access>(() => loadAccess(applicationId), [applicationId]);
}

async function loadAccess(applicationId: string): Promise<Outcome<Access>> {
  const lists = await Promise.all(
    HELD_KINDS.map(({ list }) => allOf(grantCalls(list, applicationId).list, MAX_OF_KIND)),
  );
  const failed = lists.find((list) => !list.ok);
  if (failed && !failed.ok) return failed;
  const [roles = [], scopes = [], memberships = []] = lists.map((list) => (list.ok ? list.data : []));
  return { ok: true, data: { roles, scopes, memberships } };
}

export interface LazyAccess {
  /** Null until it has loaded. */
  readonly data: Access | null;
  /** Loads it, once. A failure is shown, and the next call tries again. */
  need(): void;
}

/** Loads the lists when something first needs them, since most visits of a view do not. */
export function useLazyAccess(applicationId: string, isNeeded: boolean): LazyAccess {
  const report = useReport();
  const [loaded, setLoaded] = useState<{ readonly of: string; readonly access: Access } | null>(null);
  const asked = useRef<string | null>(null);
  async function load(): Promise<void> {
    if (asked.current === applicationId) return;
    asked.current = applicationId;
    const outcome = await loadAccess(applicationId);
    // Another application was opened meanwhile.
    if (asked.current !== applicationId) return;
    if (report(outcome)) setLoaded({ of: applicationId, access: outcome.data });
    else asked.current = null;
  }
  useEffect(() => {
    if (isNeeded) void load();
  }, [applicationId, isNeeded]);
  return { data: loaded?.of === applicationId ? loaded.access : null, need: () => void load() };
}

/** Choices of a filter; includes the selected slug even while they load. */
export function grantChoices(grants: readonly Schemas['Grant'][] | undefined, chosen: string | undefined) {
  const known = (grants ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
  if (chosen === undefined || known.some(({ value }) => value === chosen)) return known;
  return [...known, { value: chosen, label: chosen }];
}
