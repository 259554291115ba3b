/** The addresses of the console's views, and the filters that live in them. */
import { useLocation, useParams, useSearch } from 'wouter-preact';

/** Within `/console`, where the router begins. */
export const addresses = {
  home: '/',
  application: (id: string, section: ApplicationSection = 'overview', ...rest: string[]) =>
    `/applications/${[id, section, ...rest].map(encodeURIComponent).join('/')}`,
  workspace: (id: string, section: WorkspaceSection, ...rest: string[]) =>
    `/workspaces/${[id, section, ...rest].map(encodeURIComponent).join('/')}`,
};

export type ApplicationSection =
  | 'overview'
  | 'users'
  | 'import'
  | 'roles'
  | 'scopes'
  | 'groups'
  | 'keys'
  | 'gate'
  | 'webhooks'
  | 'activity'
  | 'settings';

export type WorkspaceSection = 'applications' | 'members' | 'keys' | 'activity' | 'outbox' | 'backups' | 'health';

export type Filters<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/**
 * Filters as the address has them, so that a view can be linked to, and gone back from.
 *
 * @returns those that are set, and a way to change some; undefined or '' takes one away. Typing replaces the entry of the
 * browser's history, choosing adds one.
 */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [Filters<Name>, (change: Filters<Name>, isTyping?: boolean) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const query = new URLSearchParams(search);
  const filters: Partial<Record<Name, string>> = {};
  for (const name of names) filters[name] = query.get(name) ?? undefined;

  function change(changed: Filters<Name>, isTyping = false): void {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries<string | undefined>(changed))
      if (value) next.set(name, value);
      else next.delete(name);
    navigate(next.size > 0 ? `${path}?${next}` : path, { replace: isTyping });
  }

  return [filters, change];
}

/** The same address with the filters it has: for a detail that opens beside a list. */
export function withSearch(path: string, search: string): string {
  return search ? `${path}?${search}` : path;
}

/** What stands behind the section in an address: the record that is open, and what of it. */
export function useOpen(): readonly (string | undefined)[] {
  const rest = useParams()['*'] ?? '';
  return rest
    .split('/')
    .slice(1)
    .map((part) => decoded(part) || undefined);
}

/** As it stands where it is no encoding: an address can be typed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
