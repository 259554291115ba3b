/** Paths of the console's views, and filters stored in the address. */
import { useLocation, useParams, useSearch } from 'wouter-preact';

/** Relative to `/console`, the router's base. */
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
 * Keeps filters in the address, so that views can be linked to and going back works. Typing replaces the history entry,
 * choosing adds one. @returns the set filters, and a function that changes some; undefined or '' removes one.
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

/** Keeps the current filters when a detail opens next to a list. */
export function withSearch(path: string, search: string): string {
  return search ? `${path}?${search}` : path;
}

/** Returns the path segments after the section: the id of the open record, and its sub-page. */
export function useOpen(): readonly (string | undefined)[] {
  const rest = useParams()['*'] ?? '';
  return rest
    .split('/')
    .slice(1)
    .map((part) => decoded(part) || undefined);
}

/** Decodes a segment; returns it unchanged if malformed, because an address can be typed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
