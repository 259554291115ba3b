/** Texts and API calls of roles, scopes and groups. */
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';

export type GrantKind = 'roles' | 'scopes' | 'groups';

export const GRANT_WORDS = {
  roles: {
    title: 'Roles',
    collection: 'roles',
    one: 'role',
    lead: 'What people are in this application. A backend reads their slugs in every verification.',
    add: 'Create role',
    change: 'Edit role',
    emptyTitle: 'No roles yet',
    emptyLead:
      'A role such as “editor” says what somebody is. Give it to people one by one, by import, or to every new user.',
    parameter: 'role',
  },
  scopes: {
    title: 'Scopes',
    collection: 'scopes',
    one: 'scope',
    lead: 'What people and keys may do, as fine-grained as your backend needs.',
    add: 'Create scope',
    change: 'Edit scope',
    emptyTitle: 'No scopes yet',
    emptyLead:
      'A scope such as “orders:write” names one thing that may be done. Backends find it in every verification.',
    parameter: null,
  },
  groups: {
    title: 'Groups',
    collection: 'memberships',
    one: 'group',
    lead: 'What people belong to: teams, plans, cohorts.',
    add: 'Create group',
    change: 'Edit group',
    emptyTitle: 'No groups yet',
    emptyLead: 'A group such as “berlin-office” keeps people together. Backends find its slug under “memberships”.',
    parameter: 'membership',
  },
} as const;

type Grant = Schemas['Grant'];

interface GrantCalls {
  list(cursor: string | undefined): Promise<Outcome<Page<Grant>>>;
  /** Lists with the number of people of each. */
  listCounted(cursor: string | undefined): Promise<Outcome<Page<Grant>>>;
  create(input: Schemas['GrantInput']): Promise<Outcome<Grant>>;
  update(id: string, patch: Schemas['GrantPatch'], force: boolean): Promise<Outcome<Grant>>;
  remove(id: string, force: boolean): Promise<Outcome<unknown>>;
}

const LIMIT = 100;

/** The three kinds have separate paths with the same shapes. */
export function grantCalls(kind: GrantKind, application: string): GrantCalls {
  const { collection } = GRANT_WORDS[kind];
  const all = `/api/applications/{id}/${collection}` as const;
  // The paths name the id differently. The name is only a placeholder, so one serves for all.
  const one = `/api/applications/{id}/${collection}/{roleId}` as '/api/applications/{id}/roles/{roleId}';
  const path = { id: application };
  const of = (roleId: string, force: boolean) => ({ params: { path: { ...path, roleId }, query: { force } } });
  const list = (cursor: string | undefined, include?: 'people') =>
    ask(api.GET(all, { params: { path, query: { cursor, limit: LIMIT, include } } }));
  return {
    list: (cursor) => list(cursor),
    listCounted: (cursor) => list(cursor, 'people'),
    create: (body) => ask(api.POST(all, { params: { path }, body })),
    update: (id, body, force) => ask(api.PATCH(one, { ...of(id, force), body })),
    remove: (id, force) => ask(api.DELETE(one, of(id, force))),
  };
}
