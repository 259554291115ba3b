/** Texts and API calls of roles, scopes and groups. */
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';

export type GrantKind = 'roles' | 'scopes' | 'groups';

export const GRANT_WORDS = {
  roles: {
    title: 'Roles',
    one: 'role',
    lead: 'What people are in this application. A backend reads their slugs in every verification.',
    add: 'Create role',
    emptyTitle: 'No roles yet',
    emptyLead:
      'A role such as “editor” says what somebody is. Give it to people one by one, by import, or to everybody new.',
    parameter: 'role',
  },
  scopes: {
    title: 'Scopes',
    one: 'scope',
    lead: 'What people and keys may do, as finely as your backend asks.',
    add: 'Create scope',
    emptyTitle: 'No scopes yet',
    emptyLead:
      'A scope such as “orders:write” names one thing that may be done. Backends find it in every verification.',
    parameter: null,
  },
  groups: {
    title: 'Groups',
    one: 'group',
    lead: 'Whom people belong to: teams, plans, cohorts.',
    add: 'Create group',
    emptyTitle: 'No groups yet',
    emptyLead: 'A group such as “berlin-office” keeps people together. Backends find its slug under “memberships”.',
    parameter: 'membership',
  },
} as const;

type Grant = Schemas['Grant'];

interface GrantCalls {
  list(cursor: string | undefined): Promise<Outcome<Page<Grant>>>;
  create(input: Schemas['GrantInput']): Promise<Outcome<Grant>>;
  update(id: string, patch: Schemas['GrantPatch'], force: boolean): Promise<Outcome<unknown>>;
  remove(id: string, force: boolean): Promise<Outcome<unknown>>;
}

const LIMIT = 100;

/** The three kinds have separate paths with the same shapes. */
export function grantCalls(kind: GrantKind, application: string): GrantCalls {
  const path = { id: application };
  switch (kind) {
    case 'roles':
      return {
        list: (cursor) =>
          ask(api.GET('/api/applications/{id}/roles', { params: { path, query: { cursor, limit: LIMIT } } })),
        create: (body) => ask(api.POST('/api/applications/{id}/roles', { params: { path }, body })),
        update: (roleId, body, force) =>
          ask(
            api.PATCH('/api/applications/{id}/roles/{roleId}', {
              params: { path: { ...path, roleId }, query: { force } },
              body,
            }),
          ),
        remove: (roleId, force) =>
          ask(
            api.DELETE('/api/applications/{id}/roles/{roleId}', {
              params: { path: { ...path, roleId }, query: { force } },
            }),
          ),
      };
    case 'scopes':
      return {
        list: (cursor) =>
          ask(api.GET('/api/applications/{id}/scopes', { params: { path, query: { cursor, limit: LIMIT } } })),
        create: (body) => ask(api.POST('/api/applications/{id}/scopes', { params: { path }, body })),
        update: (scopeId, body, force) =>
          ask(
            api.PATCH('/api/applications/{id}/scopes/{scopeId}', {
              params: { path: { ...path, scopeId }, query: { force } },
              body,
            }),
          ),
        remove: (scopeId, force) =>
          ask(
            api.DELETE('/api/applications/{id}/scopes/{scopeId}', {
              params: { path: { ...path, scopeId }, query: { force } },
            }),
          ),
      };
    case 'groups':
      return {
        list: (cursor) =>
          ask(api.GET('/api/applications/{id}/memberships', { params: { path, query: { cursor, limit: LIMIT } } })),
        create: (body) => ask(api.POST('/api/applications/{id}/memberships', { params: { path }, body })),
        update: (membershipId, body, force) =>
          ask(
            api.PATCH('/api/applications/{id}/memberships/{membershipId}', {
              params: { path: { ...path, membershipId }, query: { force } },
              body,
            }),
          ),
        remove: (membershipId, force) =>
          ask(
            api.DELETE('/api/applications/{id}/memberships/{membershipId}', {
              params: { path: { ...path, membershipId }, query: { force } },
            }),
          ),
      };
  }
}
